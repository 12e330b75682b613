//! The part of all arrivals that a partial outage hits: how far the outage may reach beyond its first and last failure.
//!
//! Good answers between failures are of callers whom the fault does not hit, and so are those right before and after: they bound nothing.
//! Arrivals of those who are hit do, and of these only failures are known. If arrivals that are hit come at random, `k` of them
//! lie uniformly within the outage, and their range is to its length as Beta(k − 1, 2) (David and Nagaraja, *Order Statistics*, 2003, §2.3):
//! `range / quantile` bounds the length whatever the share is. Where accounts are dealt in turn they come evenly, and no gap is much longer
//! than another: then the outage ends within one such gap of either failure.

use crate::statistics::Sample;
use statrs::distribution::{Beta, ContinuousCDF as _};

/// The chance that an outage was longer than its upper end.
const WRONG: f64 = 0.015;
/// By the least number of gaps: their deviation as a part of their mean up to which they are even. Of random arrivals fewer than one in a hundred
/// vary so little (20,000 simulated draws of each number), and of fewer gaps nobody can tell.
const EVEN: [(usize, f64); 3] = [(11, 0.5), (8, 0.43), (5, 0.29)];

/// Length of a partial outage by its failures, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Length {
    /// The best single figure.
    pub(super) estimate: f64,
    /// Its upper end.
    pub(super) high: f64,
}

/// The length of a partial outage, of whose failures, at least two, these are the intended `starts`.
pub(super) fn length(starts: &[f64]) -> Length {
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let range: f64 = gaps.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "a number of failures")]
    let between = gaps.len() as f64;
    if is_even(&gaps) {
        let gap = range / between;
        return Length {
            estimate: range + gap,
            high: range + 2.0 * gap,
        };
    }
    let ratio = Beta::new(between, 2.0).expect("invariant: at least two failures");
    Length {
        // The mean of Beta(k − 1, 2) is (k − 1)/(k + 1).
        estimate: range * (between + 2.0) / between,
        high: range / ratio.inverse_cdf(WRONG),
    }
}

fn is_even(gaps: &[f64]) -> bool {
    let mut limits = EVEN.iter();
    let limit = limits.find(|(least, _)| gaps.len() >= *least);
    let sample = limit.and_then(|(_, limit)| Some((limit, Sample::of(gaps)?)));
    sample.is_some_and(|(limit, sample)| sample.deviation <= limit * sample.mean)
}
