//! Seeded randomness keyed by (seed, stream, index), so that one seed reproduces a run however its work is spread over shards.
//!
//! Nothing here has state between calls: the value for arrival 17 is the same whoever asks, in whichever order.
//! The generator behind a key is xoshiro256++ (Blackman and Vigna, 2019), seeded through SplitMix64.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Purpose of a random value. Streams of one seed are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Inter-arrival times.
    Arrivals = 1,
    /// Data that scenarios draw.
    Data = 2,
    /// Delays and faults of the mock.
    Delays = 3,
    /// Think times of closed users.
    Think = 4,
    /// The order of arms within a block, and of levels.
    Order = 5,
    /// Resampling in statistics.
    Resample = 6,
    /// Which arrivals are the canary's.
    Canary = 7,
    /// The ways that iterations take through their scenario.
    Ways = 8,
    /// The rows that feeders deal.
    Rows = 9,
    /// Pauses within iterations.
    Pauses = 13,
    /// Key of the schedules of further scenarios.
    Scenario = 12,
    /// Which endpoints of an upstream are compared.
    Endpoints = 14,
    /// When a secret is asked for anew.
    Refreshes = 15,
    /// Ids of traces and spans.
    Traces = 16,
    /// On which connections toxics work, and how.
    Toxics = 17,
    /// The moments of faults in trials.
    Trials = 18,
    /// Key of control loads.
    Control = 19,
    /// Who is broken in trials.
    Victims = 20,
}

/// A short deterministic sequence of random values for one key.
#[derive(Debug, Clone)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The sequence for `index` of `stream` under `seed`.
    #[must_use]
    pub fn new(seed: u64, stream: Stream, index: u64) -> Self {
        let key = split_mix(split_mix(split_mix(seed) ^ stream as u64) ^ index);
        Self(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in the half-open interval [0, 1), with 53 bits.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let value = (self.bits() >> 11) as f64;
        value * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A whole number below `bound` (which must be positive), without modulo bias worth noticing (bias < bound / 2⁶⁴).
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(bound);
        u64::try_from(wide >> 64)
            .expect("invariant: the high half of a 128-bit product fits 64 bits")
    }

    /// Exponential with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Standard normal, by the Box–Muller transform.
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles `items` (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen =
                usize::try_from(self.below(last as u64 + 1)).expect("invariant: below a usize");
            items.swap(last, chosen);
        }
    }
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014): a bijection that scatters nearby keys.
fn split_mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_always_gives_the_same_values() {
        let values = |index| {
            let mut draw = Draw::new(42, Stream::Arrivals, index);
            [draw.bits(), draw.bits()]
        };
        assert_eq!(values(7), values(7));
        assert_ne!(values(7), values(8));
        assert_ne!(
            Draw::new(42, Stream::Data, 7).bits(),
            Draw::new(42, Stream::Arrivals, 7).bits()
        );
    }

    /// Over 20,000 keyed draws each mean lies within five standard errors of its expectation.
    #[test]
    fn moments_over_indices() {
        let n = 20_000_u32;
        let mean = |f: fn(&mut Draw) -> f64| {
            (0..n)
                .map(|i| f(&mut Draw::new(1, Stream::Data, u64::from(i))))
                .sum::<f64>()
                / f64::from(n)
        };
        let close = |actual: f64, expected: f64, deviation: f64| {
            let limit = 5.0 * deviation / f64::from(n).sqrt();
            assert!(
                (actual - expected).abs() < limit,
                "{actual} should be within {limit} of {expected}"
            );
        };
        close(mean(Draw::unit), 0.5, 0.289);
        close(mean(Draw::exponential), 1.0, 1.0);
        close(mean(Draw::normal), 0.0, 1.0);
        close(mean(|d| d.normal().powi(2)), 1.0, 1.5);
        close(
            mean(|d| if d.below(3) == 2 { 1.0 } else { 0.0 }),
            1.0 / 3.0,
            0.472,
        );
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Draw::new(3, Stream::Order, 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
