//! The classes into which recorded times are grouped.

use serde::{Deserialize, Serialize};

/// One series: the outcomes whose times are recorded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// Answered, and every check held.
    Passed,
    /// Answered, but a check failed.
    CheckFailed,
    /// The deadline passed before anything of the answer came: recorded at its deadline.
    TimedOut,
    /// The deadline passed inside the answer: recorded at its deadline.
    Unfinished,
    /// No connection, or no stream of one: the target, or the way to it, said no.
    Refused,
    /// No connection, for want of a local port, descriptor or memory: our fault, not the target's.
    Exhausted,
    /// The peer closed in good order before its answer was complete.
    Closed,
    /// The connection failed before the answer was complete, most often by a reset.
    Reset,
    /// TLS failed: in the handshake, or by what the server said of it afterwards.
    TlsFailed,
    /// An answer arrived that was not valid.
    Malformed,
    /// Ended by us, because the run was over.
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

    /// The outcome in words, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::CheckFailed => "check failed",
            Self::TimedOut => "timed out",
            Self::Unfinished => "timed out inside the answer",
            Self::Refused => "no connection",
            Self::Exhausted => "no connection through our own fault",
            Self::Closed => "closed by the target",
            Self::Reset => "connection lost",
            Self::TlsFailed => "TLS failed",
            Self::Malformed => "not a valid answer",
            Self::Aborted => "ended by us",
        }
    }

    /// The class of this [`Self::name`].
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
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

    /// Whether nobody knows how long the exchange would have taken: its response time is the time after which it was given up, and a good
    /// answer would have taken that long at least.
    #[must_use]
    pub fn is_given_up(self) -> bool {
        matches!(self, Self::TimedOut | Self::Unfinished | Self::Aborted)
    }

    /// Whether the class enters the published response times: good answers do, and as lower bounds what was given up. Answers that
    /// failed and connections that were refused or lost are often fast, and have times of their own.
    #[must_use]
    pub fn enters_response_time(self) -> bool {
        self == Self::Passed || self.is_given_up()
    }

    /// Whether the class enters the published times of failures.
    #[must_use]
    pub fn enters_failed_time(self) -> bool {
        self.is_failure() && !self.enters_response_time()
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
}
