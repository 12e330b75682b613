//! A drift with time, of loads that are held at one rate each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response times that changed with time while the load stayed the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Which way.
    pub direction: DriftDirection,
    /// Levels whose halves differ by more than chance, ascending; at least one.
    pub levels: Vec<LevelDrift>,
    /// Standard deviations of Mann–Kendall's score over all levels that were looked at, each for itself; positive where times grew.
    pub deviations: f64,
    /// All in words, with what to do.
    pub sentence: String,
}

/// Which way response times drifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftDirection {
    /// They grew: something leaks or fills.
    Slower,
    /// They shrank: something warms up.
    Faster,
}

/// One level of a drift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelDrift {
    /// Its name: `50/s` or `20 users`.
    pub level: String,
    /// The median response time of the first half of its measured time, in seconds.
    pub first_s: f64,
    /// That of the second half.
    pub second_s: f64,
}
