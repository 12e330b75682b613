//! A ceiling: so many of something per second, why, and by which formula.

use plimsoll_base::units::format_number;
use std::fmt;

/// The most that something lets an arm reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// Its source.
    pub source: Source,
    /// The scenario that it is of, by its place in the plan; `None`: the whole arm.
    pub scenario: Option<usize>,
    /// Its unit.
    pub of: Of,
    /// How many of them per second in the long run; of [`Of::Connections`] how many at once.
    pub value: f64,
    /// Why, to be read after the arm's name.
    pub sentence: String,
    /// How the value comes about.
    pub formula: &'static str,
    /// Excess of the measured time over it, by chance or because it begins with everything idle, per second.
    pub slack_per_s: f64,
    /// For how long an iteration keeps its place, in seconds; 0 where none is kept.
    pub held_s: f64,
    /// Warning about it on this host, beyond that it is there.
    pub warning: Option<String>,
}

/// Source of a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Users of the closed model who wait between their iterations, and within them.
    ThinkTime,
    /// Connections of the open model that are kept through the pauses of an iteration.
    Connections,
    /// The arrivals that the open model offers.
    Schedule,
    /// The host's local ports.
    Ports,
    /// The descriptors that the generator may hold.
    Descriptors,
    /// The measurement of `plimsoll doctor --calibrate`.
    Calibration,
}

/// Unit of a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Iterations begun per second.
    Iterations,
    /// Exchanges per second.
    Exchanges,
    /// Connections at once.
    Connections,
}

impl Ceiling {
    /// How many per second the measured time may hold at the very most.
    #[must_use]
    pub fn at_most(&self) -> f64 {
        self.value + self.slack_per_s
    }
}

impl Source {
    /// Whether another host may have another ceiling.
    #[must_use]
    pub fn is_of_host(self) -> bool {
        match self {
            Self::ThinkTime | Self::Connections | Self::Schedule => false,
            Self::Ports | Self::Descriptors | Self::Calibration => true,
        }
    }
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iterations => "iterations/s",
            Self::Exchanges => "exchanges/s",
            Self::Connections => "connections",
        })
    }
}

/// `at most 914 iterations/s, however fast the target is: 16,000 users think 17.5 s on average (users / mean think time)`.
impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = format_number(self.value);
        let Self {
            of,
            sentence,
            formula,
            ..
        } = self;
        let (about, however) = match self.source {
            Source::ThinkTime | Source::Connections => ("at most", ", however fast the target is"),
            // The generator may reach more with another target.
            Source::Calibration => ("about", ""),
            Source::Schedule | Source::Ports | Source::Descriptors => ("at most", ""),
        };
        write!(f, "{about} {value} {of}{however}: {sentence} ({formula})")
    }
}
