//! What each arm adds to the baseline: one difference per figure, over blocks.

use crate::metric::Metric;
use crate::record::{
    Added, ArmBlocks, ArmSummary, Difference, DifferenceVerdict, Effect, Statistic, ValidityRow,
};
use crate::statistics::judge_difference;
use crate::validity;
use indexmap::IndexMap;
use plimsoll_base::time_kind::TimeKind;
use std::collections::{BTreeMap, BTreeSet};

/// Fills `added` of every arm but the baseline. A difference that rests on a figure which validity ruled out says so.
pub(super) fn fill(
    summaries: &mut IndexMap<String, ArmSummary>,
    arms: &[ArmBlocks],
    baseline: &str,
    used: &BTreeSet<u32>,
    seed: u64,
    rows: &[ValidityRow],
) {
    let figures: IndexMap<&str, Figures> = arms
        .iter()
        .map(|arm| (arm.name.as_str(), figures(arm, used)))
        .collect();
    let Some(base) = figures.get(baseline) else {
        return;
    };
    for (index, (name, own)) in figures.iter().enumerate() {
        let Some(summary) = summaries.get_mut(*name).filter(|_| *name != baseline) else {
            continue;
        };
        let judge = |statistic: Statistic| {
            let key = (index * Statistic::ALL.len() + statistic as usize) as u64;
            let mut difference = difference(own, base, statistic, seed, key)?;
            let metric = Metric::parse(&format!("added.{}", statistic.name())).ok()?;
            let effect = |arm| validity::effect_on(rows, arm, &metric);
            if effect(name).max(effect(baseline)) == Effect::Invalid {
                difference.verdict = DifferenceVerdict::Invalid;
                difference.more_blocks = None;
            }
            Some(difference)
        };
        summary.added = Some(Added {
            mean: judge(Statistic::Mean),
            p50: judge(Statistic::P50),
            p75: judge(Statistic::P75),
            p90: judge(Statistic::P90),
            p95: judge(Statistic::P95),
            p99: judge(Statistic::P99),
            p999: judge(Statistic::P999),
        });
    }
}

/// Figures of the response time by block; a block without a sample is absent.
type Figures = BTreeMap<u32, [f64; Statistic::ALL.len()]>;

fn figures(arm: &ArmBlocks, used: &BTreeSet<u32>) -> Figures {
    let blocks = arm.blocks.iter().filter(|(block, _)| used.contains(block));
    blocks
        .filter_map(|(block, data)| {
            let histogram = data.histogram(TimeKind::ResponseTime);
            (!histogram.is_empty()).then(|| {
                (
                    *block,
                    Statistic::ALL.map(|s| s.of(&histogram).unwrap_or(0.0)),
                )
            })
        })
        .collect()
}

fn difference(
    own: &Figures,
    base: &Figures,
    statistic: Statistic,
    seed: u64,
    key: u64,
) -> Option<Difference> {
    let at = Statistic::ALL.iter().position(|s| *s == statistic)?;
    let pairs: Vec<(f64, f64)> = own
        .iter()
        .filter_map(|(block, figures)| Some((figures[at], base.get(block)?[at])))
        .collect();
    let differences: Vec<f64> = pairs.iter().map(|(own, base)| own - base).collect();
    #[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
    let baseline = pairs.iter().map(|(_, base)| base).sum::<f64>() / pairs.len().max(1) as f64;
    judge_difference(&differences, baseline, seed, key)
}
