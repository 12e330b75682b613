//! The smallest effect that a number of blocks can find: 80 % power at 5 %, two-sided, by the paired t test.
//!
//! Exact for normal differences: the power is that of the noncentral t distribution, P(|T| > t) with
//! T = (Z + δ)/√(χ²/ν) (Johnson, Kotz, Balakrishnan, *Continuous Univariate Distributions* 2, ch. 31), integrated over χ².

use super::sample::as_f64;
use super::student;
use statrs::distribution::{ChiSquared, Continuous as _, ContinuousCDF as _, Normal};

const POWER: f64 = 0.8;
const SIGNIFICANCE: f64 = 0.05;
/// More blocks than this are no advice.
pub(super) const MOST_BLOCKS: usize = 1_000;

/// The smallest true difference that `blocks` blocks find, when differences per block have this standard `deviation`.
///
/// Infinite for fewer than two blocks.
#[must_use]
pub fn minimum_detectable(blocks: usize, deviation: f64) -> f64 {
    if blocks < 2 {
        return f64::INFINITY;
    }
    if deviation == 0.0 {
        return 0.0;
    }
    let test = PairedTest::over(blocks);
    // Power grows with the effect: bisect. No sample of two blocks or more needs an effect beyond 100 deviations.
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if test.power(middle) < POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    high * deviation
}

/// How many blocks find a true difference of `effect`; `None` when a thousand do not.
#[must_use]
pub fn blocks_to_detect(effect: f64, deviation: f64) -> Option<usize> {
    let found = |blocks: usize| PairedTest::over(blocks).power(effect / deviation) >= POWER;
    if deviation == 0.0 {
        return Some(2);
    }
    if !found(MOST_BLOCKS) {
        return None;
    }
    let (mut low, mut high) = (1, MOST_BLOCKS);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if found(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The two-sided paired t test over a number of blocks.
struct PairedTest {
    blocks: f64,
    critical: f64,
    /// Values of s = √(χ²/ν) with their probabilities.
    spread: Vec<(f64, f64)>,
}

impl PairedTest {
    /// The test over `blocks`, at least two. The density of s is cut where nearly nothing is left of it, at 1 + 6/√(2ν).
    fn over(blocks: usize) -> Self {
        const PIECES: u32 = 250;
        let freedom = as_f64(blocks) - 1.0;
        let chi = ChiSquared::new(freedom).expect("invariant: positive degrees of freedom");
        let width = (1.0 + 6.0 / (2.0 * freedom).sqrt()) / f64::from(PIECES);
        let spread = (0..PIECES).map(|piece| {
            let s = (f64::from(piece) + 0.5) * width;
            (s, chi.pdf(freedom * s * s) * 2.0 * freedom * s * width)
        });
        Self {
            blocks: as_f64(blocks),
            critical: student::quantile(blocks, 1.0 - SIGNIFICANCE / 2.0),
            spread: spread.collect(),
        }
    }

    /// The chance that it finds an effect of this many standard deviations.
    fn power(&self, effect: f64) -> f64 {
        let shift = effect * self.blocks.sqrt();
        let normal = Normal::standard();
        let beyond =
            |s: f64| normal.sf(self.critical * s - shift) + normal.cdf(-self.critical * s - shift);
        self.spread
            .iter()
            .map(|(s, probability)| beyond(*s) * probability)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_factors() {
        for (blocks, factor) in [
            (6, 1.43),
            (8, 1.15),
            (10, 0.99),
            (12, 0.89),
            (15, 0.78),
            (20, 0.66),
            (30, 0.53),
        ] {
            let actual = minimum_detectable(blocks, 1.0);
            assert!((actual - factor).abs() < 0.0075, "{blocks}: {actual}");
        }
    }

    #[test]
    fn scales_with_the_deviation() {
        assert!((minimum_detectable(6, 2.0) / minimum_detectable(6, 1.0) - 2.0).abs() < 1e-9);
        assert_eq!(minimum_detectable(6, 0.0), 0.0);
        assert_eq!(minimum_detectable(1, 1.0), f64::INFINITY);
    }

    #[test]
    fn power_without_effect_is_the_significance() {
        for blocks in [3, 6, 30, 200] {
            let power = PairedTest::over(blocks).power(0.0);
            assert!((power - 0.05).abs() < 1e-3, "{blocks}: {power}");
        }
    }

    #[test]
    fn blocks_are_the_inverse() {
        for blocks in [4, 6, 12, 30, 90] {
            let effect = minimum_detectable(blocks, 1.0) * (1.0 + 1e-9);
            assert_eq!(blocks_to_detect(effect, 1.0), Some(blocks));
        }
        assert_eq!(blocks_to_detect(0.001, 1.0), None);
    }
}
