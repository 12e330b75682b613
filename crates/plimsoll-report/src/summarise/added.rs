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
            summary.added = Some(pair.added(seed, (index, figures.len())));
        }
    }
    correct_all(summaries);
    rows
}

/// Corrects the verdicts on several arms for their number, figure by figure.
fn correct_all(summaries: &mut IndexMap<String, ArmSummary>) {
    let mut by_figure: BTreeMap<&str, Vec<&mut Difference>> = BTreeMap::new();
    let arms = summaries.values_mut();
    for (figure, difference) in arms
        .filter_map(|arm| arm.added.as_mut())
        .flat_map(Added::all_mut)
    {
        by_figure.entry(figure).or_default().push(difference);
    }
    for differences in by_figure.values_mut().filter(|all| all.len() > 1) {
        correct(differences);
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

    /// All differences. Of several arms each has its number, by which its resampling is keyed.
    fn added(&self, seed: u64, (index, arms): (usize, usize)) -> Added {
        let time = |statistic: Statistic| {
            let place = statistic as usize;
            let key = (index * Statistic::ALL.len() + place) as u64;
            self.difference(statistic, |block| Some(block.times[place]), seed, key)
        };
        let key = (arms * Statistic::ALL.len() + index) as u64;
        Added {
            mean: time(Statistic::Mean),
            p50: time(Statistic::P50),
            p75: time(Statistic::P75),
            p90: time(Statistic::P90),
            p95: time(Statistic::P95),
            p99: time(Statistic::P99),
            p999: time(Statistic::P999),
            // It stands where the mean does: both are of all exchanges alike.
            cpu: self.difference(Statistic::Mean, |block| block.cpu_s_per_exchange, seed, key),
        }
    }

    /// The difference of a figure over the blocks that carry the statistic. Where these are not a sample, it is shown over all blocks that
    /// there are if need be, and is invalid.
    fn difference(
        &self,
        statistic: Statistic,
        figure: impl Fn(&BlockFigures) -> Option<f64>,
        seed: u64,
        key: u64,
    ) -> Option<Difference> {
        let used = self.used(statistic);
        let over_used = self.over(&figure, |block| self.carries(block, statistic));
        let judge =
            |(differences, base): (Vec<f64>, f64)| judge_difference(&differences, base, seed, key);
        let mut found = match judge(over_used) {
            Some(found) => found,
            None if used.used < used.planned => judge(self.over(&figure, |_| true))?,
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
    fn over(
        &self,
        figure: impl Fn(&BlockFigures) -> Option<f64>,
        wanted: impl Fn(u32) -> bool,
    ) -> (Vec<f64>, f64) {
        let of = |figures: &Figures, block: &u32| figure(figures.get(block)?);
        let pairs: Vec<(f64, f64)> = self
            .blocks
            .planned()
            .iter()
            .filter(|block| wanted(**block))
            .filter_map(|block| Some((of(self.arm.1, block)?, of(self.baseline.1, block)?)))
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

/// Figures of one block.
struct BlockFigures {
    /// Of the response time, by statistic.
    times: [f64; Statistic::ALL.len()],
    cpu_s_per_exchange: Option<f64>,
}

/// Figures by block; a block without a sample is absent.
type Figures = BTreeMap<u32, BlockFigures>;

fn figures(arm: &ArmBlocks) -> Figures {
    let figures = |data| {
        let times = ResponseTimes::of_arm(data);
        (times.count() > 0).then(|| BlockFigures {
            times: Statistic::ALL.map(|statistic| times.figure(statistic).unwrap_or(0.0)),
            cpu_s_per_exchange: data.cpu_s_per_exchange(),
        })
    };
    let blocks = arm.blocks.iter();
    let blocks = blocks.filter_map(|(block, data)| Some((*block, figures(data)?)));
    blocks.collect()
}
