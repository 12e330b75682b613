//! When iterations are intended to start: pure, seeded functions of the arrival's index.
//!
//! Every profile says where arrival *i* lies; that is all that distinguishes them. Shard *k* of *N* takes the arrivals whose index is
//! *k* modulo *N*, so the shards together offer exactly what one would. Releasing arrivals in time is the engine's.

mod constant;
mod poisson;
mod ramp;
mod staircase;

use crate::plan::Profile;
use std::time::Duration;

/// One intended start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its place in the whole schedule, over all shards.
    pub index: u64,
    /// Nanoseconds from the start of the load, exact to the nanosecond as long as a double is.
    pub at: u64,
}

/// The arrivals of one shard in ascending order.
#[derive(Debug, Clone)]
pub struct Arrivals {
    schedule: Schedule,
    next: u64,
    stride: u64,
    end: u64,
}

/// Where arrival *i* lies, by profile. A schedule is asked for ascending indices only.
#[derive(Debug, Clone)]
enum Schedule {
    Constant(constant::Constant),
    Poisson(poisson::Poisson),
    Ramp(ramp::Ramp),
    Staircase(staircase::Staircase),
}

impl Arrivals {
    /// The arrivals of shard `shard` of `shards`, as far as they lie before `total`.
    ///
    /// # Panics
    /// Unless `shard < shards`.
    #[must_use]
    pub fn new(profile: Profile, seed: u64, total: Duration, shard: usize, shards: usize) -> Self {
        assert!(shard < shards, "shard {shard} of {shards}");
        let length = total.as_secs_f64();
        let schedule = match profile {
            Profile::Constant { rate } => Schedule::Constant(constant::Constant { rate }),
            Profile::Poisson { rate } => Schedule::Poisson(poisson::Poisson::new(rate, seed)),
            Profile::Ramp { from, to } => Schedule::Ramp(ramp::Ramp { from, to, length }),
            Profile::Staircase { from, step, every } => {
                Schedule::Staircase(staircase::Staircase::new(from, step, every, length))
            }
        };
        Self {
            schedule,
            next: shard as u64,
            stride: shards as u64,
            end: crate::clock::nanos(total),
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.next;
        let seconds = match &mut self.schedule {
            Schedule::Constant(constant) => Some(constant.at(index)),
            Schedule::Poisson(poisson) => Some(poisson.at(index)),
            Schedule::Ramp(ramp) => ramp.at(index),
            Schedule::Staircase(staircase) => staircase.at(index),
        }?;
        let at = nanoseconds(seconds);
        if at >= self.end {
            return None;
        }
        self.next += self.stride;
        Some(Arrival { index, at })
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
    use proptest::prelude::*;

    fn profiles() -> impl Strategy<Value = Profile> {
        let rate = || 0.5..3000.0;
        prop_oneof![
            rate().prop_map(|rate| Profile::Constant { rate }),
            rate().prop_map(|rate| Profile::Poisson { rate }),
            (0.0..3000.0, 0.0..3000.0).prop_map(|(from, to)| Profile::Ramp { from, to }),
            (0.0..500.0, 0.0..300.0, 50..3000_u64).prop_map(|(from, step, every)| {
                Profile::Staircase {
                    from,
                    step,
                    every: Duration::from_millis(every),
                }
            }),
        ]
    }

    proptest! {
        #[test]
        fn shards_together_offer_what_one_would(profile in profiles(), seed: u64, shards in prop::sample::select(vec![2_usize, 4])) {
            let total = Duration::from_millis(2500);
            let alone: Vec<Arrival> = Arrivals::new(profile, seed, total, 0, 1).collect();
            let mut together: Vec<Arrival> = (0..shards)
                .flat_map(|shard| Arrivals::new(profile, seed, total, shard, shards))
                .collect();
            together.sort_by_key(|arrival| arrival.index);
            prop_assert_eq!(&together, &alone);
            prop_assert!(alone.is_sorted_by_key(|arrival| arrival.at));
            prop_assert!(alone.iter().enumerate().all(|(place, arrival)| arrival.index == place as u64));
        }
    }
}
