//! Faults in `faults.jsonl` and `summary.json`: what was broken, what proves it, and what callers saw meanwhile.

use crate::record::fault_trial::Role;
use crate::record::times::TimeStatistics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fault in one load. Times are in seconds since the run began, as in `series.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// Its name.
    pub name: String,
    /// Its kind: `kill`, `freeze`, …
    pub kind: String,
    /// The component or link that it broke; `null` where it is neither.
    pub target: Option<String>,
    /// The role of that component at its injection; `null` where roles are not told apart.
    #[serde(default)]
    pub role: Option<Role>,
    /// The arm in whose load it happened.
    pub arm: String,
    /// The block, from 1.
    pub block: u32,
    /// When it began to be injected.
    pub injected: f64,
    /// When its effect was proved; `null`: it was not.
    pub proved: Option<f64>,
    /// The proof of its effect, or why there is none.
    pub effect: String,
    /// When it began to be healed.
    pub heal_begun: f64,
    /// When nothing was left of it; `null`: something is.
    pub healed: Option<f64>,
    /// The proof that nothing was left of it, or why there is none.
    pub heal: String,
    /// Figures of the seconds from its injection until it was healed.
    pub callers: CallerFigures,
}

impl FaultRow {
    /// When it was over, as far as it was.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.healed.unwrap_or(self.heal_begun)
    }
}

/// Figures of the callers over a part of a load, in whole seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallerFigures {
    /// Its length.
    pub seconds: f64,
    /// Answers that passed their checks, per second; `null` over no time.
    pub good_per_s: Option<f64>,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// `failed` over all exchanges with a result; `null` when there was none.
    pub failed_share: Option<f64>,
    /// Arrivals that were never started.
    pub dropped: u64,
    /// Response times.
    pub response_time: TimeStatistics,
}
