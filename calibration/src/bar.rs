//! One thing that must hold, and how it came out.

use crate::witness::Seen;
use plimsoll_testbed::Error;

/// A bar of the table.
#[derive(Debug, Clone)]
pub struct Bar {
    /// The subject of the bar.
    pub what: String,
    /// The condition that must hold.
    pub limit: String,
    /// The figure that was found.
    pub measured: String,
    /// Whether it held.
    pub verdict: Verdict,
    /// The witness's report on the time of this measurement; without it, that on the whole check counts.
    pub seen: Option<Seen>,
}

/// How a bar came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It held.
    Held,
    /// It did not.
    Failed,
    /// Shown beside what is true; nothing must hold of it.
    NotJudged,
    /// This machine could not be brought to measure it; the reason stands where the figure would.
    NotMeasured,
}

impl Verdict {
    /// The word for it in the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failed => "FAILED",
            Self::NotJudged => "not judged",
            Self::NotMeasured => "not measured",
        }
    }

    /// Held or failed.
    pub fn of(held: bool) -> Self {
        if held { Self::Held } else { Self::Failed }
    }
}

impl Bar {
    /// A bar that was measured.
    pub fn judged(
        what: impl Into<String>,
        limit: impl Into<String>,
        measured: String,
        held: bool,
    ) -> Self {
        Self {
            what: what.into(),
            limit: limit.into(),
            measured,
            verdict: Verdict::of(held),
            seen: None,
        }
    }

    /// A figure that must lie within `share` of the expected one; both are times in seconds.
    pub fn within(what: impl Into<String>, measured: f64, expected: f64, share: f64) -> Self {
        let error = measured / expected - 1.0;
        Self::judged(
            what,
            format!("within {} % of {:.3} ms", share * 100.0, expected * 1e3),
            format!("{:.3} ms ({:+.2} %)", measured * 1e3, error * 100.0),
            error.abs() <= share,
        )
    }

    /// A figure of which nothing must hold, and what it is shown beside.
    pub fn shown(what: impl Into<String>, beside: impl Into<String>, measured: String) -> Self {
        Self {
            verdict: Verdict::NotJudged,
            ..Self::judged(what, beside, measured, true)
        }
    }

    /// A bar that could not be measured here.
    pub fn not_measured(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            limit: String::new(),
            measured: reason.into(),
            verdict: Verdict::NotMeasured,
            seen: None,
        }
    }

    /// The bar of an error: if the machine lacks something, it was not measured; an instrument that did not do its work has failed.
    pub fn error(what: impl Into<String>, error: &Error) -> Self {
        let verdict = match error {
            Error::Measured(_) => Verdict::Failed,
            Error::Io { .. } | Error::Missing(_) | Error::Asked(_) | Error::Interrupted => {
                Verdict::NotMeasured
            }
        };
        Self {
            verdict,
            ..Self::not_measured(what, error.to_string())
        }
    }

    /// The bars of one part of a check, with what the witness saw meanwhile. Error with a part leaves the others standing.
    pub fn part(what: &str, (bars, seen): (Result<Vec<Self>, Error>, Seen)) -> Vec<Self> {
        let bars = bars.unwrap_or_else(|error| vec![Self::error(what, &error)]);
        bars.into_iter().map(|bar| bar.during(seen)).collect()
    }

    /// Adds the witness's report on the time of its measurement.
    pub fn during(self, seen: Seen) -> Self {
        Self {
            seen: Some(seen),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_process_that_vanished_has_failed() {
        let check = |errno: Errno, expected: Verdict| {
            let error = Error::at_process("sending a signal", errno.into());
            assert_eq!(Bar::error("a bar", &error).verdict, expected);
        };
        check(Errno::SRCH, Verdict::Failed);
        check(Errno::NOENT, Verdict::Failed);
        check(Errno::PERM, Verdict::NotMeasured);
    }

    #[test]
    fn a_server_that_does_not_talk_has_failed_and_a_machine_without_room_has_not_measured() {
        let check = |errno: Errno, expected: Verdict| {
            let error = Error::at_server("asking a server", std::io::Error::from(errno));
            assert_eq!(Bar::error("a bar", &error).verdict, expected, "{errno}");
        };
        check(Errno::CONNREFUSED, Verdict::Failed);
        check(Errno::CONNRESET, Verdict::Failed);
        check(Errno::PIPE, Verdict::Failed);
        check(Errno::AGAIN, Verdict::Failed);
        check(Errno::MFILE, Verdict::NotMeasured);
        check(Errno::ADDRNOTAVAIL, Verdict::NotMeasured);
    }
}
