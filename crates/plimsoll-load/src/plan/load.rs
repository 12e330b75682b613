//! How many iterations start, and when: arrivals of the open model, users of the closed one.

use plimsoll_base::random::Draw;
use plimsoll_base::units::{format_number, format_seconds};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Warm-up and duration together: 1,000 hours.
pub(crate) const MAX_TOTAL: Duration = Duration::from_secs(3_600_000);

/// How many iterations start, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Arrivals come when the profile says, whether earlier ones have ended or not.
    Open {
        /// When arrivals come: one stretch after the other, from the start of the load. At least one.
        profile: Vec<Stretch>,
        /// Virtual users, each with one connection at a time.
        connections: u32,
        /// As many virtual users as there may ever be: further ones are made when an arrival finds none idle. At least `connections`.
        grow_to: u32,
        /// How many arrivals may wait for an idle virtual user when no further one may be made, over all shards; one more is
        /// dropped and counted.
        queue: u32,
    },
    /// Each of a number of virtual users starts its next iteration when its last one ended.
    Closed {
        /// How many users there are: one stretch after the other, from the start of the load. At least one.
        users: Vec<Crowd>,
        /// From the end of an iteration to the intended start of the user's next one. Users who begin in the same moment are spread
        /// over its mean, or over that of `every`.
        think: Span,
        /// The least time from the intended start of a user's iteration to that of its next one.
        every: Span,
    },
}

/// A part of an open load: arrivals of one kind for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// How many arrivals come when.
    pub profile: Profile,
    /// Whether at even distances or at random ones.
    #[serde(default)]
    pub spacing: Spacing,
    /// How long it lasts. Nothing is shorter than a moment: [`Profile::AtOnce`] has no length.
    pub length: Duration,
}

/// How arrivals of a given rate are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Arrival *i* comes when the integral of the rate reaches *i*.
    #[default]
    Even,
    /// The arrivals of a Poisson process of this rate, like those of independent callers.
    Poisson,
    /// One arrival at a uniformly random moment of each slot that the integral of the rate makes: no gap is longer than two slots, and no
    /// timer of the target keeps step with them.
    Slots,
}

/// Arrivals over a stretch; rates are iterations per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Profile {
    /// One rate.
    Constant {
        /// Iterations per second.
        rate: f64,
    },
    /// From one rate to another, linearly.
    Ramp {
        /// Iterations per second at the start.
        from: f64,
        /// Iterations per second at the end.
        to: f64,
    },
    /// Levels of constant rate, each `step` above the one before.
    Staircase {
        /// Iterations per second of the first level.
        from: f64,
        /// Added from level to level; may be negative.
        step: f64,
        /// The length of a level.
        every: Duration,
    },
    /// A number of arrivals that swells and ebbs: their count follows a smooth step (the error function), their rate a bell.
    StressPeak {
        /// How many.
        arrivals: u64,
    },
    /// A number of arrivals in one moment.
    AtOnce {
        /// How many.
        arrivals: u64,
    },
    /// Arrivals at given times.
    Replay {
        /// Nanoseconds from the start of the stretch, ascending.
        times: Arc<[u64]>,
    },
    /// No arrival.
    Nothing,
}

/// A part of a closed load: a number of users, for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crowd {
    /// Users at its start.
    pub from: u32,
    /// Users at its end; in between their number changes linearly. Who is too many retires at the end of its iteration.
    pub to: u32,
    /// How long it lasts.
    pub length: Duration,
}

/// A length of time, the same or drawn each time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Span {
    /// Always this.
    Constant(Duration),
    /// Any length between two is as likely as any other.
    Uniform {
        /// The shortest.
        from: Duration,
        /// The longest.
        to: Duration,
    },
    /// Exponentially distributed.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// Lognormally distributed: the logarithm is normal with mean `ln median` and standard deviation `sigma`.
    Lognormal {
        /// The length that half of all are below; exp(µ).
        median: Duration,
        /// The standard deviation of the logarithm. The p90 is `median · exp(1.2816 · sigma)`.
        sigma: f64,
    },
}

