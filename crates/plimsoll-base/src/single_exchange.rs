//! The fate of one arrival, for those who keep every single one beside the histograms.

use crate::outcome_class::OutcomeClass;
use crate::reason::Reason;
use serde::{Deserialize, Serialize};

/// One exchange that ended by itself: its times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleExchange {
    /// From the start of the load to its intended start.
    #[serde(rename = "at_us")]
    pub intended_us: u64,
    /// From its intended start to its end.
    #[serde(rename = "took_us")]
    pub response_us: u64,
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
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_first(step: &u32) -> bool {
    *step == 0
}
