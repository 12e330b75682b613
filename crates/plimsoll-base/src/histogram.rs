//! Histograms of times: 3 significant digits from 1 µs to 1 h, merged bucket by bucket, carried as HdrHistogram V2.
//!
//! Times are given and returned in nanoseconds or seconds; inside they are whole microseconds, rounded to the nearest.
//! A time above one hour is recorded as one hour; there is no other loss. Percentiles are never averaged: merge first.

mod log;

pub use log::LogEncoder;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const HIGHEST_US: u64 = 3_600_000_000;
const DIGITS: u8 = 3;
const IN_MEMORY: &str = "invariant: writing to memory does not fail";

/// A histogram of times. Two of them always have the same buckets, as far as both reach, so merging loses nothing.
///
/// It has buckets up to the longest time that it has seen: 16 kB up to 2 ms, 90 kB up to a second, 190 kB up to an hour.
#[derive(Debug, Clone)]
pub struct TimeHistogram(Histogram<u64>);

impl Default for TimeHistogram {
    fn default() -> Self {
        Self(Histogram::new(DIGITS).expect("invariant: constant bounds are valid"))
    }
}

impl PartialEq for TimeHistogram {
    fn eq(&self, other: &Self) -> bool {
        // The library compares as far as the left one reaches.
        match self.0.distinct_values() <= other.0.distinct_values() {
            true => self.0 == other.0,
            false => other.0 == self.0,
        }
    }
}

/// A histogram that could not be read back.
#[derive(Debug, thiserror::Error)]
#[error("not an HdrHistogram V2 of times: {0}")]
pub struct DecodeError(String);

impl TimeHistogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one time.
    pub fn record(&mut self, time: Duration) {
        self.record_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Records one time, in nanoseconds: the form of the hot path.
    pub fn record_nanos(&mut self, nanos: u64) {
        let micros = nanos.saturating_add(500) / 1000;
        self.record_micros(micros, 1);
    }

    /// Records a time that was counted so often elsewhere, at least once.
    pub fn record_many(&mut self, nanos: u64, count: u64) {
        let micros = nanos.saturating_add(500) / 1000;
        self.record_micros(micros, count);
    }

    fn record_micros(&mut self, micros: u64, count: u64) {
        self.0
            .record_n(micros.min(HIGHEST_US), count)
            .expect("invariant: it grows up to the highest");
    }

    /// Adds every count of `other`, bucket by bucket.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("invariant: it grows up to the highest");
    }

    /// Takes away every count of `other`, which must have been merged into it, or recorded in both.
    pub fn subtract(&mut self, other: &Self) {
        self.0
            .subtract(&other.0)
            .expect("invariant: what is taken away is there");
    }

    /// Forgets every count and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// How many times were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The `q`-quantile (0 to 1) in seconds: the middle of the bucket in which the ⌈q·n⌉-th time lies, at most 0.05 % off, but never
    /// outside [`Self::min`] and [`Self::max`]; `None` when empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let (min, max) = (self.min()?, self.max()?);
        let middle = seconds(self.0.median_equivalent(self.0.value_at_quantile(q)));
        Some(middle.clamp(min, max))
    }

    /// The smallest recorded time in seconds, within its bucket; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        (!self.is_empty()).then(|| seconds(self.0.min()))
    }

    /// The largest recorded time in seconds, within its bucket; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        (!self.is_empty()).then(|| seconds(self.0.lowest_equivalent(self.0.max())))
    }

    /// The mean in seconds, from bucket middles; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.0.mean() * 1e-6)
    }

    /// The standard deviation in seconds, from bucket middles; `None` when empty.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.0.stdev() * 1e-6)
    }

    /// Every non-empty bucket as (upper edge in seconds, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.0.iter_recorded().map(|v| {
            (
                seconds(v.value_iterated_to()),
                v.count_since_last_iteration(),
            )
        })
    }

    /// How many recorded times are at most `limit` seconds, to the resolution of the buckets.
    #[must_use]
    pub fn count_at_most(&self, limit: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the histogram's range"
        )]
        let micros = (limit * 1e6).clamp(0.0, 3.6e9) as u64;
        self.0.count_between(0, micros)
    }

    /// The plain V2 form in base64, with the bounds that this histogram has: quick to write and to read.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.0, &mut bytes)
            .expect(IN_MEMORY);
        STANDARD.encode(bytes)
    }

    /// Reads what [`Self::encode`] or [`LogEncoder::encode`] wrote.
    ///
    /// # Errors
    /// [`DecodeError`] when the text is not base64 of a V2 histogram, or one of its times is above an hour.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|e| DecodeError(e.to_string()))?;
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|e| DecodeError(e.to_string()))?;
        if read.lowest_equivalent(read.max()) > HIGHEST_US {
            return Err(DecodeError("a time above an hour".to_owned()));
        }
        let mut own = Self::default();
        own.0.add(read).map_err(|e| DecodeError(e.to_string()))?;
        Ok(own)
    }
}