impl Load {
    /// Its virtual users over all shards, as many as there may ever be.
    #[must_use]
    pub fn users(&self) -> u32 {
        match self {
            Self::Open { grow_to, .. } => *grow_to,
            Self::Closed { users, .. } => {
                let most = |crowd: &Crowd| crowd.from.max(crowd.to);
                users.iter().map(most).max().unwrap_or(0)
            }
        }
    }

    /// Whether arrivals that find no idle virtual user are dropped at once.
    #[must_use]
    pub fn drops(&self) -> bool {
        matches!(self, Self::Open { queue: 0, .. })
    }

    /// An open load without growth.
    #[must_use]
    pub fn open(profile: Vec<Stretch>, connections: u32, queue: u32) -> Self {
        Self::Open {
            profile,
            connections,
            grow_to: connections,
            queue,
        }
    }

    /// So many users for so long.
    #[must_use]
    pub fn closed(users: u32, think: Duration, length: Duration) -> Self {
        Self::Closed {
            users: vec![Crowd {
                from: users,
                to: users,
                length,
            }],
            think: Span::Constant(think),
            every: Span::ZERO,
        }
    }
}

/// As a reader of a report wants it: `100/s to 500/s for 1.0 min, then 500/s for 5.0 min over 50 connections`.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open {
                profile,
                connections,
                grow_to,
                ..
            } => {
                list(f, profile, |stretch| stretch.length)?;
                write!(f, " over {connections}")?;
                if grow_to > connections {
                    write!(f, " to {grow_to}")?;
                }
                f.write_str(" connections")
            }
            Self::Closed {
                users,
                think,
                every,
            } => {
                list(f, users, |crowd| crowd.length)?;
                f.write_str(" users")?;
                if *think != Span::ZERO {
                    write!(f, " who think {think}")?;
                }
                if *every != Span::ZERO {
                    write!(f, " once every {every}")?;
                }
                Ok(())
            }
        }
    }
}

/// Up to four parts, each with its length if there are several.
fn list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    parts: &[T],
    length: impl Fn(&T) -> Duration,
) -> fmt::Result {
    const SHOWN: usize = 4;
    let [only] = parts else {
        for (index, part) in parts.iter().take(SHOWN).enumerate() {
            let then = if index == 0 { "" } else { ", then " };
            write!(f, "{then}{part}")?;
            let length = length(part);
            if !length.is_zero() {
                write!(f, " for {}", time(length))?;
            }
        }
        let more = parts.len().saturating_sub(SHOWN);
        return if more > 0 {
            write!(f, ", then {more} more parts")
        } else {
            Ok(())
        };
    };
    write!(f, "{only}")
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.profile {
            Profile::Constant { rate: value } => f.write_str(&rate(*value)),
            Profile::Ramp { from, to } => write!(f, "{} to {}", rate(*from), rate(*to)),
            Profile::Staircase { from, step, every } => {
                let every = time(*every);
                write!(f, "{}, {} more every {every}", rate(*from), rate(*step))
            }
            Profile::StressPeak { arrivals } => write!(f, "a peak of {arrivals} arrivals"),
            Profile::AtOnce { arrivals } => write!(f, "{arrivals} arrivals at once"),
            Profile::Replay { times } => write!(f, "{} arrivals of a record", times.len()),
            Profile::Nothing => f.write_str("nothing"),
        }?;
        match self.spacing {
            Spacing::Even => Ok(()),
            Spacing::Poisson => f.write_str(" (Poisson)"),
            Spacing::Slots => f.write_str(" (slots)"),
        }
    }
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to {
            write!(f, "{}", self.from)
        } else {
            write!(f, "{} to {}", self.from, self.to)
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Constant(length) => f.write_str(&time(length)),
            Self::Uniform { from, to } => write!(f, "{} to {}", time(from), time(to)),
            Self::Exponential { mean } => write!(f, "{} on average, exponentially", time(mean)),
            Self::Lognormal { median, sigma } => {
                let p90 = longer(median, (P90 * sigma).exp());
                write!(f, "{} mostly, 10 % beyond {}", time(median), time(p90))
            }
        }
    }
}

fn rate(per_s: f64) -> String {
    format!("{}/s", format_number(per_s))
}

fn time(length: Duration) -> String {
    format_seconds(length.as_secs_f64())
}

/// The 90th percentile of the standard normal distribution.
const P90: f64 = 1.281_551_565_544_600_4;

