//! How a target bore a rate: whether it kept up with it and, where it did not, in which way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a target bore a rate that was offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bearing {
    /// In a word.
    pub manner: Manner,
    /// Exchanges that were answered per second while it was offered: what was sustained in its place where it was not itself.
    pub answered_per_s: f64,
    /// By how many arrivals per second the backlog (under way, and waiting for a connection) grew in the second half.
    pub backlog_growth_per_s: f64,
    /// Of the exchanges that were answered per second, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: f64,
    /// Exchanges that failed or were never started, over all: an arrival that was never started is as many as an iteration makes.
    pub lost_share: f64,
    /// Whether the response times are those of one burst that drains: the mean is half of the longest.
    pub burst: bool,
    /// One sentence.
    pub sentence: String,
}

/// How a target bears a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// It keeps up with it.
    Sustains,
    /// Exchanges that it cannot answer wait: the backlog grows.
    Queues,
    /// Exchanges that it cannot answer are refused, or answered with a failure; the backlog does not grow.
    Sheds,
    /// It answers clearly less than it does at a lower rate.
    Collapses,
}

impl Manner {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sustains => "sustains",
            Self::Queues => "queues",
            Self::Sheds => "sheds",
            Self::Collapses => "collapses",
        }
    }
}
