//! Confidence intervals of a mean difference over blocks: Student's t for few blocks, bootstrap-t for many.

use super::sample::Sample;
use super::{bootstrap, student};
use crate::record::IntervalMethod;

/// The confidence of every printed interval.
pub const CONFIDENCE: f64 = 0.95;

/// From this many blocks on, intervals are by bootstrap.
pub const BOOTSTRAP_FROM: usize = 20;

/// From this many on, intervals of a mean of skewed numbers are.
const SKEWED_FROM: usize = 8;

/// An interval of a quantity, in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it lies between −`margin` and `margin`.
    #[must_use]
    pub fn within(&self, margin: f64) -> bool {
        self.low >= -margin && self.high <= margin
    }
}

/// The distribution of the studentised mean, from which intervals of any confidence follow.
#[derive(Debug, Clone)]
pub enum Pivot {
    /// Student's t for a sample of this size.
    Student(usize),
    /// Sorted studentised means of resamples.
    Resampled(Vec<f64>),
}

impl Pivot {
    /// The pivot for these differences: by their number. `seed` and `index` (of the comparison) key the resampling.
    #[must_use]
    pub fn of(differences: &[f64], seed: u64, index: u64) -> Self {
        match method_for(differences.len()) {
            IntervalMethod::PairedT => Self::Student(differences.len()),
            IntervalMethod::BootstrapT => {
                Self::Resampled(bootstrap::studentised_means(differences, seed, index))
            }
        }
    }

    /// The pivot for numbers that may be skewed, whose mean itself is asked for: resampled from eight of them on.
    #[must_use]
    pub fn of_skewed(values: &[f64], seed: u64, index: u64) -> Self {
        if values.len() < SKEWED_FROM {
            return Self::Student(values.len());
        }
        Self::Resampled(bootstrap::studentised_means(values, seed, index))
    }

    /// The mean at this place, 0 to 1, of what `sample` leaves open: over uniform places it is distributed as intervals have it.
    #[must_use]
    pub fn mean_at(&self, sample: &Sample, place: f64) -> f64 {
        sample.mean - self.quantile(1.0 - place) * sample.standard_error()
    }

    /// The two-sided interval of the mean of `sample` with this `confidence` (0 to 1).
    #[must_use]
    pub fn interval(&self, sample: &Sample, confidence: f64) -> Interval {
        let tail = (1.0 - confidence) / 2.0;
        let error = sample.standard_error();
        Interval {
            low: sample.mean - self.quantile(1.0 - tail) * error,
            high: sample.mean - self.quantile(tail) * error,
        }
    }

    /// The chance of a mean as far from `null` as that of `sample`, on either side, if the truth is `null`.
    #[must_use]
    pub fn p(&self, sample: &Sample, null: f64) -> f64 {
        let [above, below] = self.tails(sample, null);
        (2.0 * above.min(below)).min(1.0)
    }

    /// The larger p-value of the two one-sided tests that the mean lies within ± `margin` (Schuirmann 1987).
    #[must_use]
    pub fn p_equivalent(&self, sample: &Sample, margin: f64) -> f64 {
        let [above, _] = self.tails(sample, -margin);
        let [_, below] = self.tails(sample, margin);
        above.max(below)
    }

    /// The chances of a mean at least as large and at most as large as that of `sample`, if the truth is `null`.
    fn tails(&self, sample: &Sample, null: f64) -> [f64; 2] {
        let (off, error) = (sample.mean - null, sample.standard_error());
        if error == 0.0 {
            return [
                f64::from(u8::from(off <= 0.0)),
                f64::from(u8::from(off >= 0.0)),
            ];
        }
        let t = off / error;
        match self {
            Self::Student(size) => [student::above(*size, t), student::above(*size, -t)],
            Self::Resampled(sorted) => {
                #[expect(clippy::cast_precision_loss, reason = "a number of resamples")]
                let share = |count: usize| (count + 1) as f64 / (sorted.len() + 1) as f64;
                let smaller = sorted.partition_point(|other| *other < t);
                let at_most = sorted.partition_point(|other| *other <= t);
                [share(sorted.len() - smaller), share(at_most)]
            }
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        match self {
            Self::Student(size) => student::quantile(*size, p),
            Self::Resampled(sorted) => bootstrap::quantile(sorted, p),
        }
    }
}

/// How intervals are computed for this many blocks.
#[must_use]
pub(crate) fn method_for(blocks: usize) -> IntervalMethod {
    if blocks < BOOTSTRAP_FROM {
        IntervalMethod::PairedT
    } else {
        IntervalMethod::BootstrapT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::{Draw, Stream};

    /// The paired example of Student (1908): ten patients, extra hours of sleep with L against D.
    #[test]
    fn students_sleep_data() {
        let differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let sample = Sample::of(&differences).unwrap();
        let interval = Pivot::of(&differences, 0, 0).interval(&sample, 0.95);
        assert!((interval.low - 0.7001).abs() < 1e-3, "{interval:?}");
        assert!((interval.high - 2.4599).abs() < 1e-3, "{interval:?}");
    }

    /// An interval of confidence 1 − p ends at the null, and one-sided tests agree with the interval of 90 %.
    #[test]
    fn p_values_agree_with_intervals() {
        for blocks in [8_u32, 40] {
            let mut draw = Draw::new(8, Stream::Data, u64::from(blocks));
            let differences: Vec<f64> = (0..blocks).map(|_| 0.4 + draw.normal()).collect();
            let sample = Sample::of(&differences).unwrap();
            let pivot = Pivot::of(&differences, 1, 0);
            let p = pivot.p(&sample, 0.0);
            let excludes = |confidence| {
                let interval = pivot.interval(&sample, confidence);
                interval.low > 0.0 || interval.high < 0.0
            };
            assert!(excludes(1.0 - p - 0.02) && !excludes(1.0 - p + 0.02), "{p}");
            let ninety = pivot.interval(&sample, 0.9);
            let reach = ninety.high.max(-ninety.low);
            assert!(pivot.p_equivalent(&sample, reach * 1.05) <= 0.05);
            assert!(pivot.p_equivalent(&sample, reach * 0.95) >= 0.05);
        }
    }

    #[test]
    fn no_spread_is_a_point() {
        for blocks in [6, 25] {
            let differences = vec![3.0; blocks];
            let sample = Sample::of(&differences).unwrap();
            let interval = Pivot::of(&differences, 0, 0).interval(&sample, 0.95);
            assert_eq!((interval.low, interval.high), (3.0, 3.0));
        }
    }

    /// Over seeded samples the 95 % interval holds the true mean about 95 % of the time; for skewed differences somewhat less.
    #[test]
    fn coverage() {
        let check = |blocks: usize,
                     draw_one: fn(&mut Draw) -> f64,
                     truth: f64,
                     samples: u64,
                     least: f64| {
            let held = (0..samples).filter(|index| {
                let mut draw = Draw::new(11, Stream::Data, *index);
                let differences: Vec<f64> = (0..blocks).map(|_| draw_one(&mut draw)).collect();
                let sample = Sample::of(&differences).unwrap();
                let interval = Pivot::of(&differences, 11, *index).interval(&sample, 0.95);
                interval.low <= truth && truth <= interval.high
            });
            let share = held.count() as f64 / samples as f64;
            assert!((least..0.985).contains(&share), "{blocks} blocks: {share}");
        };
        check(6, Draw::normal, 0.0, 2_000, 0.935);
        check(20, Draw::exponential, 1.0, 200, 0.90);
    }
}
