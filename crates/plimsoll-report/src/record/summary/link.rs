//! Links of an arm under `sensitivity`: what a delay of each costs its callers.

use crate::record::figures::figures;
use crate::record::times::{Statistic, TimeStatistics};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One link of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkSummary {
    /// Its name in paths of metrics: whom it leads to; of several links that lead there, the link itself.
    pub name: String,
    /// The link: `caller -> dependency`.
    pub link: String,
    /// Seconds that response times grow per second of delay.
    pub slope: Slopes,
    /// The slope of each step by itself, by its name; empty where there is one step.
    #[serde(default)]
    pub by_step: IndexMap<String, Slopes>,
    /// Turns per exchange without a delay: bytes of the caller after bytes of the dependency, or first, begin one. `null` where nothing
    /// was exchanged.
    pub turns_per_exchange: Option<f64>,
    /// Mean time without a delay from a turn's last bytes to the dependency's first back.
    pub turn_time_s: Option<f64>,
    /// How the mean goes with the delay.
    pub shape: LinkShape,
    /// The hinge: the delay from which on callers notice more of it; `null` unless the shape is `bends`.
    pub hinge_s: Option<Bounds>,
    /// Slopes to both sides of the hinge; `null` unless the shape is `bends`.
    #[serde(default)]
    pub bend: Option<Bend>,
    /// Whether the slope is another at half the rate: it includes queueing then, and no gain is claimed. `null` where that was not tried.
    pub saturated: Option<bool>,
    /// How much sooner callers would be answered without it, in the mean; `null` where that was not measured, or not to be claimed.
    pub gain: Option<Gain>,
    /// Why the gain is not known, where callers may have one; `null` where it is known, and where callers do not wait for the link.
    #[serde(default)]
    pub why_no_gain: Option<String>,
    /// One sentence: how callers use it.
    pub reading: String,
    /// Response times at each delay, ascending.
    pub delays: Vec<DelayFigures>,
}

figures!(LinkSummary {
    turns_per_exchange: Count,
    turn_time_s: Seconds,
});

/// Slopes of figures of the response time; `null` where there are too few blocks, or too few exchanges for the figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slopes {
    /// Of the mean.
    pub mean: Option<Bounds>,
    /// Of the median.
    pub p50: Option<Bounds>,
    /// Of the 99th percentile.
    pub p99: Option<Bounds>,
}

/// A value and its 95 % interval over blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// The mean over blocks.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Slopes of the mean to both sides of a hinge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bend {
    /// At shorter delays: 0 unless it is told apart from that.
    pub before: f64,
    /// At longer ones.
    pub after: f64,
}

/// How a figure goes with the delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkShape {
    /// Each second of delay costs as much as the one before.
    Straight,
    /// It costs more from some delay on: callers had something else to wait for until then.
    Bends,
    /// It costs less at longer delays: a deadline or a fallback cuts them off.
    Flattens,
    /// Too few blocks, or too much noise, to tell.
    Unclear,
}

/// Time that callers would be answered sooner, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// The mean over blocks.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The value as a share of the mean response time without any delay.
    pub share: Option<f64>,
}

figures!(Gain { share: Share });

/// Response times at one delay of one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayFigures {
    /// The delay.
    pub delay_s: f64,
    /// Mean response time; `null` with fewer than two blocks.
    pub mean_s: Option<Bounds>,
    /// Exchanges of the loads whose mean can be used.
    pub exchanges: u64,
}

/// The dependency that callers would gain most without, if one can be told from the others, or why none is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriticalLink {
    /// Its name; `null` where none is told apart.
    pub name: Option<String>,
    /// One sentence: the answer.
    pub sentence: String,
}

/// A connection of a component with somebody to whom no delayed link leads: nobody looks at what that costs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct UndelayedPeer {
    /// The component.
    pub component: String,
    /// The other end: its address, or the component that it is.
    pub peer: String,
}

/// A row of `delays.jsonl`: one load of one arm, with the delays under which it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DelayRow {
    /// The arm.
    pub arm: String,
    /// The round, from 1.
    pub round: u32,
    /// Links of the arm that were delayed, as `caller -> dependency`, with their delays in seconds; all others were not.
    pub delayed: BTreeMap<String, f64>,
    /// The question that it helps to answer.
    pub purpose: DelayPurpose,
    /// Exchanges with a result.
    pub exchanges: u64,
    /// Of these, failed.
    pub failed: u64,
    /// Response times.
    pub response_time: TimeStatistics,
    /// Those of each step by itself, by its name; empty where there is one step.
    #[serde(default)]
    pub by_step: IndexMap<String, TimeStatistics>,
    /// Figures of them that a criterion of validity reaches.
    pub void_for: Vec<Statistic>,
    /// The links of the arm, as `caller -> dependency`, with what passed on each.
    pub links: BTreeMap<String, LinkTurns>,
    /// Whom its components were connected with beside those links; looked at in loads without delays.
    #[serde(default)]
    pub undelayed_peers: Vec<UndelayedPeer>,
}

/// The question that a load under delays helps to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayPurpose {
    /// The cost of a delay of this link. Without a link: no delay at all, for each of them.
    Slope(Option<String>),
    /// Its cost at half the rate.
    HalfRate(Option<String>),
    /// The gain without this link. Without a link: all are delayed by as much, for each of them.
    Gain(Option<String>),
}

/// Passed on one link during a load, its warm-up included where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinkTurns {
    /// Turns.
    pub turns: u64,
    /// Turns for each exchange of the load.
    pub per_exchange: f64,
    /// Mean time of a turn in seconds, delays left out; `None` without an answered one.
    pub turn_time_s: Option<f64>,
    /// By how much delays were longer than planned in the measured time, in the mean, in seconds; `None` where nothing was delayed.
    #[serde(default)]
    pub late_s: Option<f64>,
}
