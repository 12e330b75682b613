//! A search for capacity: what was asked, every trial, the interval that follows, and what is said of it.

use crate::record::bearing::Bearing;
use crate::record::figures::figures;
use crate::record::summary::parts::ComponentSummary;
use crate::record::times::{Statistic, TimeStatistics};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a search on one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacitySummary {
    /// Objective of each trial.
    pub objective: Objective,
    /// End of the search.
    pub result: CapacityResult,
    /// The highest rate that meets the objective, as far as is known; `null` when none does.
    pub lower_per_s: Option<f64>,
    /// The lowest rate above it that does not; `null` when none was found.
    pub upper_per_s: Option<f64>,
    /// The width that was asked for, as a share of the lower bound.
    pub precision: f64,
    /// The width that was reached: `upper / lower − 1`; `null` without both bounds.
    pub width: Option<f64>,
    /// In what share of searches such an interval holds the truth, from simulated targets of known capacity (`docs/truth.md`); `null`
    /// when a bound rests on fewer trials than it takes.
    pub confidence: Option<f64>,
    /// Why the search ended.
    pub ended_by: SearchEnd,
    /// One sentence: the answer.
    pub sentence: String,
    /// Seconds that the search was allowed.
    pub budget_s: f64,
    /// Seconds that it took.
    pub spent_s: f64,
    /// Share of trial time that may be bad at a rate that still counts as carried.
    pub exceed_ratio: f64,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// The rates that were tried, ascending, each with what follows from all of its trials.
    pub loads: Vec<LoadClass>,
    /// Observations at the lower bound and above it; `null` when the search ended before.
    pub confirmation: Option<Confirmation>,
    /// Change of the capacity when the resource that gave way first was made less; `null` where that was not asked for, or could not be tried.
    #[serde(default)]
    pub intervention: Option<Intervention>,
    /// Where the curve bends, by Kneedle: a drawing aid, never a verdict. `null` where the data do not support it.
    pub knee: Option<Knee>,
    /// The Universal Scalability Law through the trials; `null` where the data do not support it.
    pub scalability: Option<Scalability>,
    /// Sentences that belong beside the figures: why an annotation was refused, what the budget did not allow.
    pub notes: Vec<String>,
}

figures!(CapacitySummary {
    lower_per_s: PerSecond,
    upper_per_s: PerSecond,
});

/// Objective of a trial: each percentile at most its limit, not more than a share of exchanges missed, and the rate sustained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// Limits of the response time.
    pub limits: Vec<Limit>,
    /// Most exchanges that may fail and arrivals that may be dropped, over all arrivals.
    pub errors: f64,
}

/// A limit of one figure of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The figure.
    pub figure: Statistic,
    /// It must be at most this, in seconds.
    pub at_most_s: f64,
}

/// End of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapacityResult {
    /// Both bounds, as close as was asked for.
    Found,
    /// Both bounds, further apart than was asked for.
    Wide,
    /// Every rate that could be offered meets the objective: capacity is at least the lower bound.
    AtLeast,
    /// No rate meets the objective.
    Unmet,
    /// Nothing can be said.
    Unknown,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// The bounds are as close as was asked for, and rest on enough trials.
    Precision,
    /// Its time was used up.
    Budget,
    /// The highest rate that the experiment allows meets the objective.
    HighestRate,
    /// The generator could not offer more and stay valid.
    Generator,
    /// The lowest rate that can be judged does not meet the objective.
    LowestRate,
    /// More trials than any search needs.
    Trials,
    /// The run was told to stop.
    Interrupted,
    /// A component died, or the host failed.
    Failure,
}

/// Purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialPurpose {
    /// To find the bounds.
    Search,
    /// To see the lower bound hold for longer.
    Confirmation,
    /// To see what happens above capacity, and how long recovery takes. No evidence for the bounds.
    Overload,
}

/// Outcome of a trial for its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// The objective was met.
    Good,
    /// It was missed.
    Bad,
    /// The interval of a figure includes its limit: a longer trial decides.
    Straddling,
    /// The generator failed a criterion of validity on which the outcome rests: no evidence.
    Void,
}

impl TrialOutcome {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Straddling => "straddling",
            Self::Void => "void",
        }
    }
}

