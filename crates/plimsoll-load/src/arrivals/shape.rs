//! The common form of all profiles: a count of arrivals over time, and where it reaches a number.

use super::constant::Constant;
use super::double;
use super::ramp::Ramp;
use super::replay::Replay;
use super::staircase::Staircase;
use super::stress_peak::StressPeak;
use crate::clock::nanos;
use crate::plan::{Profile, Stretch};

/// The count of one stretch, from its start.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Constant(Constant),
    Ramp(Ramp),
    Staircase(Staircase),
    StressPeak(StressPeak),
    /// All in the first moment.
    AtOnce(f64),
    Replay(Replay),
    Nothing,
}

impl Shape {
    pub(super) fn new(stretch: &Stretch) -> Self {
        let length = stretch.length.as_secs_f64();
        match &stretch.profile {
            Profile::Constant { rate } => Self::Constant(Constant { rate: *rate }),
            Profile::Ramp { from, to } => Self::Ramp(Ramp {
                from: *from,
                to: *to,
                length,
            }),
            Profile::Staircase { from, step, every } => {
                Self::Staircase(Staircase::new(*from, *step, *every))
            }
            Profile::StressPeak { arrivals } => {
                Self::StressPeak(StressPeak::new(double(*arrivals), length))
            }
            Profile::AtOnce { arrivals } => Self::AtOnce(double(*arrivals)),
            Profile::Replay { times } => Self::Replay(Replay::new(times, nanos(stretch.length))),
            Profile::Nothing => Self::Nothing,
        }
    }

    /// Seconds from the start to where the count reaches `count`, which must lie below the total; counts must not descend.
    pub(super) fn at(&mut self, count: f64) -> f64 {
        match self {
            Self::Constant(constant) => constant.at(count),
            Self::Ramp(ramp) => ramp.at(count),
            Self::Staircase(staircase) => staircase.at(count),
            Self::StressPeak(peak) => peak.at(count),
            Self::Replay(replay) => replay.at(count),
            Self::AtOnce(_) | Self::Nothing => 0.0,
        }
    }

    /// How many arrivals, as a real number, come in the first so many seconds.
    pub(super) fn count(&self, seconds: f64) -> f64 {
        match self {
            Self::Constant(constant) => constant.count(seconds),
            Self::Ramp(ramp) => ramp.count(seconds),
            Self::Staircase(staircase) => staircase.count(seconds),
            Self::StressPeak(peak) => peak.count(seconds),
            Self::Replay(replay) => replay.count(seconds),
            Self::AtOnce(arrivals) => *arrivals,
            Self::Nothing => 0.0,
        }
    }

    /// How many arrivals, as a real number, come in all; next to a whole number it is that number, whatever rounding made of it.
    pub(super) fn total(&self, seconds: f64) -> f64 {
        let total = match self {
            Self::Replay(replay) => replay.total(),
            other => other.count(seconds),
        };
        let whole = total.round();
        if (total - whole).abs() < 1e-6 {
            whole
        } else {
            total
        }
    }

    /// The highest rate, per second; of a number of arrivals in one moment, that number.
    pub(super) fn peak(&self, seconds: f64) -> f64 {
        match self {
            Self::Constant(constant) => constant.rate,
            Self::Ramp(ramp) => ramp.from.max(ramp.to),
            Self::Staircase(staircase) => staircase.peak(seconds),
            Self::StressPeak(peak) => peak.peak(),
            Self::Replay(replay) => replay.peak(),
            Self::AtOnce(arrivals) => *arrivals,
            Self::Nothing => 0.0,
        }
    }

    /// Whether each of its arrivals has a time or curve of its own, so that a fraction left over by what came before has no place in it.
    pub(super) fn is_counted(&self) -> bool {
        matches!(
            self,
            Self::AtOnce(_) | Self::Replay(_) | Self::StressPeak(_)
        )
    }
}
