//! `method` and `thresholds` as written.

use deserr::Deserr;
use plimsoll_base::document::Scalar;
use schemars::JsonSchema;

/// How the arms are run: exactly one of `measure` and `compare`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Method", deny_unknown_fields)]
pub struct MethodWire {
    /// Every arm once: how does it behave under this load?
    #[deserr(default)]
    pub measure: Option<MeasureWire>,
    /// Randomised blocks, each holding every arm once: which arm is slower, by how much, how sure?
    #[deserr(default)]
    pub compare: Option<CompareWire>,
}

/// `measure` has no fields: write `{}`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Measure", deny_unknown_fields)]
pub struct MeasureWire {}

/// What arms are compared with, and how often.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Compare", deny_unknown_fields)]
pub struct CompareWire {
    /// The arm that others are compared with.
    pub baseline: String,
    /// How many blocks; at least 2. More blocks find smaller differences.
    pub blocks: u32,
}

/// A bound on one metric of one arm: exactly one of `below` and `above`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Threshold", deny_unknown_fields)]
pub struct ThresholdWire {
    /// The arm. Default: the only one.
    #[deserr(default)]
    pub arm: Option<String>,
    /// A path below `arms.<arm>` of `summary.json`, such as `response_time.p99`, `added.p99`, `failed_share`.
    pub metric: String,
    /// The metric must be below this, in its own unit: `1ms`, `0.1%`, `4900/s`, `64MiB`, `10`.
    #[deserr(default)]
    pub below: Option<Scalar>,
    /// The metric must be above this.
    #[deserr(default)]
    pub above: Option<Scalar>,
}
