//! Confidence intervals of a quantile from order statistics, without any assumption on the distribution.
//!
//! The number of times below the p-quantile is binomial, so ranks np ± z√(np(1−p)) hold it (David and Nagaraja, *Order Statistics*,
//! 2003, §7.1). Times are taken as independent, which neighbours are not: whoever uses this adds a margin of its own.

use super::interval::Interval;
use plimsoll_base::histogram::TimeHistogram;

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.96;

/// The 95 % interval of the quantile `p` (0 to 1, exclusive) in seconds; `None` where there are too few times for one of its ends.
#[must_use]
pub fn quantile_interval(histogram: &TimeHistogram, p: f64) -> Option<Interval> {
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let n = histogram.count() as f64;
    let reach = Z * (n * p * (1.0 - p)).sqrt();
    let (low, high) = (n * p - reach, n * p + reach + 1.0);
    if low < 1.0 || high > n {
        return None;
    }
    Some(Interval {
        low: histogram.quantile(low / n)?,
        high: histogram.quantile(high / n)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::{Draw, Stream};

    fn sample(size: u64, index: u64) -> TimeHistogram {
        let mut draw = Draw::new(5, Stream::Data, index);
        let mut histogram = TimeHistogram::new();
        for _ in 0..size {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a time"
            )]
            histogram.record_nanos((draw.exponential() * 1e8) as u64);
        }
        histogram
    }

    /// Of 100 exponential samples at least 91 % hold the true quantile.
    #[test]
    fn coverage() {
        for p in [0.5, 0.9, 0.99] {
            let truth = -0.1 * (1.0_f64 - p).ln();
            let held = (0..100)
                .filter_map(|index| quantile_interval(&sample(2_000, index), p))
                .filter(|interval| interval.low <= truth && truth <= interval.high)
                .count();
            assert!(held >= 91, "{p}: {held} of 100");
        }
    }

    #[test]
    fn too_few_times_have_no_interval() {
        assert_eq!(quantile_interval(&sample(300, 1), 0.99), None);
        assert_eq!(quantile_interval(&TimeHistogram::new(), 0.5), None);
    }
}
