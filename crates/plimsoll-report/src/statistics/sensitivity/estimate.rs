//! A quantity with its interval over blocks.

use crate::statistics::detectable::MOST_BLOCKS;
use crate::statistics::interval::{CONFIDENCE, Pivot};
use crate::statistics::sample::{Sample, as_f64};
use crate::statistics::student;

/// A quantity and its 95 % interval, in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The quantity itself.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// The mean of one number per block, x̄ ± t(n − 1; 0.975) · s/√n; `None` for fewer than two blocks.
    ///
    /// By Student's t for any number of blocks: a block's slope or gain is a weighted sum of means over many exchanges and so nearly
    /// normal, while the bootstrap-t of other comparisons follows a skew that these do not have.
    #[must_use]
    pub fn of(per_block: &[f64]) -> Option<Self> {
        let sample = Sample::of(per_block)?;
        let interval = Pivot::Student(sample.size).interval(&sample, CONFIDENCE);
        Some(Self {
            value: sample.mean,
            low: interval.low,
            high: interval.high,
        })
    }

    /// Whether `value` lies in the interval.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether the two intervals have no value in common.
    ///
    /// Stricter than a test of the difference at 5 %: of two alike quantities measured apart it is true in less than 1 %.
    #[must_use]
    pub fn apart(&self, other: &Self) -> bool {
        self.high < other.low || other.high < self.low
    }

    /// How many blocks more than these would tell both apart if they varied as they did: an interval over n blocks reaches
    /// t(n − 1; 0.975)/√n standard deviations to either side. `None` where a thousand blocks would not.
    #[must_use]
    pub fn blocks_to_part(&self, other: &Self, blocks: usize) -> Option<usize> {
        let reach = |blocks: usize| {
            student::quantile(blocks, f64::midpoint(1.0, CONFIDENCE)) / as_f64(blocks).sqrt()
        };
        let apart = (self.value - other.value).abs();
        let deviations = f64::midpoint(self.width(), other.width()) / reach(blocks);
        let needed = (blocks + 1..=MOST_BLOCKS).find(|&n| deviations * reach(n) < apart);
        needed.map(|needed| needed - blocks)
    }

    /// From the lower end to the upper.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2 and 3 have deviation 1 and t(2; 0.975) = 4.3027.
    #[test]
    fn students_interval() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]).unwrap();
        let reach = 4.302_653 / 3.0_f64.sqrt();
        assert_eq!(estimate.value, 2.0);
        assert!((estimate.low - (2.0 - reach)).abs() < 1e-5);
        assert!((estimate.high - (2.0 + reach)).abs() < 1e-5);
        assert_eq!(Estimate::of(&[1.0]), None);
    }

    #[test]
    fn apart() {
        let of = |low: f64, high: f64| Estimate {
            value: f64::midpoint(low, high),
            low,
            high,
        };
        let check = |a: Estimate, b: Estimate, expected: bool| {
            assert_eq!((a.apart(&b), b.apart(&a)), (expected, expected));
        };
        check(of(0.0, 1.0), of(1.1, 2.0), true);
        check(of(0.0, 1.0), of(1.0, 2.0), false);
        check(of(0.0, 3.0), of(1.0, 2.0), false);
    }

    /// Six blocks reach 2.571/√6 = 1.05 deviations; intervals that reach 0.21 together have deviations of 0.1, and 18 blocks reach 2.110/√18 = 0.497
    /// of them, 0.0995 together, below a difference of 0.1; 17 reach 0.514.
    #[test]
    fn more_blocks_part_what_overlaps() {
        let around = |value: f64, reach: f64| Estimate {
            value,
            low: value - reach,
            high: value + reach,
        };
        let (one, other) = (around(1.0, 0.105), around(1.1, 0.105));
        assert_eq!(one.blocks_to_part(&other, 6), Some(12));
        assert_eq!(other.blocks_to_part(&one, 6), Some(12));
        assert_eq!(one.blocks_to_part(&one, 6), None);
    }
}
