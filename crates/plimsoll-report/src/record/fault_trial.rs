//! Trials of `availability`: each a load with one fault or a sham. Their rows stand in `trials.jsonl`, and what became of every arrival of
//! one in `trials/<number>.jsonl.gz`; all figures of the method are made of these.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The row of shams, which stand beside faults.
pub const SHAM: &str = "sham";

/// Definitions that trials are read by. All times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AvailabilitySettings {
    /// Arrivals per second.
    pub rate_per_s: f64,
    /// A good answer comes so soon after the intended start at the latest.
    pub deadline_s: f64,
    /// A good answer that comes later than this is slow.
    pub slow_s: f64,
    /// Failures with less than this between their intended starts are of one burst.
    pub gap_s: f64,
    /// Recovered is what is free of failures for so long.
    pub settle_s: f64,
    /// A fault from which callers have not recovered by then is a failed failover.
    pub abort_s: f64,
    /// How long the repair of a failed failover takes; `null`: not stated.
    pub repair_s: Option<f64>,
    /// Seconds of a year that may be lost; `null`: not stated.
    pub within_s: Option<f64>,
    /// How a client that tries again would; `null`: not asked.
    pub retries: Option<Retries>,
    /// Faults by the names of their rows.
    pub faults: IndexMap<String, FaultFacts>,
}

/// A client that tries again after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Retries {
    /// How often.
    pub times: u32,
    /// Between two attempts, in seconds.
    pub after_s: f64,
}

/// A fault as the file states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultFacts {
    /// Its name among `faults:`.
    pub fault: String,
    /// Its kind: `kill`, `freeze`, …
    pub kind: String,
    /// The thing that it breaks: a component, link or host, or those of which one is chosen for each trial; `null` where it is none of them.
    pub target: Option<String>,
    /// How many there are that may have it.
    pub servers: u32,
    /// How often one of them has it in a year; `null`: not stated, so nothing is said of a year.
    pub per_year: Option<FaultRate>,
}

/// How often a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultRate {
    /// So often in a year, as declared.
    Declared(f64),
    /// It was counted so often in so many years.
    Counted {
        /// How often.
        count: u32,
        /// In how many years of one server.
        years: f64,
    },
}

/// The role that a victim had.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It led the others.
    Leader,
    /// It followed.
    Follower,
}

impl Role {
    /// The name of the row of those victims of a fault's row that had this role.
    #[must_use]
    pub fn row(self, row: &str) -> String {
        match self {
            Self::Leader => format!("{row}, leader"),
            Self::Follower => format!("{row}, follower"),
        }
    }
}

/// A row of `trials.jsonl`. Moments are in seconds from the start of the trial's load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultTrial {
    /// Its number in the run, from 1, after which its file is named.
    pub number: u32,
    /// The arm.
    pub arm: String,
    /// The round, from 1, each of which holds every fault once.
    pub round: u32,
    /// The row that it belongs to: a name of [`AvailabilitySettings::faults`], or [`SHAM`].
    pub fault: String,
    /// The component that was chosen; `None` where there was no choice.
    pub victim: Option<String>,
    /// Its role; `None` where roles are not told apart.
    pub role: Option<Role>,
    /// From when on everything was to be healthy: where the warm-up ended.
    pub measured: f64,
    /// When the fault, or the sham, began to be injected.
    pub injected: f64,
    /// When its effect was proved.
    pub proved: Option<f64>,
    /// When it began to be healed.
    pub heal_begun: f64,
    /// When it was proved to be healed.
    pub healed: Option<f64>,
    /// When arrivals ended.
    pub ended: f64,
    /// Lateness of releases by the generator that only one in a thousand exceeds.
    pub pacing_lag_p999_s: f64,
    /// The longest stall of the generator.
    pub longest_stall_s: f64,
    /// The control load beside it.
    pub control: ControlFigures,
    /// Why it does not count, each a sentence; empty: it does.
    pub void: Vec<String>,
}

impl FaultTrial {
    /// Whether it counts.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.void.is_empty()
    }

    /// Whether nothing was broken in it.
    #[must_use]
    pub fn is_sham(&self) -> bool {
        self.fault == SHAM
    }
}

/// The control load of a trial: from the generator's place to a mock that nobody breaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlFigures {
    /// How many exchanges ended.
    pub exchanges: u64,
    /// How many of them failed.
    pub failed: u64,
    /// The longest time in which none ended, in seconds.
    pub silence_s: f64,
}
