//! When iterations are intended to start: pure, seeded functions of the arrival's index.
//!
//! Every profile says where its count of arrivals reaches a number; that is all that distinguishes them. The `timeline` puts stretches
//! of them one after the other. The canary, where there is one, takes one arrival in so many; of the others shard *k* of *N* takes those
//! whose number is *k* modulo *N*. So together they offer exactly what one shard would. Releasing arrivals in time is the engine's.

mod constant;
pub(crate) mod early_end;
mod picks;
mod poisson;
mod ramp;
mod replay;
mod shape;
pub(crate) mod shifts;
mod slots;
mod staircase;
mod stress_peak;
mod timeline;

use crate::plan::Stretch;
use picks::Picks;
use plimsoll_base::random::{Draw, Stream};
use std::time::Duration;
use timeline::Timeline;

pub use timeline::{expected, peak};

/// One intended start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its place in the whole schedule, over all shards.
    pub index: u64,
    /// Nanoseconds from the start of the load, exact to the nanosecond as long as a double is.
    pub at: u64,
}

/// Which arrivals of a schedule are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulePart {
    /// All of them.
    All,
    /// None.
    Nothing,
    /// Those of one shard.
    Shard {
        /// Which, from 0.
        shard: usize,
        /// Of how many.
        shards: usize,
        /// One arrival in so many is the canary's and no shard's; `None` without a canary.
        canary: Option<u64>,
    },
    /// Those of the canary: one in so many, two or more.
    Canary(u64),
}

/// Key of the schedule of a scenario, so that no two scenarios have the same; the first one's is the plan's seed.
#[must_use]
pub fn scenario_seed(seed: u64, scenario: usize) -> u64 {
    match scenario {
        0 => seed,
        other => Draw::new(seed, Stream::Scenario, other as u64).bits(),
    }
}

/// A part of the arrivals in ascending order.
#[derive(Debug, Clone)]
pub struct Arrivals {
    timeline: Timeline,
    indices: Indices,
    end: u64,
}

/// The indices of a part's arrivals, ascending.
#[derive(Debug, Clone)]
enum Indices {
    /// Every so manieth of the arrivals that nobody picked.
    Stripe {
        next: u64,
        stride: u64,
        picks: Option<Picks>,
    },
    /// The arrivals that were picked, by group.
    Picked { group: u64, picks: Picks },
}

impl Arrivals {
    /// The arrivals of this part, as far as they lie before `total`.
    ///
    /// # Panics
    /// Unless the part is one: `shard < shards`, and the canary's is one in two or more.
    #[must_use]
    pub fn new(profile: &[Stretch], seed: u64, total: Duration, part: SchedulePart) -> Self {
        let nothing = part == SchedulePart::Nothing;
        Self {
            timeline: Timeline::new(profile, seed),
            indices: Indices::new(seed, part),
            end: if nothing {
                0
            } else {
                crate::clock::nanos(total)
            },
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.indices.first();
        let at = nanoseconds(self.timeline.at(index)?);
        if at >= self.end {
            return None;
        }
        self.indices.advance();
        Some(Arrival { index, at })
    }
}

impl Indices {
    fn new(seed: u64, part: SchedulePart) -> Self {
        let stripe = |shard, shards, canary: Option<u64>| Self::Stripe {
            next: shard as u64,
            stride: shards as u64,
            picks: canary.map(|one_in| Picks::new(seed, one_in)),
        };
        match part {
            SchedulePart::All | SchedulePart::Nothing => stripe(0, 1, None),
            SchedulePart::Shard {
                shard,
                shards,
                canary,
            } => {
                assert!(shard < shards, "shard {shard} of {shards}");
                stripe(shard, shards, canary)
            }
            SchedulePart::Canary(one_in) => Self::Picked {
                group: 0,
                picks: Picks::new(seed, one_in),
            },
        }
    }

    /// The first that has not been passed.
    fn first(&mut self) -> u64 {
        match self {
            Self::Stripe {
                next, picks: None, ..
            } => *next,
            Self::Stripe {
                next,
                picks: Some(picks),
                ..
            } => picks.other(*next),
            Self::Picked { group, picks } => picks.picked(*group),
        }
    }

