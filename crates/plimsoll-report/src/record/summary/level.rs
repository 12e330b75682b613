//! One level of `levels`: a rate, or a number of users, held for some time.

use crate::record::bearing::Bearing;
use crate::record::figures::figures;
use crate::record::summary::parts::{ComponentSummary, GroupSummary, Outcomes, StepSummary};
use crate::record::times::{Statistic, TimeStatistics, times};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One level of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelSummary {
    /// Its name in paths of metrics: its rate (`50/s`) or its users (`20 users`).
    pub name: String,
    /// Its number, from 1: the `block` of its rows in the series.
    pub level: u32,
    /// In which turn of the run it was held, from 1: not its number where the experiment says `order: random`.
    #[serde(default)]
    pub turn: Option<u32>,
    /// Virtual users of the closed model; `null` in the open one.
    pub users: Option<u32>,
    /// Measured seconds, without warm-up.
    pub seconds: f64,
    /// Planned arrivals per second; `null` in the closed model.
    pub offered_per_s: Option<f64>,
    /// Throughput: exchanges that were answered within the measured time, per second of it; `null` when nothing was measured.
    pub achieved_per_s: Option<f64>,
    /// Goodput: of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: Option<f64>,
    /// Arrivals in the measured time.
    pub intended: u64,
    /// Arrivals that were started.
    pub sent: u64,
    /// Arrivals that were never started.
    pub dropped: u64,
    /// Exchanges without an outcome at the end.
    pub in_flight: u64,
    /// Exchanges by how they ended.
    pub outcomes: Outcomes,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// `failed` over all exchanges with a result; `null` when there was none.
    pub failed_share: Option<f64>,
    /// How the target bore the rate; `null` in the closed model, which offers none.
    pub bearing: Option<Bearing>,
    /// Intended start to last byte of good answers, and what was given up as lower bounds.
    pub response_time: TimeStatistics,
    /// Response times of what failed otherwise than at its deadline.
    #[serde(default)]
    pub failed_time: TimeStatistics,
    /// First byte sent to last byte received.
    pub service_time: TimeStatistics,
    /// Intended start to release: the generator's own lateness.
    pub pacing_lag: TimeStatistics,
    /// Steps in the scenario's order; without their ranges.
    #[serde(default)]
    pub by_step: IndexMap<String, StepSummary>,
    /// Groups of steps in the scenario's order.
    #[serde(default)]
    pub by_group: IndexMap<String, GroupSummary>,
    /// Resources by component, over the measured time.
    pub components: IndexMap<String, ComponentSummary>,
    /// Figures of the response time that this level cannot carry, because a criterion of validity rules them out.
    pub void_for: Vec<Statistic>,
    /// Sentences that belong beside the figures.
    pub notes: Vec<String>,
}

figures!(LevelSummary {
    seconds: Seconds,
    offered_per_s: PerSecond,
    achieved_per_s: PerSecond,
    good_per_s: PerSecond,
    intended: Count,
    sent: Count,
    in_flight: Count,
    dropped: Count,
    failed: Count,
    failed_share: Share,
});

times!(LevelSummary {
    response_time,
    failed_time,
    service_time,
    pacing_lag,
});
