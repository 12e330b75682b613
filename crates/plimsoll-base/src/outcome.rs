//! How an exchange ended, and the classes into which recorded times are grouped.

use serde::{Deserialize, Serialize};

/// How one exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A complete answer with this status arrived in time.
    Answered(u16),
    /// The deadline passed before anything of the answer came.
    TimedOut,
    /// The deadline passed inside the answer.
    Unfinished,
    /// No connection: refused or unreachable.
    Refused,
    /// No connection, for want of a local port, descriptor or memory: our fault, not the target's.
    Exhausted,
    /// The peer closed in good order before its answer was complete.
    Closed,
    /// The connection failed before the answer was complete, most often by a reset.
    Reset,
    /// The TLS handshake failed.
    TlsFailed,
    /// What arrived was not a valid answer.
    Malformed,
    /// We ended it: the run stopped first.
    Aborted,
}

/// One series: the outcomes whose times are recorded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// Answered, and every check held.
    Passed,
    /// Answered, but a check failed.
    CheckFailed,
    /// [`Outcome::TimedOut`]: recorded at its deadline.
    TimedOut,
    /// [`Outcome::Unfinished`]: recorded at its deadline.
    Unfinished,
    /// [`Outcome::Refused`].
    Refused,
    /// [`Outcome::Exhausted`].
    Exhausted,
    /// [`Outcome::Closed`].
    Closed,
    /// [`Outcome::Reset`].
    Reset,
    /// [`Outcome::TlsFailed`].
    TlsFailed,
    /// [`Outcome::Malformed`].
    Malformed,
    /// [`Outcome::Aborted`]: counted, its time means nothing.
    Aborted,
}

impl OutcomeClass {
    /// Every class, in the order in which outputs list them.
    pub const ALL: [Self; 11] = [
        Self::Passed,
        Self::CheckFailed,
        Self::TimedOut,
        Self::Unfinished,
        Self::Refused,
        Self::Exhausted,
        Self::Closed,
        Self::Reset,
        Self::TlsFailed,
        Self::Malformed,
        Self::Aborted,
    ];

    /// The class of an outcome, given whether its checks held.
    #[must_use]
    pub fn of(outcome: Outcome, checks_passed: bool) -> Self {
        match outcome {
            Outcome::Answered(_) if checks_passed => Self::Passed,
            Outcome::Answered(_) => Self::CheckFailed,
            Outcome::TimedOut => Self::TimedOut,
            Outcome::Unfinished => Self::Unfinished,
            Outcome::Refused => Self::Refused,
            Outcome::Exhausted => Self::Exhausted,
            Outcome::Closed => Self::Closed,
            Outcome::Reset => Self::Reset,
            Outcome::TlsFailed => Self::TlsFailed,
            Outcome::Malformed => Self::Malformed,
            Outcome::Aborted => Self::Aborted,
        }
    }

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::CheckFailed => "check_failed",
            Self::TimedOut => "timed_out",
            Self::Unfinished => "unfinished",
            Self::Refused => "refused",
            Self::Exhausted => "exhausted",
            Self::Closed => "closed",
            Self::Reset => "reset",
            Self::TlsFailed => "tls_failed",
            Self::Malformed => "malformed",
            Self::Aborted => "aborted",
        }
    }

    /// Whether exchanges of this class count as failed (invariant 3 of ARCHITECTURE.md). An exchange that we
    /// aborted is neither: it has no result.
    #[must_use]
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Passed | Self::Aborted)
    }

    /// Whether a complete answer arrived in time.
    #[must_use]
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Passed | Self::CheckFailed)
    }

    /// Whether the class enters the published response times: answered exchanges and timeouts do.
    #[must_use]
    pub fn enters_response_time(self) -> bool {
        matches!(
            self,
            Self::Passed | Self::CheckFailed | Self::TimedOut | Self::Unfinished
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_serialised_name() {
        for class in OutcomeClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }

    #[test]
    fn failures_and_response_times() {
        let check = |outcome, checks, class: OutcomeClass, failed, timed| {
            let actual = OutcomeClass::of(outcome, checks);
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
            true,
        );
        check(Outcome::TimedOut, true, OutcomeClass::TimedOut, true, true);
        check(
            Outcome::Unfinished,
            true,
            OutcomeClass::Unfinished,
            true,
            true,
        );
        check(Outcome::Refused, true, OutcomeClass::Refused, true, false);
        check(Outcome::Aborted, true, OutcomeClass::Aborted, false, false);
    }
}
