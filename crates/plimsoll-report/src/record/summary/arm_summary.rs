//! An arm in `summary.json`.

use crate::record::arm::LoadModel;
use crate::record::cause::Bottleneck;
use crate::record::component::strain::HostStrain;
use crate::record::drift::Drift;
use crate::record::fault::{CallerFigures, FaultRow};
use crate::record::figures::figures;
use crate::record::summary::availability::AvailabilitySummary;
use crate::record::summary::capacity::CapacitySummary;
use crate::record::summary::comparison::Added;
use crate::record::summary::level::LevelSummary;
use crate::record::summary::link::{CriticalLink, LinkSummary, UndelayedPeer};
use crate::record::summary::parts::{
    ComponentSummary, FailureSummary, GroupSummary, Outcomes, Reasons, StepSummary,
};
use crate::record::summary::ranges::RangeSummary;
use crate::record::times::{Statistic, TimeStatistics, Times, times};
use indexmap::IndexMap;
use plimsoll_base::tally::CheckCount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Results of one arm over all blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmSummary {
    /// Where its load went.
    pub target: String,
    /// How arrivals came about.
    pub model: LoadModel,
    /// Measured seconds over all blocks, without warm-up.
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
    /// Exchanges without an outcome at the end.
    pub in_flight: u64,
    /// Exchanges by how they ended.
    pub outcomes: Outcomes,
    /// Exchanges that were not answered by why, below their outcome; what did not happen is absent. An outcome's reasons add up to it.
    #[serde(default)]
    pub reasons: Reasons,
    /// Arrivals that were never started.
    pub dropped: u64,
    /// Connections that were made; `null` in records that do not say.
    #[serde(default)]
    pub connected: Option<u64>,
    /// Kept connections that the target had closed by the time they were needed again, and in whose place another was made before
    /// anything was sent; `null` in records that do not say.
    #[serde(default)]
    pub reconnected: Option<u64>,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// `failed` over all exchanges with a result; `null` when there was none.
    pub failed_share: Option<f64>,
    /// The times.
    #[serde(flatten)]
    pub times: Times,
    /// Response times of what failed otherwise than at its deadline: answers whose checks failed, connections that were refused or lost.
    #[serde(default)]
    pub failed_time: TimeStatistics,
    /// Differences of this arm from the baseline; `null` for the baseline and without a comparison.
    pub added: Option<Added>,
    /// Exchanges that passed, by range of their response time.
    #[serde(default)]
    pub ranges: Vec<RangeSummary>,
    /// Results per step of the scenario.
    pub by_step: IndexMap<String, StepSummary>,
    /// Groups of steps, those within others after the name of these: `outer/inner`.
    #[serde(default)]
    pub by_group: IndexMap<String, GroupSummary>,
    /// Failures by step and kind, the most frequent first.
    #[serde(default)]
    pub failures: Vec<FailureSummary>,
    /// Checks by name, over all steps.
    pub checks: BTreeMap<String, CheckCount>,
    /// Resources by component, over this arm's measured time.
    pub components: IndexMap<String, ComponentSummary>,
    /// The machine over this arm's measured time.
    #[serde(default)]
    pub host: HostStrain,
    /// The resource that gives way first; `null` with `compare`, which does not ask, and where it was not seen.
    #[serde(default)]
    pub bottleneck: Option<Bottleneck>,
    /// The figures of each block.
    pub by_block: Vec<BlockSummary>,
    /// The figures of each level, ascending; empty unless the method is `levels`. The arm's own figures are then those of all levels together.
    #[serde(default)]
    pub levels: Vec<LevelSummary>,
    /// How response times of levels changed with time, where they did; `null` too where there is too little to tell by.
    #[serde(default)]
    pub drift: Option<Drift>,
    /// Result of the search; `null` unless the method is `capacity`. The arm's own figures are then those of one trial: the one that stands
    /// for the lower bound.
    #[serde(default)]
    pub capacity: Option<CapacitySummary>,
    /// The links of its target and of those below it, by name; empty unless the method is `sensitivity`. The arm's own figures are then those
    /// without any delay.
    #[serde(default)]
    pub links: Vec<LinkSummary>,
    /// The dependency that callers would gain most without, or why none is named; `null` where callers wait for none.
    #[serde(default)]
    pub critical_link: Option<CriticalLink>,
    /// Whom its components were connected with beside the delayed links; empty unless the method is `sensitivity`.
    #[serde(default)]
    pub undelayed_peers: Vec<UndelayedPeer>,
    /// Outages by fault and what they say of a year; `null` unless the method is `availability`. The arm's own figures are then those of all
    /// trials that count, faults included.
    #[serde(default)]
    pub availability: Option<AvailabilitySummary>,
    /// Faults that happened in its loads.
    #[serde(default)]
    pub faults: Vec<FaultRow>,
    /// Figures of the seconds in which no fault happened; `null` where none was to happen.
    #[serde(default)]
    pub without_faults: Option<CallerFigures>,
    /// Sentences that belong beside the figures.
    pub notes: Vec<String>,
}

figures!(ArmSummary {
    seconds: Seconds,
    offered_per_s: PerSecond,
    achieved_per_s: PerSecond,
    good_per_s: PerSecond,
    intended: Count,
    sent: Count,
    in_flight: Count,
    dropped: Count,
    connected: Count,
    reconnected: Count,
    failed: Count,
    failed_share: Share,
});

times!(ArmSummary { failed_time });

impl ArmSummary {
    /// Response times of each step by its name, where there are several.
    #[must_use]
    pub fn times_by_step(&self) -> IndexMap<String, TimeStatistics> {
        let steps = self.by_step.iter().filter(|_| self.by_step.len() > 1);
        steps
            .map(|(name, step)| (name.clone(), step.response_time))
            .collect()
    }
}

/// One block of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSummary {
    /// The block, from 1.
    pub block: u32,
    /// Exchanges that were answered within the measured time, per second of it.
    pub achieved_per_s: Option<f64>,
    /// Of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: Option<f64>,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// CPU seconds per answered exchange of all components that were looked at, the generator left out.
    #[serde(default)]
    pub cpu_s_per_exchange: Option<f64>,
    /// Response times of the block.
    pub response_time: TimeStatistics,
    /// Figures of this block that enter no difference, because a criterion of validity reaches them.
    #[serde(default)]
    pub void_for: Vec<Statistic>,
}
