//! Criterion 17: of every fault at least one trial counts. Each trial was judged by itself, and made again where it was void.

use super::row::Finding;
use crate::record::{AvailabilitySummary, Sense, ValidityRow};

/// Judges the trials of one arm.
#[must_use]
pub fn judge(arm: &str, found: &AvailabilitySummary) -> Vec<ValidityRow> {
    // A role has its own table, but is no fault.
    let faults = found.faults.iter().filter(|fault| fault.name == fault.row);
    let empty = faults.filter(|fault| fault.trials == 0);
    let without: Vec<String> = empty.map(|fault| format!("`{}`", fault.name)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a number of faults")]
    let value = without.len() as f64;
    let last = found.void_trials.last();
    let why = last.and_then(|trial| trial.reasons.first());
    let why = why.map_or_else(String::new, |why| format!(" The last one: {why}."));
    let finding = Finding {
        criterion: 17,
        name: "faults without a trial that counts",
        value,
        limit: 0.0,
        unit: "count",
        sense: Sense::AtMost,
        good: format!(
            "Each trial was judged by itself: {} count, {} do not.",
            found.trials.len() - found.void_trials.len(),
            found.void_trials.len()
        ),
        bad: format!(
            "Nothing is known of {}: no trial counts.{why}",
            without.join(", ")
        ),
    };
    vec![finding.row_on_all(arm)]
}
