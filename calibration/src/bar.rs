//! One thing that must hold, and how it came out.

/// A bar of the table.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What was looked at.
    pub what: String,
    /// What must hold.
    pub limit: String,
    /// What was found.
    pub measured: String,
    /// Whether it held.
    pub verdict: Verdict,
}

/// How a bar came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It held.
    Held,
    /// It did not.
    Failed,
    /// This machine could not be brought to measure it; the reason stands where the figure would.
    NotMeasured,
}

impl Verdict {
    /// The word for it in the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failed => "FAILED",
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

    /// A bar that could not be measured here.
    pub fn not_measured(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            limit: String::new(),
            measured: reason.into(),
            verdict: Verdict::NotMeasured,
        }
    }
}
