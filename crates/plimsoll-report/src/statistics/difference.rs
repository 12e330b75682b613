//! One figure's difference between two arms: mean over blocks, interval, smallest detectable effect, verdict.

use super::detectable::{blocks_to_detect, minimum_detectable};
use super::interval::{CONFIDENCE, Interval, Pivot};
use super::sample::Sample;
use crate::record::{Difference, DifferenceVerdict};

/// A difference within this share of the baseline counts as none.
pub const MARGIN_SHARE: f64 = 0.05;

/// Times are recorded in whole microseconds: no margin is finer.
const RESOLUTION: f64 = 1e-6;

/// Judges differences per block (arm minus baseline, seconds) of a figure whose mean over the baseline's blocks is `baseline`.
/// `seed` and `index` key the resampling. `None` for fewer than two blocks.
///
/// *Equivalent* is decided first, by two one-sided tests at 5 % (Schuirmann 1987): the 90 % interval lies within the margin. Then
/// *worse* or *improved*: the 95 % interval excludes zero. Anything else is *inconclusive*.
#[must_use]
pub fn judge_difference(
    differences: &[f64],
    baseline: f64,
    seed: u64,
    index: u64,
) -> Option<Difference> {
    let sample = Sample::of(differences)?;
    let pivot = Pivot::of(differences, seed, index);
    let interval = pivot.interval(&sample, CONFIDENCE);
    let one_sided = pivot.interval(&sample, 2.0 * CONFIDENCE - 1.0);
    let margin = (MARGIN_SHARE * baseline.abs()).max(RESOLUTION);
    let verdict = verdict(interval, one_sided, margin);
    Some(Difference {
        value: sample.mean,
        low: interval.low,
        high: interval.high,
        verdict,
        margin,
        minimum_detectable: minimum_detectable(sample.size, sample.deviation),
        blocks: u32::try_from(sample.size).unwrap_or(u32::MAX),
        planned_blocks: u32::try_from(sample.size).unwrap_or(u32::MAX),
        reservation: None,
        more_blocks: (verdict == DifferenceVerdict::Inconclusive)
            .then(|| more_blocks(&sample, margin))
            .flatten(),
    })
}

fn verdict(interval: Interval, one_sided: Interval, margin: f64) -> DifferenceVerdict {
    if one_sided.within(margin) {
        DifferenceVerdict::Equivalent
    } else if interval.low > 0.0 {
        DifferenceVerdict::Worse
    } else if interval.high < 0.0 {
        DifferenceVerdict::Improved
    } else {
        DifferenceVerdict::Inconclusive
    }
}

/// Blocks beyond those done that would find a difference as large as the one seen, or as the margin if that is larger.
fn more_blocks(sample: &Sample, margin: f64) -> Option<u32> {
    let needed = blocks_to_detect(sample.mean.abs().max(margin), sample.deviation)?;
    u32::try_from(needed.saturating_sub(sample.size).max(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::{Draw, Stream};

    const MS: f64 = 1e-3;

    #[test]
    fn verdicts() {
        let check = |differences: &[f64], baseline: f64, expected: DifferenceVerdict| {
            let judged = judge_difference(differences, baseline, 1, 0).unwrap();
            assert_eq!(judged.verdict, expected, "{judged:?}");
            assert_eq!(
                judged.more_blocks.is_some(),
                expected == DifferenceVerdict::Inconclusive
            );
            assert!(judged.low <= judged.value && judged.value <= judged.high);
        };
        let around = |centre: f64| [0.9, 1.1, 1.0, 0.95, 1.05, 1.0].map(|f| f * centre);
        check(&around(0.6 * MS), 0.5 * MS, DifferenceVerdict::Worse);
        check(&around(-0.6 * MS), 2.0 * MS, DifferenceVerdict::Improved);
        check(&around(0.6 * MS), 100.0 * MS, DifferenceVerdict::Equivalent);
        let wild = [-2.0, 3.0, 1.0, -1.0, 2.0, 0.5].map(|f| f * MS);
        check(&wild, 0.5 * MS, DifferenceVerdict::Inconclusive);
        assert_eq!(judge_difference(&[1.0], 1.0, 1, 0), None);
    }

    /// A margin is never finer than a microsecond.
    #[test]
    fn margin() {
        let of = |baseline| {
            judge_difference(&[0.0, 1.0], baseline, 1, 0)
                .unwrap()
                .margin
        };
        assert!((of(10.0 * MS) - 0.5 * MS).abs() < 1e-12);
        assert_eq!(of(1e-6), 1e-6);
    }

    /// Arms that are alike are called different in about 5 % of 400 runs: between 2.2 % and 8 %, three standard errors.
    #[test]
    fn alike_arms_are_rarely_called_different() {
        for blocks in [6, 20] {
            let called = (0..400)
                .filter(|run| {
                    let judged = simulate(blocks, 0.0, *run);
                    judged.low > 0.0 || judged.high < 0.0
                })
                .count();
            assert!(
                (9..=32).contains(&called),
                "{blocks} blocks: {called} of 400"
            );
        }
    }

    /// A known shift lies in the interval in at least 93 % of 400 runs.
    #[test]
    fn a_known_shift_is_covered() {
        for blocks in [6, 20] {
            let shift = 0.3 * MS;
            let held = (0..400)
                .filter(|run| {
                    let judged = simulate(blocks, shift, *run);
                    judged.low <= shift && shift <= judged.high
                })
                .count();
            assert!(held >= 372, "{blocks} blocks: {held} of 400");
        }
    }

    /// A run in virtual data: p99 of two arms per block, sharing the block's luck, each with its own noise.
    fn simulate(blocks: u64, shift: f64, run: u64) -> Difference {
        let differences: Vec<f64> = (0..blocks)
            .map(|block| {
                let mut draw = Draw::new(2026, Stream::Data, run * 1_000 + block);
                let luck = 0.2 * MS * draw.exponential();
                let baseline = 0.5 * MS + luck + 0.05 * MS * draw.normal();
                let arm = 0.5 * MS + luck + 0.05 * MS * draw.normal() + shift;
                arm - baseline
            })
            .collect();
        judge_difference(&differences, 0.7 * MS, 2026, run).unwrap()
    }
}
