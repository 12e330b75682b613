//! The rest of a search's budget, and the bounds that it has bought so far.

use crate::progress::Ahead;
use plimsoll_report::capacity::conclude::format_rate;
use plimsoll_report::capacity::{Settings, Taken, search};
use plimsoll_report::record::Trial;

/// After these trials.
pub(super) fn left(settings: &Settings, trials: &[Trial]) -> Ahead {
    let spent: f64 = trials.iter().map(|trial| trial.spent_s).sum();
    let taken: Vec<Taken> = trials.iter().map(Taken::from).collect();
    Ahead::Budget {
        of: settings.budget_s,
        left: (settings.budget_s - spent).max(0.0),
        found: found(settings, &taken),
    }
}

/// The rates between which capacity lies by the trials so far; empty without any.
fn found(settings: &Settings, taken: &[Taken]) -> String {
    let (lower, upper) = search::bounds(settings, taken);
    let carried = lower.map(|(rate, _)| format!("{}/s is carried", format_rate(rate)));
    let too_much = upper.map(|(rate, _)| format!("{}/s is too much", format_rate(rate)));
    let said: Vec<String> = carried.into_iter().chain(too_much).collect();
    said.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        from: 50.0,
        to: None,
        floor: 1.0,
        precision: 0.05,
        exceed_ratio: 0.5,
        trial_s: 10.0,
        trials_per_load: 3,
        trials_contradicted: 5,
        warmup_s: 2.0,
        around_s: 1.0,
        samples: 100.0,
        confirm_s: 60.0,
        overload_s: 10.0,
        budget_s: 600.0,
    };

    #[test]
    fn each_trial_is_told_what_is_left_for_it() {
        let text = include_str!("../../../../../plimsoll-report/examples/summary-capacity.json");
        let summary: serde_json::Value = serde_json::from_str(text).unwrap();
        let found = &summary["arms"]["direct"]["capacity"];
        let trials: Vec<Trial> = serde_json::from_value(found["trials"].clone()).unwrap();
        let check = |taken: usize, spent: f64, expected: &str| {
            let Ahead::Budget { of, left, found } = left(&SETTINGS, &trials[..taken]) else {
                panic!("a search has a budget");
            };
            assert!((of - left - spent).abs() < 1e-6, "{left} of {of}");
            assert_eq!(found, expected);
        };
        check(0, 0.0, "");
        check(3, 30.89, "200/s is carried");
        check(6, 59.89, "400/s is carried, 565.7/s is too much");
    }
}