    fn advance(&mut self) {
        match self {
            Self::Stripe { next, stride, .. } => *next += *stride,
            Self::Picked { group, .. } => *group += 1,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; times are not negative"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// An index as a double: exact below 2⁵³, which at the highest rate takes 28 years.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn double(index: u64) -> f64 {
    index as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Profile, Spacing};
    use proptest::prelude::*;

    fn stretches() -> impl Strategy<Value = Stretch> {
        let rate = || 0.5..3000.0;
        let profile = prop_oneof![
            rate().prop_map(|rate| Profile::Constant { rate }),
            (0.0..3000.0, 0.0..3000.0).prop_map(|(from, to)| Profile::Ramp { from, to }),
            (0.0..500.0, 0.0..300.0, 50..3000_u64).prop_map(|(from, step, every)| {
                Profile::Staircase {
                    from,
                    step,
                    every: Duration::from_millis(every),
                }
            }),
            (1..2000_u64).prop_map(|arrivals| Profile::StressPeak { arrivals }),
            (1..500_u64).prop_map(|arrivals| Profile::AtOnce { arrivals }),
            prop::collection::vec(0..3_000_000_000_u64, 0..500).prop_map(|mut times| {
                times.sort_unstable();
                Profile::Replay {
                    times: times.into(),
                }
            }),
            Just(Profile::Nothing),
        ];
        let spacing = prop::sample::select(vec![Spacing::Even, Spacing::Poisson, Spacing::Slots]);
        (profile, spacing, 1..3000_u64).prop_map(|(profile, spacing, length)| {
            let length = Duration::from_millis(length);
            let rated = !matches!(profile, Profile::AtOnce { .. } | Profile::Replay { .. });
            Stretch {
                length: match profile {
                    Profile::AtOnce { .. } => Duration::ZERO,
                    _ => length,
                },
                profile,
                spacing: match rated {
                    true => spacing,
                    false => Spacing::Even,
                },
            }
        })
    }

    proptest! {
        #[test]
        fn shards_and_lookout_together_offer_what_one_would(
            profile in prop::collection::vec(stretches(), 1..4),
            seed: u64,
            shards in prop::sample::select(vec![1_usize, 2, 4]),
            canary in prop::option::of(2..300_u64),
        ) {
            let total = Duration::from_millis(5500);
            let of = |part| Arrivals::new(&profile, seed, total, part);
            let alone: Vec<Arrival> = of(SchedulePart::All).collect();
            let seen: Vec<Arrival> = canary.map_or(vec![], |one_in| of(SchedulePart::Canary(one_in)).collect());
            let share = canary.map_or(0, |one_in| alone.len() as u64 / one_in);
            prop_assert!((share..=share + 1).contains(&(seen.len() as u64)));
            let mut together = seen;
            together.extend((0..shards).flat_map(|shard| of(SchedulePart::Shard { shard, shards, canary })));
            together.sort_by_key(|arrival| arrival.index);
            prop_assert_eq!(&together, &alone);
            prop_assert!(alone.is_sorted_by_key(|arrival| arrival.at));
            prop_assert!(alone.iter().enumerate().all(|(place, arrival)| arrival.index == place as u64));
            prop_assert_eq!(of(SchedulePart::Nothing).count(), 0);
        }

        /// However stretches follow each other, the arrivals before any moment are as many as the integral of the rate says.
        #[test]
        fn the_count_is_the_integral_of_the_rate(
            profile in prop::collection::vec(stretches(), 1..6),
            moment in 0.0..12.0,
        ) {
            let even = profile.iter().all(|stretch| stretch.spacing != Spacing::Poisson);
            let total = Duration::from_secs(100);
            let arrivals = Arrivals::new(&profile, 1, total, SchedulePart::All);
            let count = double(arrivals.take_while(|arrival| arrival.at < nanoseconds(moment)).count() as u64);
            let integral = expected(&profile, Duration::from_secs_f64(moment));
            // A fraction of an arrival may be rounded up where arrivals at given moments follow.
            let slack = if even { 2.0 + profile.len() as f64 } else { 6.0 * integral.sqrt() + 8.0 };
            prop_assert!((count - integral).abs() <= slack, "{count} {integral}");
        }
    }
}
