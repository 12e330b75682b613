//! Conclusions of `summary.json`: the verdict, and the criteria and thresholds that it rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A conclusion with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The conclusion.
    pub result: VerdictResult,
    /// Sentences, the decisive one first.
    pub reasons: Vec<String>,
}

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictResult {
    /// Valid, and every threshold held.
    Passed,
    /// Valid, and a threshold did not hold.
    Failed,
    /// The measurement cannot carry the conclusion that was asked for.
    Invalid,
    /// Valid, but not enough to decide.
    Inconclusive,
    /// There is nothing to conclude from.
    Unknown,
}

impl VerdictResult {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Inconclusive => "inconclusive",
            Self::Unknown => "unknown",
        }
    }
}

/// One criterion of validity, judged on one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidityRow {
    /// The criterion's number; stable across versions.
    pub criterion: u32,
    /// Its subject, in a few words.
    pub name: String,
    /// The arm.
    pub arm: String,
    /// The level of `levels` that it concerns; `null` for the whole arm.
    #[serde(default)]
    pub level: Option<String>,
    /// Its value; `null` without a sample.
    pub value: Option<f64>,
    /// Its limit.
    pub limit: f64,
    /// The unit of both: `share`, `s`, `cores` or `count`.
    pub unit: String,
    /// The side of the limit on which the value must lie.
    #[serde(default)]
    pub sense: Sense,
    /// Whether the criterion holds. It also holds when it reaches no figure, or only ones beyond the p99 or of a part of the service time.
    pub ok: bool,
    /// Its effect on the metrics that it concerns.
    pub effect: Effect,
    /// On which side of the truth these metrics may lie.
    #[serde(default)]
    pub bias: Bias,
    /// The metrics below `arms.<arm>` that the effect concerns; empty: all of the arm.
    pub affects: Vec<String>,
    /// One sentence: what this means, and what to do when it does not hold.
    pub advice: String,
}

impl ValidityRow {
    /// The part that it was judged on: the arm, or one level of it.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.level {
            Some(level) => format!("{} at {level}", self.arm),
            None => self.arm.clone(),
        }
    }
}

/// On which side of the truth a figure may lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// Nobody knows.
    #[default]
    Either,
    /// It may be too large and is not too small: a limit that it keeps is kept.
    TooLarge,
}

/// The side of a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// At least the limit.
    AtLeast,
    /// At most the limit.
    #[default]
    AtMost,
}

/// Effect of a criterion on the metrics that it concerns.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    None,
    /// They are shown with a mark.
    Marked,
    /// Nothing may be concluded from them.
    Invalid,
}

/// One threshold of the experiment and whether it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdOutcome {
    /// The arm.
    pub arm: String,
    /// The metric, a path below `arms.<arm>`.
    pub metric: String,
    /// The value must be below this; `null` when the threshold is the other way.
    pub below: Option<f64>,
    /// The value must be above this; `null` when the threshold is the other way.
    pub above: Option<f64>,
    /// Its value; `null` without a sample.
    pub value: Option<f64>,
    /// Lower end of its interval; `null` for a quantity without one.
    pub low: Option<f64>,
    /// Upper end of its interval; `null` for a quantity without one.
    pub high: Option<f64>,
    /// The window in which it ended the load; `null` when it did not.
    #[serde(default)]
    pub breach: Option<Breach>,
    /// Whether it held.
    pub result: VerdictResult,
    /// One sentence.
    pub reason: String,
}

/// A window in which a threshold did not hold, so that it ended the load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breach {
    /// The length of the window in seconds.
    pub window_s: u32,
    /// Where it ended, in seconds since the run began.
    pub until_s: f64,
    /// The metric's value in it.
    pub value: f64,
}
