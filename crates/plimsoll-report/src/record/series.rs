//! The rows of `series.jsonl`: one per second and arm, one per second and component. `t` counts seconds since the run began.

use serde::{Deserialize, Serialize};

/// One row of either shape; they are told apart by their fields (`arm` or `component`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeriesRow {
    /// One second of load.
    Load(LoadRow),
    /// One sample of a component.
    Component(ComponentRow),
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
    /// Exchanges answered per second.
    pub achieved_per_s: f64,
    /// Failed exchanges in the second.
    pub failed: u64,
    /// Exchanges under way at its end.
    pub in_flight: u64,
    /// Released arrivals that waited for a connection at its end.
    pub waiting: u64,
    /// Response times of exchanges that ended in it.
    pub response_time: SecondTimes,
}

/// A second's response times in seconds; `None` without a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondTimes {
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// One probe sample of one component; the meaning of the figures is that of [`super::ComponentSample`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentRow {
    /// End of the sample's interval.
    pub t: f64,
    /// The component, or [`super::GENERATOR`].
    pub component: String,
    /// CPU seconds used per second.
    pub cpu_cores: f64,
    /// CPU of the busiest thread.
    pub busiest_thread_cores: f64,
    /// Seconds per second that threads waited for a CPU.
    pub run_delay: f64,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// Open descriptors.
    pub fds: u64,
    /// Threads.
    pub threads: u64,
}
