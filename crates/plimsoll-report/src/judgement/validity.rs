//! Whether the measurement itself can be trusted, judged per claim and before anything else is concluded.
//!
//! One file per criterion under `validity/`; a new one is its file and its line in `CRITERIA`. Numbers are stable: they name the
//! same criterion in every version. What follows for the run as a whole is left to `verdict`.

mod accounts;
mod achieved_sends;
mod blocks_used;
mod both_ends;
mod canary;
mod failures_alike;
mod fault_proved;
mod littles_law;
mod network;
mod pacing_lag;
mod processor;
mod reach;
mod row;
#[cfg(test)]
pub(crate) mod sample;
mod schedule;
mod stalls;
mod steadiness;
mod taken_time;
mod trials_counted;
mod unanswered;

use crate::record::metric::Metric;
use crate::record::{ArmData, Bias, Effect, Statistic, ValidityRow};

pub(crate) use achieved_sends::RELEASED;
pub use blocks_used::{Used, judge as judge_blocks_used};
pub use failures_alike::{FailedShares, judge as judge_failures, reserve};
pub(crate) use reach::list;
pub use trials_counted::judge as judge_trials;

/// Subject of a criterion in a comparison. Of a single measurement every criterion is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Of each block too: where it reaches a figure, the block is void for that figure.
    Blocks,
    /// Of the arm as a whole.
    Arm,
}

/// A criterion: its rows for one arm, none where there is no data for it.
type Judge = fn(&ArmData) -> Vec<ValidityRow>;

/// Every criterion that looks at one arm. Whatever looks at the times themselves must not void blocks: that would select by outcome.
const CRITERIA: [(Scope, Judge); 14] = [
    (Scope::Blocks, achieved_sends::judge),
    (Scope::Blocks, pacing_lag::judge),
    (Scope::Blocks, stalls::judge),
    (Scope::Blocks, processor::judge),
    (Scope::Blocks, taken_time::judge),
    (Scope::Blocks, network::judge),
    (Scope::Blocks, schedule::judge),
    (Scope::Arm, accounts::judge),
    (Scope::Arm, littles_law::judge),
    (Scope::Arm, canary::judge),
    (Scope::Arm, both_ends::judge),
    (Scope::Arm, steadiness::judge),
    (Scope::Arm, unanswered::judge),
    (Scope::Arm, fault_proved::judge),
];

/// Judges one arm by every criterion for which there is data.
#[must_use]
pub fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let criteria = CRITERIA.iter().map(|(_, criterion)| criterion);
    criteria.flat_map(|criterion| criterion(arm)).collect()
}

/// The rows of one load that stands by itself among others: a trial, a block. Criteria that look at the target's times are not among them.
#[must_use]
pub fn judge_load(load: &ArmData) -> Vec<ValidityRow> {
    let criteria = CRITERIA.iter().filter(|(scope, _)| *scope == Scope::Blocks);
    criteria.flat_map(|(_, judge)| judge(load)).collect()
}

/// The figures of the response time that one block of an arm cannot carry.
#[must_use]
pub fn void_figures(block: &ArmData) -> Vec<Statistic> {
    let rows = judge_load(block);
    let is_void = |statistic: &Statistic| {
        let path = format!("response_time.{}", statistic.name());
        Metric::parse(&path)
            .is_ok_and(|metric| effect_on(&rows, &block.name, &metric) != Effect::None)
    };
    Statistic::ALL.into_iter().filter(is_void).collect()
}

/// Effect of the rows of `arm` on one metric: the strongest of those that concern it.
#[must_use]
pub fn effect_on(rows: &[ValidityRow], arm: &str, metric: &Metric) -> Effect {
    strongest(rows, arm, metric).map_or(Effect::None, |row| row.effect)
}

/// Of the rows of `arm` that concern a metric the one with the strongest effect, of these one that does not know the side, and the
/// first; `None` when nothing follows from any.
#[must_use]
pub fn strongest<'a>(
    rows: &'a [ValidityRow],
    arm: &str,
    metric: &Metric,
) -> Option<&'a ValidityRow> {
    rows.iter()
        .rev()
        .filter(|row| row.arm == arm && row.effect != Effect::None && concerns(row, metric))
        .max_by_key(|row| (row.effect, row.bias == Bias::Either))
}

/// Whether a row takes the whole arm with it, not only some metrics.
#[must_use]
pub fn invalidates_arm(row: &ValidityRow) -> bool {
    row.effect == Effect::Invalid && row.affects.is_empty()
}

/// A level's row concerns the metrics of that level, and those of all levels together.
fn concerns(row: &ValidityRow, metric: &Metric) -> bool {
    let level = row.level.as_deref().zip(metric.level());
    if level.is_some_and(|(of_row, of_metric)| of_row != of_metric) {
        return false;
    }
    row.affects.is_empty() || row.affects.iter().any(|prefix| metric.is_below(prefix))
}
