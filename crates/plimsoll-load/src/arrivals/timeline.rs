//! Stretches of arrivals, one after the other.
//!
//! The counts add up: where a stretch of constant or linear rate ends on half an arrival, the next one has only the other half to go. So
//! the realised count is the integral of the rate throughout, whatever the stretches' lengths.

use super::double;
use super::poisson::Poisson;
use super::shape::Shape;
use super::slots::Slots;
use crate::plan::{Spacing, Stretch};
use std::collections::VecDeque;
use std::time::Duration;

/// Rounding error of sums of counts, in arrivals: an arrival so near to the end of a stretch comes at the start of the next.
const ROUNDING: f64 = 1e-6;

/// Where arrival *i* lies. It is asked for ascending indices only.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    seed: u64,
    current: Option<Piece>,
    /// The stretches that follow, each with the time of its start.
    rest: VecDeque<(Duration, Stretch)>,
}

/// How arrivals of a stretch are spaced, and where that stands.
#[derive(Debug, Clone)]
enum Spaced {
    Evenly,
    Poisson(Poisson),
    Slots(Slots),
}

/// The stretch that the arrival asked for last lies in.
#[derive(Debug, Clone)]
struct Piece {
    shape: Shape,
    spaced: Spaced,
    /// Seconds from the start of the load.
    begin: f64,
    /// The count at its start.
    first: f64,
    /// How many arrivals it has, as a real number.
    total: f64,
}

impl Timeline {
    pub(super) fn new(stretches: &[Stretch], seed: u64) -> Self {
        let mut begin = Duration::ZERO;
        let rest = stretches.iter().map(|stretch| {
            let at = begin;
            begin = begin.saturating_add(stretch.length);
            (at, stretch.clone())
        });
        let mut timeline = Self {
            seed,
            current: None,
            rest: rest.collect(),
        };
        timeline.proceed(0.0);
        timeline
    }

    /// Seconds from the start of the load to arrival `index`, or `None` when the stretches have no such arrival.
    pub(super) fn at(&mut self, index: u64) -> Option<f64> {
        loop {
            let piece = self.current.as_mut()?;
            match piece.at(index) {
                Ok(seconds) => return Some(seconds),
                Err(end) => self.proceed(end),
            }
        }
    }

    /// On to the next stretch, which begins with the count at `first`.
    fn proceed(&mut self, first: f64) {
        self.current = self.rest.pop_front().map(|(begin, stretch)| {
            let shape = Shape::new(&stretch);
            let whole = shape.is_counted() || stretch.spacing == Spacing::Poisson;
            let first = if whole { first.ceil() } else { first };
            Piece {
                begin: begin.as_secs_f64(),
                first,
                total: shape.total(stretch.length.as_secs_f64()),
                spaced: match stretch.spacing {
                    Spacing::Even => Spaced::Evenly,
                    Spacing::Poisson => {
                        Spaced::Poisson(Poisson::new(self.seed, whole_number(first)))
                    }
                    Spacing::Slots => Spaced::Slots(Slots { seed: self.seed }),
                },
                shape,
            }
        });
    }
}

impl Piece {
    /// Seconds from the start of the load to arrival `index`.
    ///
    /// # Errors
    /// The count at the end of the stretch, where the arrival lies beyond it.
    fn at(&mut self, index: u64) -> Result<f64, f64> {
        let count = match &mut self.spaced {
            Spaced::Evenly => (double(index) - self.first).max(0.0),
            Spaced::Poisson(poisson) => poisson.at(index, self.total).map_err(double)?,
            // Slots are those of the whole load: one may begin in this stretch and end in the next.
            Spaced::Slots(slots) => (double(index) + slots.within(index) - self.first).max(0.0),
        };
        if count + ROUNDING < self.total {
            Ok(self.begin + self.shape.at(count))
        } else {
            Err(self.first + self.total)
        }
    }
}

