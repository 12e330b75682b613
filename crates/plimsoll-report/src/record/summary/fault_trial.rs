//! One trial of `availability` in the summary: its outages, its moments, and the course of its arrivals.

use crate::record::fault_trial::{ControlFigures, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One trial as it was read. Moments are in seconds from the injection, so those before it are negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSummary {
    /// Its number in the run, from 1.
    pub number: u32,
    /// The round, from 1.
    pub round: u32,
    /// The row that it belongs to: a name of `settings.faults`, or `sham`.
    pub fault: String,
    /// The component that was chosen; `null` where there was no choice.
    pub victim: Option<String>,
    /// Its role; `null` where roles are not told apart.
    pub role: Option<Role>,
    /// From when on everything was to be healthy.
    pub measured_s: f64,
    /// When the effect was proved.
    pub proved_s: Option<f64>,
    /// When it began to be healed.
    pub heal_begun_s: f64,
    /// When it was proved to be healed.
    pub healed_s: Option<f64>,
    /// Since when, the fault being there, callers had recovered; `null` where they had not before the heal had its effect.
    pub failed_over_s: Option<f64>,
    /// Since when, the heal being proved, callers had recovered; `null` where they never had.
    pub recovered_s: Option<f64>,
    /// When arrivals ended.
    pub ended_s: f64,
    /// The outage of the fault: sums over its outages, where there are several.
    pub outage: TrialOutage,
    /// The outage that the heal brought by itself.
    pub heal_outage: TrialOutage,
    /// Whether the outage of the fault reached beyond the beginning of the heal.
    pub reaches_into_heal: bool,
    /// Whether an exchange failed before the injection: the trial did not begin with everything healthy.
    pub unhealthy_before: bool,
    /// Whether callers had not recovered when `abort` had passed since the heal was proved, or since the injection where it never was.
    pub failed_failover: bool,
    /// Longest time without a completion, while there were arrivals, from the injection on.
    pub stall_s: f64,
    /// Shorter outages are not told apart from none: the largest of two mean distances of arrivals, the lateness of releases that one in a
    /// thousand exceeds, and the longest stall of the generator.
    pub resolution_s: f64,
    /// Whether the outage of the fault is shorter than can be told.
    pub below_resolution: bool,
    /// The outage that a client sees that tries again, as an estimate; `null` where it was not asked.
    pub retried: Option<RetriedOutage>,
    /// Arrivals that were planned per second of the load.
    pub rate_per_s: f64,
    /// Exchanges with a result from the beginning of the measured time on.
    pub exchanges: u64,
    /// The load that nothing was broken for.
    pub control: ControlFigures,
    /// Why it does not count, each a sentence; empty: it does.
    #[serde(rename = "void")]
    pub void_reasons: Vec<String>,
    /// Exchanges over time.
    pub course: Course,
}

/// Outages of a trial together, each a burst of failures or several. All zero without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialOutage {
    /// It lasted at least so many seconds: from the first to the last failed intended start of each burst.
    pub low_s: f64,
    /// The best single figure: the middle of the interval where every arrival failed, and by the failures alone where not all did.
    pub estimate_s: f64,
    /// It lasted at most so many seconds: from the last good intended start before to the first after. Where not all arrivals failed these are
    /// of callers whom the fault does not hit, and the failures alone bound it, with 98 %.
    pub high_s: f64,
    /// Lost-request seconds: failed exchanges over rate.
    pub lost_s: f64,
    /// Failed exchanges.
    pub failed: u64,
    /// Whether failures came so few that they show no length: fewer than three of one burst, or than five of several.
    pub is_unmeasured: bool,
    /// Bursts that they came in.
    pub bursts: u32,
    /// Whether some bursts may lie apart by chance alone: they are taken for one outage, of which they alone are certain.
    #[serde(default)]
    pub is_torn: bool,
    /// The share of arrivals that failed meanwhile: lost-request seconds over the best single figure; `null` without an outage.
    pub impact: Option<f64>,
    /// The first failed intended start, in seconds from the injection; `null` without one.
    pub first_s: Option<f64>,
    /// The last one.
    pub last_s: Option<f64>,
}

impl TrialSummary {
    /// Whether callers may have come back only because the fault was healed.
    #[must_use]
    pub fn is_ended_by_heal(&self) -> bool {
        self.reaches_into_heal && !self.failed_failover
    }

    /// Whether callers did not recover by themselves: its outage would have lasted longer than it was seen.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.reaches_into_heal || self.failed_failover
    }
}

impl TrialOutage {
    /// Whether there was any.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.failed > 0
    }
}

/// Outage of a client that tries again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetriedOutage {
    /// Arrivals that would fail nevertheless.
    pub failed: u64,
    /// These over the rate, in seconds.
    pub lost_s: f64,
}

/// Exchanges over time, in bins of one width by their intended starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Course {
    /// Where the first bin begins, in seconds from the injection.
    pub from_s: f64,
    /// Width of a bin in seconds.
    pub bin_s: f64,
    /// Good exchanges that were not slow.
    pub good: Vec<u32>,
    /// Good exchanges that were slow.
    pub slow: Vec<u32>,
    /// Failed exchanges.
    pub failed: Vec<u32>,
}
