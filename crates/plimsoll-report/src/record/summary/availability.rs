//! Outages of an arm under `availability`: by fault, of a year, and of every trial.

use crate::record::fault_trial::{AvailabilitySettings, Role};
use crate::record::figures::figures;
use crate::record::summary::fault_trial::TrialSummary;
use crate::record::summary::link::Bounds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long callers went without answers when something failed, and what that says of a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AvailabilitySummary {
    /// Definitions that the trials were read by.
    pub settings: AvailabilitySettings,
    /// Faults, in the order of the file; where victims had different roles, each role after all of them together.
    pub faults: Vec<FaultOutages>,
    /// Trials in which nothing was broken.
    pub sham: ShamSummary,
    /// Trials that do not count.
    #[serde(rename = "void")]
    pub void_trials: Vec<VoidTrial>,
    /// Figures of a year; `null` unless the file says of every fault how often it happens.
    pub annual: Option<Annual>,
    /// Sentences that belong beside the figures.
    pub notes: Vec<String>,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<TrialSummary>,
}

/// Outages of one fault over its trials that count.
///
/// An outage is the middle of its interval; one below the resolution of its trial counts as that, never as 0. That of a failed failover, and
/// one that the heal ended, would have lasted longer than it was seen, and counts as that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultOutages {
    /// Its name in paths of metrics: that of its row, with the role of the victims where there are several: `database, leader`.
    pub name: String,
    /// Its name in `settings.faults`.
    pub row: String,
    /// Its kind: `kill`, `freeze`, …
    pub kind: String,
    /// Component, link or host that it breaks; `null` where it is none of them.
    pub target: Option<String>,
    /// The role of the victims; `null` where they had none, or more than one.
    pub role: Option<Role>,
    /// Trials that count.
    pub trials: u32,
    /// Trials that do not.
    #[serde(rename = "void")]
    pub void_trials: u32,
    /// Trials in which callers did not recover in time.
    pub failed_failovers: FailedFailovers,
    /// Trials without one failed exchange between injection and heal.
    pub without_outage: u32,
    /// Trials with an outage below their resolution, those without one included.
    pub below_resolution: u32,
    /// Trials whose outage reached beyond the beginning of the heal: the fault was healed before callers had recovered from it.
    pub reached_into_heal: u32,
    /// Those of them that are no failed failovers: callers may have come back only because the fault was healed. How long it
    /// lasts otherwise is not known, and in a year it is priced as a failed failover.
    pub ended_by_heal: u32,
    /// Lengths of the outages in seconds.
    pub outage: OutageFigures,
    /// Mean of lost-request seconds, failed exchanges over rate, of trials from which callers recovered by themselves; `null` without one.
    pub lost: Option<Estimated>,
    /// Mean share of arrivals that failed during the outages: lost-request seconds over the best single figures of outages; `null` without
    /// an outage.
    pub impact: Option<f64>,
    /// Longest time without a completion in any trial, while there were arrivals.
    pub stall_s: Option<f64>,
    /// Outages that the heal brought by itself.
    pub heal: HealFigures,
    /// The largest resolution of its trials: shorter outages are not told apart from none.
    pub resolution_s: Option<f64>,
    /// The share of the 259.2 s that 99.99 % leaves in 30 days that one such fault uses up, by its mean of lost-request seconds.
    pub budget_share: Option<f64>,
    /// Mean lost-request seconds by the fault and its heal of a client that tries again, as an estimate, of trials from which callers
    /// recovered by themselves; `null` where it was not asked, or without one.
    pub retried_lost_s: Option<f64>,
    /// Those of a client that does not, of the same trials.
    #[serde(default)]
    pub unretried_lost_s: Option<f64>,
    /// Trials with bursts of failures that were taken for one outage, as chance may have torn it apart.
    #[serde(default)]
    pub torn: u32,
    /// Conclusions that these trials allow, each a sentence.
    pub sentences: Vec<String>,
}

figures!(FaultOutages {
    impact: Share,
    stall_s: Seconds,
    resolution_s: Seconds,
    budget_share: Share,
    retried_lost_s: Seconds,
    unretried_lost_s: Seconds,
});

/// Failovers that failed, and the 95 % interval of the chance of one (Clopper and Pearson).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedFailovers {
    /// How many.
    pub count: u64,
    /// Their share of the trials; `null` without any trial.
    pub share: Option<f64>,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

figures!(FailedFailovers {
    count: Count,
    share: Share,
    low: Share,
    high: Share,
});

/// A figure with the ends of its 95 % interval, where there are enough trials for them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimated {
    /// The figure.
    pub value: f64,
    /// Lower end; `null`: too few trials.
    pub low: Option<f64>,
    /// Upper end; `null`: too few trials.
    pub high: Option<f64>,
}

