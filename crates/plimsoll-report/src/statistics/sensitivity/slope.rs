//! How many seconds a second of delay costs, and whether that is the delay's doing alone.

use super::estimate::Estimate;
use super::level::{Level, least_squares};

/// A slope, or a difference of two, within ± this many seconds per second of delay counts as none.
pub const NEGLIGIBLE_SLOPE: f64 = 0.05;

/// By how much the figure grows per second of delay: the mean over blocks of each block's least squares slope, with t over blocks.
///
/// A block's own level of the figure falls out, since each block has a line of its own. A block with fewer than two delays has none and
/// counts for nothing; `None` when fewer than two blocks are left.
#[must_use]
pub fn slope(blocks: &[Vec<Level>]) -> Option<Estimate> {
    let slopes: Vec<f64> = blocks
        .iter()
        .filter_map(|levels| least_squares(levels))
        .collect();
    Estimate::of(&slopes)
}

/// Whether a slope includes queueing: at `full` rate it lies apart from that at `half` of it.
///
/// A delay that is only waited for costs the same at any rate. Where it also holds a connection or a worker that others need, it costs more
/// the busier they are.
#[must_use]
pub fn saturated(full: &Estimate, half: &Estimate) -> bool {
    full.apart(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(values: &[f64]) -> Vec<Level> {
        (0_u32..)
            .zip(values)
            .map(|(delay, value)| Level {
                delay_s: f64::from(delay),
                value: *value,
            })
            .collect()
    }

    /// Slopes 1, 2 and 3 of blocks that lie far apart.
    #[test]
    fn each_block_has_its_own_line() {
        let blocks = [
            block(&[0.0, 1.0, 2.0]),
            block(&[70.0, 72.0, 74.0]),
            block(&[-9.0, -6.0, -3.0]),
        ];
        assert_eq!(slope(&blocks), Estimate::of(&[1.0, 2.0, 3.0]));
    }

    #[test]
    fn too_little_has_no_slope() {
        let line = block(&[0.0, 1.0]);
        assert_eq!(slope(std::slice::from_ref(&line)), None);
        assert_eq!(slope(&[line.clone(), block(&[1.0])]), None);
        assert!(slope(&[line.clone(), block(&[1.0]), line]).is_some());
        assert_eq!(slope(&[]), None);
    }

    #[test]
    fn a_slope_that_depends_on_the_rate_is_saturated() {
        let one = Estimate::of(&[0.98, 1.0, 1.02]).unwrap();
        let more = Estimate::of(&[1.9, 2.0, 2.1]).unwrap();
        assert!(saturated(&more, &one));
        assert!(!saturated(&one, &one));
    }
}
