//! The shape of `summary.json`: the contract for scripts. Additive within a major version; `null` where there is no sample;
//! times in seconds, rates per second, sizes in bytes.

pub(super) mod arm_summary;
pub(super) mod availability;
pub(super) mod capacity;
pub(super) mod comparison;
pub(super) mod fault_trial;
pub(super) mod level;
pub(super) mod link;
pub(super) mod parts;
pub(super) mod ranges;
pub(super) mod verdict;

use super::manifest::{Host, MethodName};
use crate::record::summary::arm_summary::ArmSummary;
use crate::record::summary::comparison::Comparison;
use crate::record::summary::ranges::Ranges;
use crate::record::summary::verdict::{ThresholdOutcome, ValidityRow, Verdict};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of [`Summary::schema`] in this version.
pub const SUMMARY_SCHEMA: &str = "plimsoll.summary/1";

/// Results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The contract's name and major version.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// How it was run.
    pub method: MethodName,
    /// The conclusion and what it rests on.
    pub verdict: Verdict,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// The machine.
    pub host: Host,
    /// Criteria that had to hold for the figures to be trusted.
    pub validity: Vec<ValidityRow>,
    /// The experiment's thresholds, in its order.
    pub thresholds: Vec<ThresholdOutcome>,
    /// Bounds of the ranges of response times, in seconds.
    #[serde(default)]
    pub range_bounds: Ranges,
    /// How arms were compared; `null` unless the method is `compare`.
    pub comparison: Option<Comparison>,
    /// Arms that were left out, because a program that they need is not on this host.
    #[serde(default)]
    pub absent: Vec<AbsentArm>,
    /// Arms in the experiment's order.
    pub arms: IndexMap<String, ArmSummary>,
}

/// An arm that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentArm {
    /// The arm.
    pub arm: String,
    /// The component that it needs.
    pub component: String,
    /// One sentence: why it is not there.
    pub reason: String,
}
