//! The rows of `series.jsonl`: one per second and arm, one per second and step where an arm has several, one per second and group of steps,
//! one per second and component, one per second of the machine.
//! `t` counts seconds since the run began.

use crate::record::component::server::ServerStatistics;
use crate::record::component::strain::{HostStrain, Strain, without_nulls};
use plimsoll_base::histogram::TimeHistogram;
use serde::{Deserialize, Serialize};

/// One row of any shape; they are told apart by their fields: `step` or `group`, else `arm`, else `component`, else `host`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeriesRow {
    /// One second of one step.
    Step(StepRow),
    /// One second of one group.
    Group(GroupRow),
    /// One second of load.
    Load(LoadRow),
    /// One sample of a component.
    Component(ComponentRow),
    /// One sample of the machine.
    Host(HostRow),
}

/// One second of one arm's load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRow {
    /// Start of the second.
    pub t: f64,
    /// The arm.
    pub arm: String,
    /// The block, from 1.
    pub block: u32,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// Arrivals due per second.
    pub offered_per_s: Option<f64>,
    /// Arrivals started per second.
    #[serde(default)]
    pub sent_per_s: f64,
    /// Exchanges started per second, of all steps.
    #[serde(default)]
    pub exchanges_per_s: f64,
    /// Exchanges answered per second.
    pub achieved_per_s: f64,
    /// Of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: f64,
    /// Failed exchanges in the second.
    pub failed: u64,
    /// Arrivals dropped in the second.
    #[serde(default)]
    pub dropped: u64,
    /// Virtual users within an iteration at its end.
    #[serde(default)]
    pub active_users: u64,
    /// Open connections at its end.
    #[serde(default)]
    pub connections: u64,
    /// Connections that were made in it.
    #[serde(default)]
    pub connected: u64,
    /// Kept connections that the target had closed by the time they were needed again in it.
    #[serde(default)]
    pub reconnected: u64,
    /// Exchanges under way at its end.
    pub in_flight: u64,
    /// Released arrivals that waited for a connection at its end.
    pub waiting: u64,
    /// Response times of exchanges that ended in it.
    pub response_time: SecondTimes,
}

/// One second of one step of an arm whose scenario has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// Start of the second.
    pub t: f64,
    /// The arm.
    pub arm: String,
    /// The step.
    pub step: String,
    /// The block, from 1.
    pub block: u32,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// Exchanges started per second.
    pub exchanges_per_s: f64,
    /// Exchanges answered per second.
    pub achieved_per_s: f64,
    /// Of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: f64,
    /// Failed exchanges in the second.
    pub failed: u64,
    /// Exchanges under way at its end.
    pub in_flight: u64,
    /// Response times of exchanges that ended in it.
    pub response_time: SecondTimes,
}

/// One second of one group of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// Start of the second.
    pub t: f64,
    /// The arm.
    pub arm: String,
    /// The group, named with those around it.
    pub group: String,
    /// The block, from 1.
    pub block: u32,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// Passes that ended per second.
    pub passes_per_s: f64,
    /// Of those that ended in the second, the ones in which an exchange failed.
    pub failed: u64,
    /// From the beginning of a pass to its end, of those that ended in it.
    pub duration: SecondTimes,
    /// The response times of a pass's exchanges, added up, of the same.
    pub cumulated_response_time: SecondTimes,
}

/// A second's times in seconds; `None` without a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondTimes {
    /// Smallest.
    #[serde(default)]
    pub min: Option<f64>,
    /// 25th percentile.
    #[serde(default)]
    pub p25: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 75th percentile.
    #[serde(default)]
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    #[serde(default)]
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl SecondTimes {
    /// The figures of a second's histogram.
    #[must_use]
    pub fn of(histogram: &TimeHistogram) -> Self {
        Self {
            min: histogram.min(),
            p25: histogram.quantile(0.25),
            p50: histogram.quantile(0.5),
            p75: histogram.quantile(0.75),
            p90: histogram.quantile(0.9),
            p95: histogram.quantile(0.95),
            p99: histogram.quantile(0.99),
            max: histogram.max(),
        }
    }
}

/// One probe sample of one component; the meaning of the figures is that of [`super::ComponentSample`]. What is absent was not looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentRow {
    /// End of the sample's interval.
    pub t: f64,
    /// The component, or [`super::GENERATOR`].
    pub component: String,
    /// CPU seconds used per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_cores: Option<f64>,
    /// CPU of the busiest thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_thread_cores: Option<f64>,
    /// Seconds per second that threads waited for a CPU.
    pub run_delay: f64,
    /// Resident memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// Open descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fds: Option<u64>,
    /// Threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Resources beside these that may hold others up; absent: not known.
    #[serde(default, serialize_with = "without_nulls")]
    pub strain: Strain,
    /// Its own statistics, if it is a server that has any.
    #[serde(
        default,
        serialize_with = "without_nulls",
        skip_serializing_if = "ServerStatistics::is_empty"
    )]
    pub server: Box<ServerStatistics>,
}

/// One sample of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostRow {
    /// End of the sample's interval.
    pub t: f64,
    /// Resources of the machine that may hold up everybody on it; absent: not known.
    #[serde(serialize_with = "without_nulls")]
    pub host: HostStrain,
}
