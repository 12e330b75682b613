//! How an exchange ended.

use crate::outcome_class::OutcomeClass;
use crate::reason::Reason;

/// How one exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A complete answer with this status arrived in time.
    Answered(u16),
    /// There was no complete answer in time, for this reason.
    Unanswered(Reason),
    /// We ended it: the run stopped first.
    Aborted,
}

impl Outcome {
    /// Its class, given whether its checks held.
    #[must_use]
    pub fn class(self, checks_passed: bool) -> OutcomeClass {
        match self {
            Self::Answered(_) if checks_passed => OutcomeClass::Passed,
            Self::Answered(_) => OutcomeClass::CheckFailed,
            Self::Unanswered(reason) => reason.class(),
            Self::Aborted => OutcomeClass::Aborted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_response_times() {
        let check = |outcome: Outcome, checks, class: OutcomeClass, failed, timed| {
            let actual = outcome.class(checks);
            assert_eq!(
                (actual, actual.is_failure(), actual.enters_response_time()),
                (class, failed, timed)
            );
        };
        check(
            Outcome::Answered(200),
            true,
            OutcomeClass::Passed,
            false,
            true,
        );
        check(
            Outcome::Answered(503),
            false,
            OutcomeClass::CheckFailed,
            true,
            false,
        );
        check(
            Outcome::Unanswered(Reason::FirstByteTimeout),
            true,
            OutcomeClass::TimedOut,
            true,
            true,
        );
        check(
            Outcome::Unanswered(Reason::TimeoutBody),
            true,
            OutcomeClass::Unfinished,
            true,
            true,
        );
        check(
            Outcome::Unanswered(Reason::Lookup),
            true,
            OutcomeClass::Refused,
            true,
            false,
        );
        check(Outcome::Aborted, true, OutcomeClass::Aborted, false, true);
    }
}
