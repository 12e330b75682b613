//! Confidence intervals of a quantile from order statistics, without any assumption on the distribution.
//!
//! The number of times below the p-quantile is binomial, so ranks np ± z√(np(1−p)) hold it (David and Nagaraja, *Order Statistics*,
//! 2003, §7.1). Times are taken as independent, which neighbours are not: whoever uses this adds a margin of its own.
//!
//! Who asks on one side only, whether a quantile lies below a limit, has the exact rank of the binomial distribution that bounds it with 95 %.

use super::interval::Interval;
use plimsoll_base::histogram::TimeHistogram;
use statrs::distribution::{Binomial, DiscreteCDF as _};

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.96;
/// How often a one-sided bound may be wrong.
const WRONG: f64 = 0.05;

/// The rank from 1, of `count` times, of one that lies at or above the quantile `p` with 95 % confidence; `None` where none does.
#[must_use]
pub(super) fn rank_above(p: f64, count: u64) -> Option<f64> {
    // So many lie below the quantile at most.
    let below = Binomial::new(p, count).ok()?.inverse_cdf(1.0 - WRONG);
    #[expect(clippy::cast_precision_loss, reason = "a rank")]
    (below < count).then_some((below + 1) as f64)
}

/// The rank from 1, of `count` times, of one that lies at or below the quantile `p` with 95 % confidence; `None` where none does.
#[must_use]
pub(super) fn rank_below(p: f64, count: u64) -> Option<f64> {
    // So many lie below the quantile at least.
    let below = Binomial::new(p, count).ok()?.inverse_cdf(WRONG);
    #[expect(clippy::cast_precision_loss, reason = "a rank")]
    (below > 0).then_some(below as f64)
}

/// Ends of the quantile `p` (0 to 1, exclusive), each right with 95 % by itself: by the exact ranks among sorted values that none of them
/// is less than, and among such that none is more than. `None` for too few of them.
#[must_use]
pub fn one_sided_bounds(p: f64, at_least: &[f64], at_most: &[f64]) -> (Option<f64>, Option<f64>) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank"
    )]
    let at = |sorted: &[f64], rank: f64| sorted.get(rank as usize - 1).copied();
    let low = rank_below(p, at_least.len() as u64).and_then(|rank| at(at_least, rank));
    let high = rank_above(p, at_most.len() as u64).and_then(|rank| at(at_most, rank));
    (low, high)
}

/// How many times it takes until the largest bounds the quantile `p` from above with 95 % confidence: until `pⁿ` is at most 5 %.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
pub fn times_to_bound(p: f64) -> u64 {
    (WRONG.ln() / p.ln()).ceil() as u64
}

/// The 95 % interval of the quantile `p` (0 to 1, exclusive) in seconds; `None` where there are too few times for one of its ends.
#[must_use]
pub fn quantile_interval(histogram: &TimeHistogram, p: f64) -> Option<Interval> {
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let n = histogram.count() as f64;
    let reach = Z * (n * p * (1.0 - p)).sqrt();
    let (low, high) = (n * p - reach, n * p + reach + 1.0);
    let at = |rank: f64| {
        let exists = (1.0..=n).contains(&rank);
        exists.then(|| histogram.quantile(rank / n)).flatten()
    };
    Some(Interval {
        low: at(low)?,
        high: at(high)?,
    })
}

/// The 95 % interval of the median of sorted values, by the exact ranks; `None` for fewer than six of them.
#[must_use]
pub fn median_interval(sorted: &[f64]) -> Option<Interval> {
    let count = sorted.len() as u64;
    let below = Binomial::new(0.5, count).ok()?.inverse_cdf(WRONG / 2.0);
    // The rank from 1 that so many lie below with less than half of the chance to be wrong.
    let rank = usize::try_from(below).ok().filter(|rank| *rank > 0)?;
    Some(Interval {
        low: sorted[rank - 1],
        high: sorted[sorted.len() - rank],
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
    fn the_largest_of_enough_times_bounds_a_quantile() {
        for (p, expected) in [(0.5, 5), (0.9, 29), (0.99, 299), (0.999, 2_995)] {
            let many = times_to_bound(p);
            assert_eq!(many, expected, "{p}");
            #[expect(clippy::cast_precision_loss, reason = "a rank")]
            let largest = Some(many as f64);
            assert_eq!(rank_above(p, many), largest, "{p}");
            assert_eq!(rank_above(p, many - 1), None, "{p}");
        }
        // Of 100 times 41 lie below the median with 95 %, and 59 above.
        assert_eq!(
            (rank_below(0.5, 100), rank_above(0.5, 100)),
            (Some(42.0), Some(59.0))
        );
        assert_eq!(rank_below(0.01, 100), None);
    }

    /// Printed tables of ranks: 1 of 6 to 8, 2 of 9 to 11, 10 of 30 (e.g. Conover, *Practical Nonparametric Statistics*).
    #[test]
    fn ranks_of_the_median() {
        for (size, rank) in [
            (5_u32, None),
            (6, Some(1)),
            (8, Some(1)),
            (9, Some(2)),
            (30, Some(10)),
        ] {
            let sorted: Vec<f64> = (1..=size).map(f64::from).collect();
            let found = median_interval(&sorted).map(|found| (found.low, found.high));
            let expected = rank.map(|rank| (f64::from(rank), f64::from(size + 1 - rank)));
            assert_eq!(found, expected, "{size}");
        }
    }

    #[test]
    fn too_few_times_have_no_interval() {
        assert_eq!(quantile_interval(&sample(300, 1), 0.99), None);
        assert_eq!(quantile_interval(&TimeHistogram::new(), 0.5), None);
    }
}
