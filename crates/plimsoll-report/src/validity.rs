//! Whether the measurement itself can be trusted, judged per claim and before anything else is concluded.
//!
//! One file per criterion under `validity/`; a new one is its file and its line in `CRITERIA`. Numbers are stable: they name the
//! same criterion in every version. What follows for the run as a whole is left to `verdict`.

mod accounts;
mod achieved_sends;
mod blocks_used;
mod pacing_lag;

use crate::metric::Metric;
use crate::record::{ArmData, Effect, ValidityRow};

pub use blocks_used::judge as judge_blocks_used;

/// Every criterion that looks at one arm.
const CRITERIA: [fn(&ArmData) -> Vec<ValidityRow>; 3] =
    [achieved_sends::judge, pacing_lag::judge, accounts::judge];

/// Judges one arm by every criterion that applies to it.
#[must_use]
pub fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    CRITERIA
        .iter()
        .flat_map(|criterion| criterion(arm))
        .collect()
}

/// Whether a block of this arm must be left out of a comparison: the load was not offered as planned.
#[must_use]
pub fn is_void(arm: &ArmData) -> bool {
    achieved_sends::judge(arm).iter().any(|row| !row.ok)
}

/// What the rows of `arm` mean for one metric: the strongest effect of those that concern it.
#[must_use]
pub fn effect_on(rows: &[ValidityRow], arm: &str, metric: &Metric) -> Effect {
    rows.iter()
        .filter(|row| row.arm == arm && concerns(row, metric))
        .map(|row| row.effect)
        .max()
        .unwrap_or(Effect::None)
}

/// Whether a row takes the whole arm with it, not only some metrics.
#[must_use]
pub fn invalidates_arm(row: &ValidityRow) -> bool {
    row.effect == Effect::Invalid && row.affects.is_empty()
}

fn concerns(row: &ValidityRow, metric: &Metric) -> bool {
    row.affects.is_empty() || row.affects.iter().any(|prefix| metric.is_below(prefix))
}
