//! Bootstrap-t: the studentised mean's own distribution, by resampling blocks.
//!
//! Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), §12.5. Second-order accurate, so it follows skew that
//! Student's t ignores; needs about twenty numbers to resample.

use super::sample::{Sample, as_f64};
use plimsoll_base::random::{Draw, Stream};

/// How many resamples: 1,999 puts the 2.5 % and 97.5 % points exactly on order statistics.
const RESAMPLES: usize = 1_999;

/// The sorted studentised means of [`RESAMPLES`] resamples of `values`. The same `seed` and `index` give the same resamples.
pub(super) fn studentised_means(values: &[f64], seed: u64, index: u64) -> Vec<f64> {
    let Some(sample) = Sample::of(values) else {
        return Vec::new();
    };
    let mut draw = Draw::new(seed, Stream::Resample, index);
    let mut resample = vec![0.0; values.len()];
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for value in &mut resample {
                *value = values[below(&mut draw, values.len())];
            }
            Sample::of(&resample).map_or(0.0, |drawn| studentise(drawn, sample.mean))
        })
        .collect();
    means.sort_by(f64::total_cmp);
    means
}

/// The `p`-quantile of sorted studentised means: the order statistic at p·(B + 1).
pub(super) fn quantile(sorted: &[f64], p: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank between 0 and the number of resamples"
    )]
    let rank = (p * as_f64(sorted.len() + 1)).round().max(1.0) as usize;
    sorted[rank.min(sorted.len()) - 1]
}

/// A resample that drew one number only has no spread to studentise by; it counts as being at the centre.
fn studentise(drawn: Sample, centre: f64) -> f64 {
    if drawn.deviation > 0.0 {
        (drawn.mean - centre) / drawn.standard_error()
    } else {
        0.0
    }
}

fn below(draw: &mut Draw, bound: usize) -> usize {
    usize::try_from(draw.below(bound as u64)).expect("invariant: below a usize")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_key_same_resamples() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(
            studentised_means(&values, 1, 2),
            studentised_means(&values, 1, 2)
        );
        assert_ne!(
            studentised_means(&values, 1, 2),
            studentised_means(&values, 1, 3)
        );
    }

    #[test]
    fn quantiles_are_order_statistics() {
        let sorted: Vec<f64> = (1..=1_999).map(f64::from).collect();
        for (p, expected) in [
            (0.025, 50.0),
            (0.5, 1_000.0),
            (0.975, 1_950.0),
            (0.0, 1.0),
            (1.0, 1_999.0),
        ] {
            assert_eq!(quantile(&sorted, p), expected);
        }
    }

    /// Long right tail: the interval must reach further on the side of the tail than Student's does.
    #[test]
    fn skew_is_followed() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i).powi(4)).collect();
        let means = studentised_means(&values, 7, 0);
        assert!(-quantile(&means, 0.025) > quantile(&means, 0.975));
    }
}
