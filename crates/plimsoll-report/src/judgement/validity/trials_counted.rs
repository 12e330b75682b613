//! Criterion 17: of every fault, and of shams, at least one trial counts. Each trial was judged by itself and made again where it was void.

use super::row::Finding;
use crate::record::{AvailabilitySummary, Sense, ValidityRow};

/// Judges the trials of one arm.
#[must_use]
pub fn judge(arm: &str, found: &AvailabilitySummary) -> Vec<ValidityRow> {
    let empty = found.faults.iter().filter(|fault| fault.trials == 0);
    let mut without: Vec<String> = empty.map(|fault| format!("`{}`", fault.name)).collect();
    if found.sham.trials == 0 {
        without.push("shams".to_owned());
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of faults")]
    let value = without.len() as f64;
    let said: Vec<&str> = (found.void_trials.iter().rev())
        .flat_map(|trial| trial.reasons.first())
        .map(String::as_str)
        .take(1)
        .collect();
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
            "Nothing is known of {}: no trial of it counts. {}",
            without.join(", "),
            said.concat()
        ),
    };
    vec![finding.row_on_all(arm)]
}