impl Serialize for TimeHistogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> Deserialize<'de> for TimeHistogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::decode(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 3.6e9 microseconds")]
fn seconds(micros: u64) -> f64 {
    micros as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> TimeHistogram {
        let mut histogram = TimeHistogram::new();
        values.iter().for_each(|v| histogram.record_nanos(*v));
        histogram
    }

    #[test]
    fn empty_has_no_figures() {
        let empty = TimeHistogram::new();
        assert_eq!(
            (
                empty.quantile(0.5),
                empty.min(),
                empty.max(),
                empty.mean(),
                empty.count()
            ),
            (None, None, None, None, 0)
        );
    }

    #[test]
    fn figures_within_a_thousandth() {
        let histogram = of(&(1..=1000).map(|ms| ms * 1_000_000).collect::<Vec<_>>());
        let close = |actual: Option<f64>, expected: f64| {
            assert!(
                (actual.unwrap() / expected - 1.0).abs() < 1e-3,
                "{actual:?} {expected}"
            )
        };
        close(histogram.quantile(0.5), 0.5);
        close(histogram.quantile(0.99), 0.99);
        close(histogram.mean(), 0.5005);
        close(histogram.deviation(), 0.288_675);
        close(histogram.min(), 0.001);
        close(histogram.max(), 1.0);
        assert_eq!(histogram.count_at_most(0.1), 100);
    }

    #[test]
    fn beyond_the_range_is_clamped_not_lost() {
        let histogram = of(&[0, u64::MAX]);
        assert_eq!(histogram.count(), 2);
        assert!(histogram.max().unwrap() > 3590.0);
    }

    #[test]
    fn the_longest_time_is_read_back_and_a_longer_one_refused() {
        let longest = of(&[1, u64::MAX]);
        assert_eq!(TimeHistogram::decode(&longest.encode()).unwrap(), longest);
        let mut foreign = TimeHistogram(Histogram::new(DIGITS).unwrap());
        foreign.0.record(2 * HIGHEST_US).unwrap();
        assert!(TimeHistogram::decode(&foreign.encode()).is_err());
    }

    proptest! {
        #[test]
        fn quantiles_ascend_from_min_to_max(values in prop::collection::vec(0u64..4_000_000_000_000, 1..50)) {
            let histogram = of(&values);
            let figures = [histogram.min(), histogram.quantile(0.5), histogram.quantile(0.99), histogram.quantile(1.0), histogram.max()];
            prop_assert!(figures.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", figures);
        }

        #[test]
        fn merging_parts_is_recording_the_whole(values in prop::collection::vec(0u64..4_000_000_000_000, 0..200), parts in 1usize..5) {
            let mut merged = TimeHistogram::new();
            for part in 0..parts {
                merged.merge(&of(&values.iter().copied().skip(part).step_by(parts).collect::<Vec<_>>()));
            }
            prop_assert_eq!(&merged, &of(&values));
            prop_assert_eq!(&TimeHistogram::decode(&merged.encode()).unwrap(), &merged);
        }

        #[test]
        fn how_far_a_histogram_reaches_makes_no_difference(values in prop::collection::vec(0u64..4_000_000_000_000, 0..50), longest in 0u64..4_000_000_000_000) {
            let own = of(&values);
            let mut wider = of(&values);
            wider.record_nanos(longest);
            prop_assert_ne!(&own, &wider);
            prop_assert_ne!(&wider, &own);
            let mut single = of(&[longest]);
            wider.subtract(&single);
            prop_assert_eq!(&own, &wider);
            prop_assert_eq!(&wider, &own);
            single.merge(&own);
            single.subtract(&of(&[longest]));
            prop_assert_eq!(&single, &own);
            prop_assert_eq!(single.quantile(0.9), own.quantile(0.9));
            prop_assert_eq!(single.count_at_most(1.0), own.count_at_most(1.0));
            prop_assert_eq!(single.deviation(), own.deviation());
        }
    }
}
