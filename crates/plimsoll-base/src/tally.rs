//! Results of exchanges: counts and times by step and outcome, which merge exactly whatever the parts.
//!
//! The generator says them per second, the record of a run holds them per block. What enters a figure is left to `report`.

use crate::histogram::TimeHistogram;
use crate::outcome_class::OutcomeClass;
use crate::reason::Reason;
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
    /// Exchanges that were not answered, by reason; one without an exchange is absent. Those of an outcome add up to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<Reason, u64>,
}

/// One series: the exchanges of one step that ended alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTally {
    /// How many.
    pub count: u64,
    /// `response_time` and `service_time`; `service_time` only when something was sent, and not of aborted exchanges.
    pub times: Times,
    /// Of the answers whose last byte came after their first; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_parts: Option<Box<InParts>>,
}

/// Answers whose last byte came after their first: nearly every answer comes at once, so that its first byte is its last, its time to
/// the first byte is its service time, and keeping that twice would be for nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InParts {
    /// Their service times, which also stand among those of their class.
    pub service: TimeHistogram,
    /// From the first byte sent to the first byte received.
    pub first_byte: TimeHistogram,
    /// From the first byte received to the last.
    pub body: TimeHistogram,
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
        for (reason, count) in &other.reasons {
            *self.reasons.entry(*reason).or_default() += count;
        }
        for (class, tally) in &other.classes {
            let own = self.classes.entry(*class).or_default();
            own.merge(tally);
        }
    }

    /// The step's histogram of one kind, over the classes whose times are published as such: good answers, and what was given up. Only what
    /// was answered has a first byte and a body.
    #[must_use]
    pub fn histogram(&self, kind: TimeKind) -> TimeHistogram {
        let mut merged = TimeHistogram::new();
        self.add_to(kind, &mut merged);
        merged
    }

    /// Adds the step's times of one kind, of the classes of [`Self::histogram`].
    pub fn add_to(&self, kind: TimeKind, merged: &mut TimeHistogram) {
        let published = self
            .classes
            .iter()
            .filter(|(class, _)| class.enters_response_time());
        for (class, tally) in published {
            match kind {
                TimeKind::FirstByteTime if class.is_answered() => tally.add_first_bytes(merged),
                TimeKind::BodyTime if class.is_answered() => tally.add_bodies(merged),
                _ => {
                    if let Some(histogram) = tally.times.get(&kind) {
                        merged.merge(histogram);
                    }
                }
            }
        }
    }

    /// The response times of those classes that are wanted.
    #[must_use]
    pub fn response_times(&self, wanted: impl Fn(OutcomeClass) -> bool) -> TimeHistogram {
        let mut merged = TimeHistogram::new();
        let classes = self.classes.iter().filter(|(class, _)| wanted(**class));
        for times in classes.filter_map(|(_, tally)| tally.times.get(&TimeKind::ResponseTime)) {
            merged.merge(times);
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

impl ClassTally {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        merge_times(&mut self.times, &other.times);
        if let Some(other) = &other.in_parts {
            self.in_parts.get_or_insert_default().merge(other);
        }
    }

    /// Adds the times to the first bytes of a class of answers: the service times, but for the answers that came in parts.
    fn add_first_bytes(&self, into: &mut TimeHistogram) {
        if let Some(service) = self.times.get(&TimeKind::ServiceTime) {
            into.merge(service);
        }
        if let Some(parts) = &self.in_parts {
            into.subtract(&parts.service);
            into.merge(&parts.first_byte);
        }
    }

    /// Adds the times of the bodies of a class of answers: nothing, but for the answers that came in parts.
    fn add_bodies(&self, into: &mut TimeHistogram) {
        let service = self.times.get(&TimeKind::ServiceTime);
        let all = service.map_or(0, TimeHistogram::count);
        let in_parts = self.in_parts.as_ref().map_or(0, |parts| parts.body.count());
        if all > in_parts {
            into.record_many(0, all - in_parts);
        }
        if let Some(parts) = &self.in_parts {
            into.merge(&parts.body);
        }
    }
}

impl InParts {
    /// Records an answer whose first byte came after `first_byte` and whose last after `service`, in nanoseconds.
    pub fn record_nanos(&mut self, first_byte: u64, service: u64) {
        self.service.record_nanos(service);
        self.first_byte.record_nanos(first_byte);
        self.body.record_nanos(service.saturating_sub(first_byte));
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.service.merge(&other.service);
        self.first_byte.merge(&other.first_byte);
        self.body.merge(&other.body);
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.service.is_empty()
    }

    /// Forgets all and keeps the memory.
    pub fn clear(&mut self) {
        self.service.clear();
        self.first_byte.clear();
        self.body.clear();
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One step whose exchanges were answered, or timed out, after so many microseconds, of which so many until the first byte.
    fn of(exchanges: &[(bool, u64, u64)]) -> StepTally {
        let mut step = StepTally::default();
        for (answered, first, body) in exchanges {
            let class = match answered {
                true => OutcomeClass::Passed,
                false => OutcomeClass::TimedOut,
            };
            let service = (first + body) * 1_000;
            let tally = step.classes.entry(class).or_default();
            tally.count += 1;
            let times = tally.times.entry(TimeKind::ServiceTime).or_default();
            times.record_nanos(service);
            if *answered && *body > 0 {
                let parts = tally.in_parts.get_or_insert_default();
                parts.record_nanos(first * 1_000, service);
            }
        }
        step
    }

    proptest! {
        // Histograms are large: fewer cases do.
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Whether an answer came at once or in parts, it has one time to the first byte and one of its body; a timeout has neither.
        #[test]
        fn every_answer_has_a_first_byte_and_a_body(
            exchanges in prop::collection::vec((any::<bool>(), 1_u64..2_000, 0_u64..3), 1..40),
            at in 0_usize..40,
        ) {
            let (left, right) = exchanges.split_at(at.min(exchanges.len()));
            let mut step = of(left);
            step.merge(&of(right));
            prop_assert_eq!(&step, &of(&exchanges));
            let answered = || exchanges.iter().filter(|(answered, _, _)| *answered);
            let (mut first_bytes, mut bodies) = (TimeHistogram::new(), TimeHistogram::new());
            for (_, first, body) in answered() {
                first_bytes.record_nanos(first * 1_000);
                bodies.record_nanos(body * 1_000);
            }
            prop_assert_eq!(step.histogram(TimeKind::FirstByteTime), first_bytes);
            prop_assert_eq!(step.histogram(TimeKind::BodyTime), bodies);
            prop_assert_eq!(step.histogram(TimeKind::ServiceTime).count(), exchanges.len() as u64);
        }
    }
}