/// The standard deviation of a logarithm: with more, the mean is 10²¹ times the median.
const MAX_SIGMA: f64 = 10.0;

impl Default for Span {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Profile {
    /// A stretch of it, evenly spaced.
    #[must_use]
    pub fn lasting(self, length: Duration) -> Stretch {
        Stretch {
            profile: self,
            spacing: Spacing::Even,
            length,
        }
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self::Constant(Duration::ZERO);

    /// Its mean.
    #[must_use]
    pub fn mean(&self) -> Duration {
        match *self {
            Self::Constant(length) => length,
            Self::Uniform { from, to } => (from + to) / 2,
            Self::Exponential { mean } => mean,
            Self::Lognormal { median, sigma } => longer(median, (sigma * sigma / 2.0).exp()),
        }
    }

    /// Why no length can be drawn from it, if so.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let (holds, message) = match *self {
            Self::Constant(_) => (true, ""),
            Self::Uniform { from, to } => (from <= to, "the shortest must not exceed the longest"),
            Self::Exponential { mean } => (!mean.is_zero(), "the mean must be longer than 0"),
            Self::Lognormal { median, sigma } => (
                !median.is_zero() && sigma > 0.0 && sigma <= MAX_SIGMA,
                "the median must be longer than 0, and sigma above 0 and at most 10",
            ),
        };
        if !holds {
            return Some(message);
        }
        (self.mean() > MAX_TOTAL).then_some("must not exceed 1000h on average")
    }

    /// The next length; a constant one draws nothing.
    pub fn next(&self, draw: &mut Draw) -> Duration {
        match *self {
            Self::Constant(length) => length,
            Self::Uniform { from, to } => from + longer(to.saturating_sub(from), draw.unit()),
            Self::Exponential { mean } => longer(mean, draw.exponential()),
            Self::Lognormal { median, sigma } => longer(median, (sigma * draw.normal()).exp()),
        }
    }
}

/// So many times a length; the longest there is where that is beyond all measure.
fn longer(length: Duration, times: f64) -> Duration {
    Duration::try_from_secs_f64(length.as_secs_f64() * times).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    /// Mean and p90 over 20,000 draws: within five standard errors, of which the widest is that of the lognormal mean.
    #[test]
    fn spans_have_their_mean_and_p90() {
        let check = |span: Span, mean: f64, p90: f64| {
            let mut draw = Draw::new(1, Stream::Think, 0);
            let mut drawn: Vec<f64> = (0..20_000)
                .map(|_| span.next(&mut draw).as_secs_f64())
                .collect();
            drawn.sort_by(f64::total_cmp);
            let actual = drawn.iter().sum::<f64>() / 20_000.0;
            assert!((span.mean().as_secs_f64() - mean).abs() < 1e-3, "{span:?}");
            assert!((actual / mean - 1.0).abs() < 0.05, "{span:?}: {actual}");
            assert!((drawn[18_000] / p90 - 1.0).abs() < 0.05, "{span:?}");
        };
        let seconds = Duration::from_secs_f64;
        check(Span::Constant(seconds(1.5)), 1.5, 1.5);
        let (from, to) = (seconds(5.0), seconds(30.0));
        check(Span::Uniform { from, to }, 17.5, 27.5);
        let mean = seconds(2.0);
        check(Span::Exponential { mean }, 2.0, 2.0 * 10.0_f64.ln());
        let (median, sigma) = (seconds(2.0), 1.0);
        check(
            Span::Lognormal { median, sigma },
            2.0 * 0.5_f64.exp(),
            2.0 * 1.281_551_6_f64.exp(),
        );
    }

    #[test]
    fn a_constant_span_draws_nothing() {
        let mut draw = Draw::new(1, Stream::Think, 0);
        Span::Constant(Duration::from_secs(1)).next(&mut draw);
        assert_eq!(draw.bits(), Draw::new(1, Stream::Think, 0).bits());
    }

    #[test]
    fn draws_beyond_all_measure_are_the_longest() {
        assert_eq!(longer(Duration::MAX, 2.0), Duration::MAX);
        assert_eq!(longer(Duration::from_secs(1), f64::INFINITY), Duration::MAX);
    }
}
