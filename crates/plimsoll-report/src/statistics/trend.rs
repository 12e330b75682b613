//! Mann–Kendall's test for a trend (Mann 1945), with ties, and over several stretches of time at once (Hirsch, Slack and Smith, *Techniques
//! of trend analysis for monthly water quality data*, 1982): values are compared within their own stretch only, so what differs between
//! stretches is no trend.
//!
//! Nothing is assumed of how values are distributed, but that they are independent of their neighbours.

use std::cmp::Ordering;

/// How often later values are larger than earlier ones, less how often they are smaller.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Trend {
    score: f64,
    /// Of the score, were every order of the values as likely.
    variance: f64,
}

impl Trend {
    /// Of one stretch.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let mut score = 0.0;
        for (place, earlier) in values.iter().enumerate() {
            for later in &values[place + 1..] {
                score += match later.total_cmp(earlier) {
                    Ordering::Less => -1.0,
                    Ordering::Equal => 0.0,
                    Ordering::Greater => 1.0,
                };
            }
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let ties = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
        let tied: f64 = ties.map(|tie| orders(tie.len())).sum();
        Self {
            score,
            variance: orders(values.len()) - tied,
        }
    }

    /// Of both stretches.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            score: self.score + other.score,
            variance: self.variance + other.variance,
        }
    }

    /// Standard deviations, corrected for continuity: positive where values rise.
    #[must_use]
    pub fn deviations(self) -> f64 {
        if self.variance <= 0.0 {
            return 0.0;
        }
        self.score.signum() * (self.score.abs() - 1.0).max(0.0) / self.variance.sqrt()
    }
}

/// The variance of the score of so many values.
#[expect(clippy::cast_precision_loss, reason = "a count of values")]
fn orders(count: usize) -> f64 {
    let n = count as f64;
    n * (n - 1.0) * (2.0 * n + 5.0) / 18.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expected: f64) {
        let found = Trend::of(values).deviations();
        assert!((found - expected).abs() < 5e-4, "{values:?}: {found}");
    }

    #[test]
    fn known_scores() {
        // S = 45 of 45 pairs, variance 125.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], 3.9355);
        check(&[3.0, 2.0, 1.0], -1.0445);
        check(&[1.0, 3.0, 2.0, 4.0], 1.0190);
        // A tie of two takes 2·1·9/18 from the variance.
        check(&[1.0, 2.0, 2.0, 4.0], 1.4446);
        check(&[5.0, 5.0, 5.0], 0.0);
        check(&[], 0.0);
    }

    #[test]
    fn stretches_are_not_held_against_each_other() {
        let (low, high) = (Trend::of(&[1.0, 2.0]), Trend::of(&[102.0, 101.0]));
        assert_eq!(low.and(high).deviations(), 0.0);
    }
}
