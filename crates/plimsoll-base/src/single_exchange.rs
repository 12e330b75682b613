//! The fate of one arrival, for those who keep every single one beside the histograms.

use crate::outcome_class::OutcomeClass;
use crate::reason::Reason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One exchange that ended by itself: its times in microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleExchange {
    /// From the start of the load to its intended start.
    #[serde(rename = "at_us")]
    pub intended_us: u64,
    /// From its intended start to its end.
    #[serde(rename = "took_us")]
    pub response_us: u64,
    /// From its intended start until it was begun: lateness of the generator, and a wait for a free connection.
    #[serde(default)]
    pub late_us: u64,
    /// From its intended start to when its request began to be sent, on a connection that was kept or made by then; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_us: Option<u64>,
    /// How it ended.
    pub class: OutcomeClass,
    /// The status of its answer, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was none, where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The step, by its place in the plan.
    #[serde(default, skip_serializing_if = "is_first")]
    pub step: u32,
    /// Whatever its step takes out of answers, by its names, as far as it was found: at most [`Self::VALUE_BYTES`] of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extracted: BTreeMap<String, String>,
}

impl SingleExchange {
    /// Most bytes of a value that was taken out of an answer; the rest is cut off.
    pub const VALUE_BYTES: usize = 100;

    /// Seconds from the start of the load to its intended start.
    #[must_use]
    pub fn intended_s(&self) -> f64 {
        seconds(self.intended_us)
    }

    /// Seconds from its intended start to its release.
    #[must_use]
    pub fn late_s(&self) -> f64 {
        seconds(self.late_us)
    }

    /// Seconds from its intended start to when its request began to be sent, where it was.
    #[must_use]
    pub fn sent_s(&self) -> Option<f64> {
        self.sent_us.map(seconds)
    }

    /// Seconds from its intended start to its end.
    #[must_use]
    pub fn response_s(&self) -> f64 {
        seconds(self.response_us)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds of a load are far below 2^53"
)]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_first(step: &u32) -> bool {
    *step == 0
}
