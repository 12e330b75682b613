//! Failures of a load, how many and when they were seen: bounded by the number of series, not by the number of failures.

use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::tally::StepTally;
use std::collections::BTreeMap;

/// Statuses from this on fail an exchange whose step does not check the status.
const FAILING_STATUS: u16 = 400;

/// One way in which exchanges fail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// Answered with this status, where that is a failure.
    Status(u16),
    /// This check did not hold.
    Check(String),
    /// Not answered, for this reason.
    Unanswered(Reason),
    /// Not answered, and nothing is known of why.
    Outcome(OutcomeClass),
}

/// How often something was seen, and when. Times are starts of seconds, in seconds since the run began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// The second in which it was seen first.
    pub first_s: f64,
    /// The second in which it was seen last.
    pub last_s: f64,
}

/// Failures of a load by step and kind. Merging two gives what observing both loads in one would have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Failures(BTreeMap<(String, Failure), Seen>);

impl Failures {
    /// Notes what failed of one step in the second that began at `t`. An answer whose check failed is seen under its check, and under
    /// its status if that is one that fails by itself.
    pub fn observe(&mut self, step: &str, t: f64, tally: &StepTally) {
        for (reason, count) in &tally.reasons {
            self.see(step, Failure::Unanswered(*reason), t, *count);
        }
        for class in OutcomeClass::ALL {
            if class.is_failure() && class != OutcomeClass::CheckFailed {
                let of_class = tally.reasons.iter();
                let of_class = of_class.filter(|(reason, _)| reason.class() == class);
                let explained: u64 = of_class.map(|(_, count)| count).sum();
                let unexplained = tally.count(class).saturating_sub(explained);
                self.see(step, Failure::Outcome(class), t, unexplained);
            }
        }
        for (name, count) in &tally.checks {
            self.see(step, Failure::Check(name.clone()), t, count.failed);
        }
        // Where every answer passed, its status was what the step asked for.
        if tally.count(OutcomeClass::CheckFailed) > 0 {
            for (status, count) in tally.statuses.range(FAILING_STATUS..) {
                self.see(step, Failure::Status(*status), t, *count);
            }
        }
    }

    /// Adds another load's.
    pub fn merge(&mut self, other: &Self) {
        for ((step, failure), seen) in &other.0 {
            self.add(step, failure.clone(), *seen);
        }
    }

    /// By step and kind.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Failure, &Seen)> {
        self.0
            .iter()
            .map(|((step, failure), seen)| (step.as_str(), failure, seen))
    }

    fn see(&mut self, step: &str, failure: Failure, t: f64, count: u64) {
        if count > 0 {
            let seen = Seen {
                count,
                first_s: t,
                last_s: t,
            };
            self.add(step, failure, seen);
        }
    }

    fn add(&mut self, step: &str, failure: Failure, added: Seen) {
        let key = (step.to_owned(), failure);
        self.0
            .entry(key)
            .and_modify(|seen| {
                seen.count += added.count;
                seen.first_s = seen.first_s.min(added.first_s);
                seen.last_s = seen.last_s.max(added.last_s);
            })
            .or_insert(added);
    }
}

impl Failure {
    /// The name used in files: an outcome as in `outcomes`, `status.503` or `check.<name>`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Status(status) => format!("status.{status}"),
            Self::Check(name) => format!("check.{name}"),
            Self::Unanswered(reason) => reason.class().name().to_owned(),
            Self::Outcome(class) => class.name().to_owned(),
        }
    }

    /// Why there was no answer, by its name within the outcome; `None` for an answer, and where it is not known.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Unanswered(reason) => Some(reason.name()),
            Self::Status(_) | Self::Check(_) | Self::Outcome(_) => None,
        }
    }

    /// The failure of this [`Self::name`] and [`Self::reason`]; `None` for words that no failure has.
    #[must_use]
    pub fn of_names(name: &str, reason: Option<&str>) -> Option<Self> {
        let path = reason.map(|reason| format!("{name}.{reason}"));
        if let Some(known) = path.as_deref().and_then(Reason::of_path) {
            return Some(Self::Unanswered(known));
        }
        if let Some(status) = name.strip_prefix("status.") {
            return status.parse().ok().map(Self::Status);
        }
        if let Some(check) = name.strip_prefix("check.") {
            return Some(Self::Check(check.to_owned()));
        }
        OutcomeClass::of_name(name).map(Self::Outcome)
    }

    /// The failure in words, for people.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Status(status) => format!("answered with status {status}"),
            Self::Check(name) => format!("check failed: {name}"),
            Self::Unanswered(reason) => reason.sentence(),
            Self::Outcome(class) => class.words().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::tally::{CheckCount, ClassTally};

    fn tally(classes: &[(OutcomeClass, u64)], statuses: &[(u16, u64)], failed: u64) -> StepTally {
        let class = |(class, count): &(OutcomeClass, u64)| {
            let tally = ClassTally {
                count: *count,
                ..ClassTally::default()
            };
            (*class, tally)
        };
        StepTally {
            classes: classes.iter().map(class).collect(),
            statuses: statuses.iter().copied().collect(),
            checks: [("status".to_owned(), CheckCount { passed: 0, failed })].into(),
            ..StepTally::default()
        }
    }

    #[test]
    fn what_is_seen_of_a_second() {
        let check = |tally: StepTally, expected: &[(&str, u64)]| {
            let mut failures = Failures::default();
            failures.observe("a", 3.0, &tally);
            let seen: Vec<_> = failures
                .iter()
                .map(|(_, failure, seen)| (failure.name(), seen.count))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect();
            assert_eq!(seen, expected);
        };
        use OutcomeClass::{Aborted, CheckFailed, Passed, TimedOut};
        let wrong = [(Passed, 7), (CheckFailed, 3), (TimedOut, 1), (Aborted, 2)];
        check(
            tally(&wrong, &[(200, 7), (503, 3)], 3),
            &[("status.503", 3), ("check.status", 3), ("timed_out", 1)],
        );
        let known = StepTally {
            reasons: [(Reason::Expired, 3), (Reason::UnknownIssuer, 1)].into(),
            ..tally(&[(OutcomeClass::TlsFailed, 5)], &[], 0)
        };
        check(
            known,
            &[("tls_failed", 1), ("tls_failed", 3), ("tls_failed", 1)],
        );
        // A step that asks for it.
        check(tally(&[(Passed, 5)], &[(404, 5)], 0), &[]);
    }

    #[test]
    fn merging_keeps_the_first_and_the_last_time() {
        let timed_out = tally(&[(OutcomeClass::TimedOut, 1)], &[], 0);
        let at = |times: &[f64]| {
            let mut failures = Failures::default();
            times
                .iter()
                .for_each(|t| failures.observe("a", *t, &timed_out));
            failures
        };
        let mut merged = at(&[7.0, 9.0]);
        merged.merge(&at(&[3.0]));
        assert_eq!(merged, at(&[9.0, 3.0, 7.0]));
        let (_, _, seen) = merged.iter().next().unwrap();
        assert_eq!((seen.count, seen.first_s, seen.last_s), (3, 3.0, 9.0));
    }
}
