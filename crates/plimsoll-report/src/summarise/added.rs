//! Differences of each arm from the baseline: one per figure, over the blocks in which that figure stands in both arms.

use super::blocks::Blocks;
use crate::judgement::validity::{self, FailedShares, Used};
use crate::record::{
    Added, ArmBlocks, ArmSummary, Difference, DifferenceVerdict, Statistic, ValidityRow,
};
use crate::statistics::{ResponseTimes, correct, judge_difference};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// Fills `added` of every arm but the baseline, and gives what validity says of the differences.
pub(super) fn fill(
    summaries: &mut IndexMap<String, ArmSummary>,
    arms: &[ArmBlocks],
    baseline: &str,
    blocks: &Blocks<'_>,
    seed: u64,
) -> Vec<ValidityRow> {
    let figures: IndexMap<&str, Figures> = arms
        .iter()
        .map(|arm| (arm.name.as_str(), figures(arm)))
        .collect();
    let failed = |summaries: &IndexMap<String, ArmSummary>, arm: &str| {
        let share = summaries.get(arm).and_then(|arm| arm.failed_share);
        share.unwrap_or(0.0)
    };
    let baseline_failed = failed(summaries, baseline);
    let Some(base) = figures.get(baseline) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for (index, (name, own)) in figures.iter().enumerate() {
        if *name == baseline {
            continue;
        }
        let pair = Pair {
            arm: (name, own),
            baseline: (baseline, base),
            failed: FailedShares {
                arm: failed(summaries, name),
                baseline: baseline_failed,
            },
            blocks,
        };
        let used = Statistic::ALL.map(|statistic| pair.used(statistic));
        rows.extend(validity::judge_blocks_used(name, &used));
        rows.extend(validity::judge_failures(name, pair.failed));
        if let Some(summary) = summaries.get_mut(*name) {
            let judge = |statistic: Statistic| {
                let key = (index * Statistic::ALL.len() + statistic as usize) as u64;
                pair.difference(statistic, seed, key)
            };
            summary.added = Some(all(judge));
        }
    }
    correct_all(summaries);
    rows
}

/// Corrects the verdicts on several arms for their number, figure by figure.
fn correct_all(summaries: &mut IndexMap<String, ArmSummary>) {
    for statistic in Statistic::ALL {
        let added = summaries
            .values_mut()
            .filter_map(|arm| arm.added.as_mut()?.get_mut(statistic));
        let mut differences: Vec<&mut Difference> = added.collect();
        if differences.len() > 1 {
            correct(&mut differences);
        }
    }
}

fn all(judge: impl Fn(Statistic) -> Option<Difference>) -> Added {
    Added {
        mean: judge(Statistic::Mean),
        p50: judge(Statistic::P50),
        p75: judge(Statistic::P75),
        p90: judge(Statistic::P90),
        p95: judge(Statistic::P95),
        p99: judge(Statistic::P99),
        p999: judge(Statistic::P999),
    }
}

/// An arm and its baseline, each by name and figures.
struct Pair<'a> {
    arm: (&'a str, &'a Figures),
    baseline: (&'a str, &'a Figures),
    failed: FailedShares,
    blocks: &'a Blocks<'a>,
}

impl Pair<'_> {
    fn used(&self, statistic: Statistic) -> Used {
        let planned = || self.blocks.planned().iter();
        Used {
            statistic,
            planned: planned().count(),
            used: planned()
                .filter(|block| self.carries(**block, statistic))
                .count(),
        }
    }

    fn carries(&self, block: u32, statistic: Statistic) -> bool {
        [self.arm.0, self.baseline.0]
            .into_iter()
            .all(|arm| self.blocks.carries(arm, block, statistic))
    }

    /// The difference over the blocks that carry it. Where these are not a sample, it is shown over all blocks that there are if need be,
    /// and is invalid.
    fn difference(&self, statistic: Statistic, seed: u64, key: u64) -> Option<Difference> {
        let used = self.used(statistic);
        let over_used = self.over(statistic, |block| self.carries(block, statistic));
        let judge =
            |(differences, base): (Vec<f64>, f64)| judge_difference(&differences, base, seed, key);
        let mut found = match judge(over_used) {
            Some(found) => found,
            None if used.used < used.planned => judge(self.over(statistic, |_| true))?,
            None => return None,
        };
        found.planned_blocks = u32::try_from(used.planned).unwrap_or(u32::MAX);
        if !used.is_enough() {
            found.verdict = DifferenceVerdict::Invalid;
            found.more_blocks = None;
            found.blocks = u32::try_from(used.used).unwrap_or(u32::MAX);
        }
        validity::reserve(&mut found, self.failed, statistic);
        Some(found)
    }

    /// Differences per block, and the mean of the baseline over the same blocks.
    fn over(&self, statistic: Statistic, wanted: impl Fn(u32) -> bool) -> (Vec<f64>, f64) {
        let at = statistic as usize;
        let pairs: Vec<(f64, f64)> = self
            .blocks
            .planned()
            .iter()
            .filter(|block| wanted(**block))
            .filter_map(|block| Some((self.arm.1.get(block)?[at], self.baseline.1.get(block)?[at])))
            .collect();
        let differences = pairs.iter().map(|(own, base)| own - base).collect();
        #[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
        let count = pairs.len().max(1) as f64;
        (
            differences,
            pairs.iter().map(|(_, base)| base).sum::<f64>() / count,
        )
    }
}

/// Figures of the response time by block; a block without a sample is absent.
type Figures = BTreeMap<u32, [f64; Statistic::ALL.len()]>;

fn figures(arm: &ArmBlocks) -> Figures {
    arm.blocks
        .iter()
        .filter_map(|(block, data)| {
            let times = ResponseTimes::of_arm(data);
            (times.count() > 0).then(|| {
                (
                    *block,
                    Statistic::ALL.map(|statistic| times.figure(statistic).unwrap_or(0.0)),
                )
            })
        })
        .collect()
}
