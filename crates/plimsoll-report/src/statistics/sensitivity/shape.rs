//! Whether a link costs the same at every delay.

use super::estimate::Estimate;
use super::hinge::hinge;
use super::level::{Level, delays, least_squares};
use super::slope::NEGLIGIBLE_SLOPE;

/// The curvature of a call that callers wait for from some delay on only, when that delay is the middle one.
pub const ONE_CALL: f64 = 1.0;

/// Halves of fewer delays than this have no slopes to compare.
const FEWEST_DELAYS: usize = 4;

/// How the figure goes with the delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// No bend was found, and none of a whole call about the middle of the delays was overlooked.
    Straight,
    /// The figure rises faster from some delay on: callers had something else to wait for until then.
    Bends {
        /// The slack: that delay, in seconds.
        hinge_s: Estimate,
        /// Slope up to the hinge: 0 unless it was told apart from that.
        before: f64,
        /// Slope from the hinge on.
        after: f64,
    },
    /// The figure rises less fast at longer delays: a deadline, a hedged request or a fallback cuts them off.
    Flattens,
    /// Too few blocks or delays, or so much noise that a bend of a whole call may have been overlooked.
    Unclear,
}

/// The shape of a link's figure over its delays as they were. A hinge is looked for among those that were `planned`, which are alike in all
/// blocks. `seed` keys the resampling of blocks.
///
/// It bends where the interval of its [`curvature`] lies beyond ± [`NEGLIGIBLE_SLOPE`], and is straight where that interval lies within
/// ± [`ONE_CALL`]. A hinge near the first or the last delay has half the curvature of one in the middle, and may be missed.
#[must_use]
pub fn shape(blocks: &[Vec<Level>], planned: &[Vec<Level>], seed: u64) -> Shape {
    let Some(curvature) = curvature(blocks) else {
        return Shape::Unclear;
    };
    if curvature.high < -NEGLIGIBLE_SLOPE {
        Shape::Flattens
    } else if curvature.low > NEGLIGIBLE_SLOPE {
        hinge(planned, seed).map_or(Shape::Unclear, |found| Shape::Bends {
            hinge_s: found.at_s,
            before: found.before,
            after: found.after,
        })
    } else if curvature.low > -ONE_CALL && curvature.high < ONE_CALL {
        Shape::Straight
    } else {
        Shape::Unclear
    }
}

/// The slope over the longer delays less that over the shorter ones: the mean over blocks of each block's, with t over blocks.
///
/// Each half's slope is by least squares. Of an odd number of delays the middle one belongs to both halves, so that they share the point at
/// which they are compared; of an even number each half has its own. Blocks with fewer than four delays count for nothing; `None` when
/// fewer than two blocks are left.
#[must_use]
pub fn curvature(blocks: &[Vec<Level>]) -> Option<Estimate> {
    let each = blocks.iter().filter_map(|levels| curvature_of(levels));
    Estimate::of(&each.collect::<Vec<f64>>())
}

fn curvature_of(levels: &[Level]) -> Option<f64> {
    let delays = delays(levels);
    if delays.len() < FEWEST_DELAYS {
        return None;
    }
    let (last_lower, first_upper) = (delays[(delays.len() - 1) / 2], delays[delays.len() / 2]);
    let slope_where = |belongs: &dyn Fn(f64) -> bool| {
        let half = levels.iter().filter(|level| belongs(level.delay_s));
        least_squares(&half.copied().collect::<Vec<Level>>())
    };
    let upper = slope_where(&|delay| delay >= first_upper)?;
    let lower = slope_where(&|delay| delay <= last_lower)?;
    Some(upper - lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 1;

    /// Blocks with these delays whose figures are `cost` of the delay, up to a little noise that differs by block.
    fn blocks(delays: &[f64], cost: fn(f64) -> f64, noise: f64) -> Vec<Vec<Level>> {
        let block = |sign: f64| {
            let level = |delay: &f64| Level {
                delay_s: *delay,
                value: cost(*delay) + sign * noise * delay * delay,
            };
            delays.iter().map(level).collect()
        };
        [-1.0, 1.0, -0.5, 0.5].map(block).to_vec()
    }

    /// Slopes 4/1 and 1/2 of halves that share the middle, 3/1 and 1/1 of halves that do not.
    #[test]
    fn curvatures_by_hand() {
        let check = |values: &[(f64, f64)], expected: Option<f64>| {
            let level = |&(delay_s, value): &(f64, f64)| Level { delay_s, value };
            let mut block: Vec<Level> = values.iter().map(level).collect();
            block.reverse();
            assert_eq!(curvature_of(&block), expected);
        };
        let odd = [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0), (3.0, 5.0), (4.0, 9.0)];
        check(&odd, Some(3.5));
        let even = [(0.0, 0.0), (1.0, 1.0), (2.0, 7.0), (3.0, 10.0)];
        check(&even, Some(2.0));
        check(&even[..3], None);
    }

    fn shape_of(blocks: &[Vec<Level>], seed: u64) -> Shape {
        shape(blocks, blocks, seed)
    }

    #[test]
    fn shapes() {
        let delays = [0.0, 1.0, 2.0, 3.0, 4.0];
        let of = |cost, noise| shape_of(&blocks(&delays, cost, noise), SEED);
        assert_eq!(of(|delay| 2.0 * delay, 0.01), Shape::Straight);
        assert_eq!(of(|_| 7.0, 0.01), Shape::Straight);
        assert_eq!(of(|delay| delay.min(2.0), 0.01), Shape::Flattens);
        assert_eq!(of(|delay| delay, 1.0), Shape::Unclear);
        let Shape::Bends {
            hinge_s, before, ..
        } = of(|delay| (delay - 2.0).max(0.0), 0.01)
        else {
            panic!("a hinge at 2 bends");
        };
        assert!(hinge_s.holds(2.0) && hinge_s.width() < 1.0, "{hinge_s:?}");
        assert_eq!(before, 0.0);
    }

    #[test]
    fn too_little_is_unclear() {
        let enough = blocks(&[0.0, 1.0, 2.0, 3.0], |delay| delay, 0.0);
        assert_eq!(shape_of(&enough, SEED), Shape::Straight);
        assert_eq!(shape_of(&enough[..1], SEED), Shape::Unclear);
        let three = blocks(&[0.0, 1.0, 2.0], |delay| delay, 0.0);
        assert_eq!(shape_of(&three, SEED), Shape::Unclear);
    }

    #[test]
    fn one_seed_one_interval() {
        let bent = blocks(
            &[0.0, 1.0, 2.0, 3.0, 4.0],
            |delay| (delay - 1.5).max(0.0),
            0.02,
        );
        assert_eq!(shape_of(&bent, 7), shape_of(&bent, 7));
    }
}
