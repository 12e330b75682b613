//! The chance of something rare from how often it happened in a number of trials, exactly: by the binomial distribution.

use super::interval::{CONFIDENCE, Interval};
use statrs::distribution::{Beta, ContinuousCDF as _};

/// How often a one-sided bound may be wrong.
const WRONG: f64 = 1.0 - CONFIDENCE;

/// The 95 % interval of the chance of what happened in `part` of `whole` trials (Clopper and Pearson, 1934).
#[must_use]
pub fn clopper_pearson(part: u64, whole: u64) -> Interval {
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    let (k, n) = (part.min(whole) as f64, whole as f64);
    let quantile = |a: f64, b: f64, p: f64| {
        Beta::new(a, b)
            .expect("invariant: both ends were looked at before")
            .inverse_cdf(p)
    };
    Interval {
        low: match part {
            0 => 0.0,
            _ => quantile(k, n - k + 1.0, WRONG / 2.0),
        },
        high: match part < whole {
            true => quantile(k + 1.0, n - k, 1.0 - WRONG / 2.0),
            false => 1.0,
        },
    }
}

/// The chance that trials of which none showed it leave open, with 95 % confidence: `(1 − share)^trials = 5 %`.
#[must_use]
pub fn left_open_by(trials: u64) -> f64 {
    1.0 - bounded_by_largest_of(trials)
}

/// The share of all cases that the largest of so many bounds, with 95 % confidence: `0.05^(1/trials)`.
#[must_use]
pub fn bounded_by_largest_of(trials: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    let n = trials as f64;
    if trials == 0 {
        0.0
    } else {
        WRONG.powf(1.0 / n)
    }
}

/// How many trials of which none shows it rule out a chance of `share`, with 95 % confidence; `None` unless it is between 0 and 1.
#[must_use]
pub fn trials_to_rule_out(share: f64) -> Option<f64> {
    (share > 0.0 && share < 1.0).then(|| (WRONG.ln() / (-share).ln_1p()).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed tables (e.g. R's `binom.test`).
    #[test]
    fn exact_intervals() {
        for (part, whole, low, high) in [
            (0, 10, 0.0, 0.308_5),
            (1, 20, 0.001_3, 0.248_7),
            (5, 10, 0.187_1, 0.812_9),
            (10, 10, 0.691_5, 1.0),
            (0, 0, 0.0, 1.0),
        ] {
            let found = clopper_pearson(part, whole);
            let off = (found.low - low).abs().max((found.high - high).abs());
            assert!(off < 1e-4, "{part} of {whole}: {found:?}");
        }
    }

    #[test]
    fn trials_without_a_failure() {
        assert!((left_open_by(6) - 0.393).abs() < 5e-4);
        assert!((bounded_by_largest_of(59) - 0.95).abs() < 5e-4);
        assert!((bounded_by_largest_of(20) - 0.861).abs() < 5e-4);
        assert_eq!(trials_to_rule_out(0.05), Some(59.0));
        assert_eq!(trials_to_rule_out(0.0), None);
        assert!((left_open_by(0) - 1.0).abs() < 1e-12);
    }
}
