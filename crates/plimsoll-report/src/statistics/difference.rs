//! One figure's difference between two arms: mean over blocks, interval, smallest detectable effect, verdict.

use super::detectable::{blocks_to_detect, minimum_detectable};
use super::holm::holm;
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
    let margin = margin_of(baseline);
    let verdict = verdict_of(interval, one_sided, margin);
    Some(Difference {
        value: sample.mean,
        low: interval.low,
        high: interval.high,
        verdict,
        p: Some(pivot.p(&sample, 0.0)),
        p_equivalent: Some(pivot.p_equivalent(&sample, margin)),
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

/// How far a difference may lie from zero and still count as none, for a figure whose mean over the baseline's blocks is `baseline`.
#[must_use]
pub fn margin_of(baseline: f64) -> f64 {
    (MARGIN_SHARE * baseline.abs()).max(RESOLUTION)
}

/// A finding is one that chance makes in fewer cases than this.
pub const SIGNIFICANCE: f64 = 0.05;

/// Corrects the differences of one figure between several arms and the same baseline for their number, by Holm's method. What is then no
/// finding any more is inconclusive.
pub fn correct(differences: &mut [&mut Difference]) {
    let of = |p: fn(&Difference) -> Option<f64>, all: &[&mut Difference]| -> Vec<f64> {
        let values: Vec<f64> = all.iter().map(|one| p(one).unwrap_or(1.0)).collect();
        holm(&values)
    };
    let different = of(|one| one.p, differences);
    let equivalent = of(|one| one.p_equivalent, differences);
    let corrected = different.into_iter().zip(equivalent);
    for (one, (p, p_equivalent)) in differences.iter_mut().zip(corrected) {
        (one.p, one.p_equivalent) = (Some(p), Some(p_equivalent));
        one.verdict = match one.verdict {
            DifferenceVerdict::Equivalent if p_equivalent > SIGNIFICANCE => {
                DifferenceVerdict::Inconclusive
            }
            DifferenceVerdict::Worse | DifferenceVerdict::Improved if p > SIGNIFICANCE => {
                DifferenceVerdict::Inconclusive
            }
            verdict => verdict,
        };
        if one.verdict == DifferenceVerdict::Inconclusive && one.more_blocks.is_none() {
            one.more_blocks = more_than(one);
        }
    }
}

/// As [`more_blocks`], from what a difference says itself.
fn more_than(difference: &Difference) -> Option<u32> {
    let blocks = usize::try_from(difference.blocks).ok()?;
    let deviation = difference.minimum_detectable / minimum_detectable(blocks, 1.0);
    let effect = difference.value.abs().max(difference.margin);
    let needed = blocks_to_detect(effect, deviation)?;
    u32::try_from(needed.saturating_sub(blocks).max(1)).ok()
}

/// Conclusion from an interval of 95 % and one of 90 %.
#[must_use]
pub fn verdict_of(interval: Interval, one_sided: Interval, margin: f64) -> DifferenceVerdict {
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

    #[test]
    fn of_several_findings_only_the_sure_ones_remain() {
        let judged = |noise: f64| {
            let of = |factor: f64| (1.0 + noise * factor) * 0.6 * MS;
            let differences = [-1.0, 1.0, -0.5, 0.5, 0.2, -0.2].map(of);
            judge_difference(&differences, 0.5 * MS, 1, 0).unwrap()
        };
        let (mut sure, mut barely) = (judged(0.1), judged(1.3));
        assert_eq!(barely.verdict, DifferenceVerdict::Worse, "{barely:?}");
        let alone = barely.p.unwrap();
        let mut another = judged(1.3);
        correct(&mut [&mut sure, &mut barely, &mut another]);
        assert_eq!(sure.verdict, DifferenceVerdict::Worse);
        assert!((barely.p.unwrap() - 2.0 * alone).abs() < 1e-12);
        assert_eq!(barely.verdict, DifferenceVerdict::Inconclusive);
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