/// How many arrivals the stretches have, as a real number, in the first part of the load; of those that are randomly spaced, the mean.
#[must_use]
pub fn expected(stretches: &[Stretch], until: Duration) -> f64 {
    let mut begin = Duration::ZERO;
    let mut sum = 0.0;
    for stretch in stretches {
        if begin >= until {
            break;
        }
        let length = stretch.length.as_secs_f64();
        let shape = Shape::new(stretch);
        let left = (until - begin).as_secs_f64();
        sum += if left < length {
            shape.count(left)
        } else {
            shape.total(length)
        };
        begin = begin.saturating_add(stretch.length);
    }
    sum
}

/// The highest rate of the stretches, per second; where arrivals come at once or at given times, the most within one second.
#[must_use]
pub fn peak(stretches: &[Stretch]) -> f64 {
    let peak = |stretch: &Stretch| Shape::new(stretch).peak(stretch.length.as_secs_f64());
    stretches.iter().map(peak).fold(0.0, f64::max)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of arrivals: whole, and far below 2^63"
)]
fn whole_number(count: f64) -> u64 {
    count as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Arrivals, SchedulePart};
    use crate::plan::Profile;

    const MS: u64 = 1_000_000;

    fn milliseconds(stretches: &[Stretch]) -> Vec<f64> {
        let all = Arrivals::new(stretches, 1, Duration::from_secs(3_600), SchedulePart::All);
        all.map(|arrival| arrival.at as f64 / MS as f64).collect()
    }

    fn lasting(profile: Profile, ms: u64) -> Stretch {
        profile.lasting(Duration::from_millis(ms))
    }

    #[test]
    fn stretches_follow_each_other_to_the_fraction_of_an_arrival() {
        let constant = |rate, ms| lasting(Profile::Constant { rate }, ms);
        let check = |stretches: &[Stretch], expected: &[f64]| {
            assert_eq!(milliseconds(stretches), expected, "{stretches:?}");
        };
        check(
            &[constant(10.0, 350), constant(20.0, 100)],
            // At 350 ms half an arrival is left: 25 ms at the new rate.
            &[0.0, 100.0, 200.0, 300.0, 375.0, 425.0],
        );
        check(
            &[
                constant(10.0, 300),
                lasting(Profile::Nothing, 450),
                constant(10.0, 150),
            ],
            &[0.0, 100.0, 200.0, 750.0, 850.0],
        );
        check(
            &[
                constant(10.0, 250),
                lasting(Profile::AtOnce { arrivals: 3 }, 0),
                lasting(Profile::Nothing, 100),
                lasting(Profile::AtOnce { arrivals: 2 }, 0),
            ],
            &[0.0, 100.0, 200.0, 250.0, 250.0, 250.0, 350.0, 350.0],
        );
        let times = [5 * MS, 7 * MS].into();
        check(
            &[
                lasting(Profile::Nothing, 1),
                lasting(Profile::Replay { times }, 10),
                lasting(Profile::AtOnce { arrivals: 1 }, 0),
            ],
            &[6.0, 8.0, 11.0],
        );
    }

    #[test]
    fn no_arrival_is_gained_or_lost_by_rounding() {
        for rate in [3.0, 7.0, 10.0, 49.0, 1000.0] {
            for tenths in 1..40 {
                let stretches = vec![lasting(Profile::Constant { rate }, tenths * 100); 10];
                let count = milliseconds(&stretches).len() as f64;
                assert_eq!(count, (rate * tenths as f64).ceil(), "{rate} {tenths}");
            }
        }
    }

    #[test]
    fn what_is_expected_adds_up() {
        let stretches = [
            lasting(Profile::Constant { rate: 10.0 }, 2_000),
            lasting(Profile::AtOnce { arrivals: 7 }, 0),
            lasting(
                Profile::Ramp {
                    from: 0.0,
                    to: 10.0,
                },
                2_000,
            ),
        ];
        let check = |ms: u64, count: f64| {
            let actual = expected(&stretches, Duration::from_millis(ms));
            assert!((actual - count).abs() < 1e-9, "{ms}: {actual}");
        };
        check(0, 0.0);
        check(1_500, 15.0);
        check(2_000, 20.0);
        check(3_000, 29.5);
        check(9_000, 37.0);
        assert_eq!(peak(&stretches), 10.0);
    }
}
