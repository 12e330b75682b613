//! A figure of the response time at one delay, and the least squares line over several.

use crate::statistics::sample::as_f64;

/// A figure of the response time while a link is delayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The delay that was added to the link, in seconds.
    pub delay_s: f64,
    /// The mean or a quantile of the response times, in seconds.
    pub value: f64,
}

/// The slope of the least squares line, Σ(d − d̄)(v − v̄) / Σ(d − d̄)², in seconds per second of delay; `None` for fewer than two delays.
pub(super) fn least_squares(levels: &[Level]) -> Option<f64> {
    let n = as_f64(levels.len());
    let mean_of = |of: fn(&Level) -> f64| levels.iter().map(of).sum::<f64>() / n;
    let (delay, value) = (mean_of(|level| level.delay_s), mean_of(|level| level.value));
    let (mut products, mut squares) = (0.0, 0.0);
    for level in levels {
        let off = level.delay_s - delay;
        products += off * (level.value - value);
        squares += off * off;
    }
    (delays(levels).len() > 1).then(|| products / squares)
}

/// The delays of these levels, ascending, each once.
pub(super) fn delays<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Vec<f64> {
    let mut delays: Vec<f64> = levels.into_iter().map(|level| level.delay_s).collect();
    delays.sort_by(f64::total_cmp);
    delays.dedup();
    delays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_hand() {
        let check = |levels: &[(f64, f64)], expected: Option<f64>| {
            let of = |&(delay_s, value): &(f64, f64)| Level { delay_s, value };
            let levels: Vec<Level> = levels.iter().map(of).collect();
            assert_eq!(least_squares(&levels), expected);
        };
        check(&[(0.0, 5.0), (1.0, 7.0), (2.0, 9.0)], Some(2.0));
        // In any order; Σ of products 4 over Σ of squares 2.
        check(&[(2.0, 5.0), (0.0, 1.0), (1.0, 0.0)], Some(2.0));
        // A delay that was measured twice counts twice.
        check(&[(0.0, 0.0), (0.0, 2.0), (1.0, 3.0)], Some(2.0));
        check(&[(1.0, 5.0), (1.0, 6.0)], None);
        check(&[], None);
    }
}
