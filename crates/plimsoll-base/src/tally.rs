//! What happened to exchanges: counts and times by step and outcome, which merge exactly whatever the parts.
//!
//! The generator says them per second, the record of a run holds them per block. What enters a figure is left to `report`.

use crate::histogram::TimeHistogram;
use crate::outcome::OutcomeClass;
use crate::time_kind::TimeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Histograms by what they measure; a kind without a sample is absent.
pub type Times = BTreeMap<TimeKind, TimeHistogram>;

/// The exchanges of one step of a scenario in some time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepTally {
    /// Exchanges that began. Over a whole load `sent = Σ classes + in_flight`.
    pub sent: u64,
    /// Exchanges under way at the end of the time.
    pub in_flight: u64,
    /// Answered exchanges by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Results by check; only the plan's checks, on answered exchanges.
    pub checks: BTreeMap<String, CheckCount>,
    /// Bytes of requests, heads included.
    pub bytes_sent: u64,
    /// Bytes of the bodies of answers, without heads and framing.
    pub bytes_received: u64,
    /// Exchanges that ended, by outcome class; a class without one is absent.
    pub classes: BTreeMap<OutcomeClass, ClassTally>,
}

/// One series: the exchanges of one step that ended alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTally {
    /// How many.
    pub count: u64,
    /// `response_time` and `service_time`; `service_time` only when something was sent. Aborted exchanges have neither.
    pub times: Times,
}

/// The passes of iterations through one group of a scenario that ended in some time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupTally {
    /// How many.
    pub count: u64,
    /// Those in which an exchange failed.
    pub failed: u64,
    /// From the beginning of a pass to its end, pauses included.
    pub duration: TimeHistogram,
    /// The response times of a pass's exchanges, added up: pauses are in none.
    pub response_time: TimeHistogram,
}

/// How often a check held and did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckCount {
    /// Exchanges for which it held.
    pub passed: u64,
    /// Exchanges for which it did not.
    pub failed: u64,
}

impl StepTally {
    /// Adds the same step's of another load. For times that follow each other `in_flight` is the later one's alone: set it afterwards.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.in_flight += other.in_flight;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (name, count) in &other.checks {
            self.checks.entry(name.clone()).or_default().add(*count);
        }
        for (class, tally) in &other.classes {
            let own = self.classes.entry(*class).or_default();
            own.count += tally.count;
            merge_times(&mut own.times, &tally.times);
        }
    }

    /// The step's histogram of one kind, over the classes whose times are published: answered exchanges and timeouts.
    #[must_use]
    pub fn histogram(&self, kind: TimeKind) -> TimeHistogram {
        let mut merged = TimeHistogram::new();
        let published = self
            .classes
            .iter()
            .filter(|(class, _)| class.enters_response_time());
        for histogram in published.filter_map(|(_, tally)| tally.times.get(&kind)) {
            merged.merge(histogram);
        }
        merged
    }

    /// Exchanges that ended in `class`.
    #[must_use]
    pub fn count(&self, class: OutcomeClass) -> u64 {
        self.classes.get(&class).map_or(0, |tally| tally.count)
    }

    /// Exchanges that were not answered or whose check failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        let classes = self.classes.iter();
        classes
            .filter(|(class, _)| class.is_failure())
            .map(|(_, tally)| tally.count)
            .sum()
    }

    /// Exchanges that were answered.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.count(OutcomeClass::Passed) + self.count(OutcomeClass::CheckFailed)
    }
}

impl GroupTally {
    /// Adds the same group's of another load.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.duration.merge(&other.duration);
        self.response_time.merge(&other.response_time);
    }

    /// Forgets everything and keeps the histograms' memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.failed = 0;
        for times in [&mut self.duration, &mut self.response_time] {
            if !times.is_empty() {
                times.clear();
            }
        }
    }
}

impl CheckCount {
    /// Adds another's.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Merges histograms kind by kind.
pub fn merge_times(into: &mut Times, from: &Times) {
    for (kind, histogram) in from {
        into.entry(*kind).or_default().merge(histogram);
    }
}