/// One load point of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Its number within the arm, from 1: the `block` of its rows in the series.
    pub trial: u32,
    /// Its purpose.
    pub purpose: TrialPurpose,
    /// The rate that was offered, iterations per second.
    pub rate_per_s: f64,
    /// Planned measured seconds, without warm-up.
    pub planned_s: f64,
    /// Measured seconds.
    pub seconds: f64,
    /// Seconds that it took with its warm-up and everything around it.
    pub spent_s: f64,
    /// Its outcome for its rate.
    pub outcome: TrialOutcome,
    /// One sentence: why.
    pub reason: String,
    /// How the target bore the rate.
    pub bearing: Bearing,
    /// Answered exchanges per second.
    pub achieved_per_s: Option<f64>,
    /// Of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: Option<f64>,
    /// Arrivals in the measured time.
    pub intended: u64,
    /// Arrivals that were never started.
    pub dropped: u64,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// `failed` over all exchanges with a result; `null` when there was none.
    pub failed_share: Option<f64>,
    /// Exchanges under way, as a mean over the measured time; `null` when nothing was measured.
    pub in_flight_mean: Option<f64>,
    /// The figures that have limits, with their intervals.
    pub found: Vec<Found>,
    /// Intended start to last byte (or deadline).
    pub response_time: TimeStatistics,
    /// Resources by component, over the measured time.
    pub components: IndexMap<String, ComponentSummary>,
}

/// A row of `trials.jsonl`: what a search goes on from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// The arm.
    pub arm: String,
    /// The trial.
    pub trial: Trial,
    /// Behaviour under it, if it was an overload.
    pub overload: Option<Overload>,
    /// Cores that a component was held to in it, to confirm a cause; `None` in the search itself.
    #[serde(default)]
    pub held_to_cores: Option<f64>,
}

/// One figure of a trial beside its limit, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The figure.
    pub figure: Statistic,
    /// Its value; `null` without a sample.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval from order statistics; `null` when there were too few times for one.
    pub low: Option<f64>,
    /// Upper end of it, likewise.
    pub high: Option<f64>,
    /// Its limit.
    pub limit: f64,
}

/// All trials of one rate together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadClass {
    /// The rate.
    pub rate_per_s: f64,
    /// Seconds of good trials.
    pub good_s: f64,
    /// Seconds of bad trials.
    pub bad_s: f64,
    /// Void trials.
    pub voids: u32,
    /// The class that follows.
    pub class: Class,
}

/// Class of a rate by its trials, as in MLRsearch (draft-ietf-bmwg-mlrsearch).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Carried, whatever the trials that are missing would say.
    Lower,
    /// Not carried, whatever the trials that are missing would say.
    Upper,
    /// It depends on the trials that are missing.
    Undecided,
}

impl Class {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower bound",
            Self::Upper => "upper bound",
            Self::Undecided => "undecided",
        }
    }
}

/// Observations at the lower bound, and above it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The number of the trial at the lower bound; `null` when there was none.
    pub trial: Option<u32>,
    /// Whether it met the objective; `null` when that could not be said.
    pub held: Option<bool>,
    /// Behaviour above capacity; `null` when that was not tried.
    pub overload: Option<Overload>,
}

/// Behaviour above capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overload {
    /// The number of its trial.
    pub trial: u32,
    /// The rate that was offered.
    pub rate_per_s: f64,
    /// How the target bore it.
    pub bearing: Bearing,
    /// The rate that was offered afterwards, to see it recover.
    pub recovery_rate_per_s: f64,
    /// Seconds from the end of the overload to the first of the seconds from which on the objective was met again; `null` when it was
    /// not within the time that was given.
    pub recovered_after_s: Option<f64>,
    /// How long recovery was watched, in seconds.
    pub watched_s: f64,
}

/// A second search, with less of what gave way first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervention {
    /// The component that got less.
    pub component: String,
    /// Cores that it could use.
    pub cores: f64,
    /// Cores that it was held to.
    pub held_to_cores: f64,
    /// The lower bound, if it moves as the cores did.
    pub predicted_lower_per_s: f64,
    /// The upper bound, likewise.
    pub predicted_upper_per_s: f64,
    /// The lower bound that was found; `null` when no rate met the objective.
    pub lower_per_s: Option<f64>,
    /// The upper bound that was found; `null` when every rate met it.
    pub upper_per_s: Option<f64>,
    /// The conclusion.
    pub moved: Moved,
    /// The conclusion in a sentence.
    pub sentence: String,
    /// Its trials, numbered on from the search's own.
    pub trials: Vec<Trial>,
}

/// Whether capacity moved as a cause predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    /// The middle of the interval is where it was predicted, within 15 %.
    AsPredicted,
    /// It is not: the cause is another, or not the only one.
    Otherwise,
    /// The search was too short to say.
    Unknown,
}

/// Where a curve bends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// The rate of it.
    pub rate_per_s: f64,
    /// Where it lies when any one trial is left out: the lowest ...
    pub low_per_s: f64,
    /// ... and the highest.
    pub high_per_s: f64,
}

/// The Universal Scalability Law, X(N) = γN / (1 + α(N − 1) + βN(N − 1)), with N the exchanges under way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scalability {
    /// Exchanges per second of one alone.
    pub gamma: Band,
    /// Contention: the share of work that is done one after the other.
    pub alpha: Band,
    /// Coherency: what each pays for every other.
    pub beta: Band,
    /// The throughput at the peak of the curve.
    pub peak_per_s: Band,
}

/// A fitted figure with the 95 % band of its bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Band {
    /// The fit.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