/// Lengths of outages over trials, in seconds; `null` without a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutageFigures {
    /// The median, with an interval by order statistics of lower and upper ends.
    pub p50: Option<Estimated>,
    /// The 95th percentile by nearest rank, with ends by order statistics, each right with 95 % by itself: the upper one from 59 trials on,
    /// by upper ends of outages, and `null` where an outage would have lasted longer than it was seen.
    pub p95: Option<Estimated>,
    /// The longest that any may have lasted: the largest upper end.
    pub max: Option<f64>,
    /// The longest that one lasted at least: the largest lower end.
    #[serde(default)]
    pub max_low: Option<f64>,
    /// The share of all cases that the longest bounds, with 95 % confidence: `0.05^(1/n)`, 95 % of 59 trials; `null` where an outage would
    /// have lasted longer than it was seen.
    pub max_bounds_share: Option<f64>,
    /// The mean, with an interval by bootstrap-t, or Student's t of fewer than eight trials; `null` where an outage would have lasted longer
    /// than it was seen.
    pub mean: Option<Estimated>,
}

figures!(OutageFigures {
    max: Seconds,
    max_low: Seconds,
    max_bounds_share: Share,
});

/// Outages that a heal brought by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealFigures {
    /// Trials with one.
    pub with_outage: u32,
    /// Median of all trials, those without one as 0.
    pub p50_s: Option<f64>,
    /// The longest.
    pub max_s: Option<f64>,
    /// Mean of lost-request seconds over all trials.
    pub lost_s: Option<f64>,
}

/// Trials in which nothing was broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShamSummary {
    /// How many count.
    pub trials: u32,
    /// How many of them had an outage nevertheless.
    pub with_outage: u32,
}

/// A trial that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoidTrial {
    /// Its number.
    pub number: u32,
    /// The row that it was for.
    pub fault: String,
    /// Why, each a sentence.
    pub reasons: Vec<String>,
}

/// Figures of a year, in lost-request seconds: seconds in which nobody was answered, or as many parts of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Annual {
    /// Expected of a year, with what the trials leave open.
    pub expected: ExpectedYear,
    /// Years as chance would have them.
    pub year: Year,
    /// The figure that `Σ median outage · servers · impact · rate` gives, for comparison: it knows no failed failover and no interval.
    pub lerna: ProductFormula,
    /// Trials without a failed failover that would bring the upper end to `within`; `null` where it is not stated, is kept already, or no
    /// number of trials would.
    pub trials_needed: Option<TrialsNeeded>,
    /// Expected seconds with each input at the ends of its interval and all others at their estimates, the widest first.
    pub tornado: Vec<TornadoBar>,
    /// Foundations of these figures, each a sentence.
    pub sentences: Vec<String>,
}

/// Expected seconds of a year. Each end is right with 95 % by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedYear {
    /// By the estimates.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The estimate as a share of the year in service: `1 − value/year`.
    pub availability: f64,
    /// The share in service at the upper end: so much can be claimed.
    pub availability_low: f64,
    /// Parts by fault, in the order of the file.
    pub by_fault: Vec<FaultYear>,
}

figures!(ExpectedYear {
    value: Seconds,
    low: Seconds,
    high: Seconds,
    availability: Share,
    availability_low: Share,
});

/// Part of one fault in the expected seconds of a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultYear {
    /// The fault's row.
    pub name: String,
    /// Faults a year over all servers.
    pub faults_per_year: f64,
    /// Seconds of those from which callers recover.
    pub recovered_s: f64,
    /// Seconds of those that are repaired: failed failovers, and what the heal ended.
    pub repaired_s: f64,
    /// Both, with a lower and an upper end, each right with 95 % by itself.
    pub total: Bounds,
}

/// Years by chance: a compound Poisson process, in each of which what is not known is drawn anew.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Year {
    /// Half of all years lose at most so many seconds.
    pub p50: f64,
    /// 95 of 100 do.
    pub p95: f64,
    /// 99 of 100 do.
    pub p99: f64,
    /// The chance of a year that loses at most `within`; `null` where that is not stated.
    pub within: Option<f64>,
}

figures!(Year {
    p50: Seconds,
    p95: Seconds,
    p99: Seconds,
    within: Share,
});

/// Result of a product of point figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProductFormula {
    /// Seconds a year.
    pub seconds: f64,
    /// As a share of the year in service.
    pub availability: f64,
}

/// Trials still needed, none of which may end in a failed failover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialsNeeded {
    /// More of each fault, so that the upper end of the expected seconds is at most `within`.
    pub of_each: u64,
    /// More of all faults together, if the chance of a failed failover were one and the same for all of them; `null` where one has failed.
    pub pooled: Option<u64>,
}

/// An input, and what the ends of its interval do to the expected seconds of a year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TornadoBar {
    /// The input in words.
    pub input: String,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Expected seconds at its lower end.
    pub low_s: f64,
    /// Expected seconds at its upper end.
    pub high_s: f64,
}
