//! The tables of a search: what was found of each arm, and its trials.

use crate::capacity::conclude::format_rate;
use crate::record::{CapacityResult, CapacitySummary, Manner, Summary, Trial, TrialPurpose};
use crate::render::rates::{self, PerIteration};
use crate::render::table::Table;
use crate::render::words::{NOTHING, cores, failures, number, percent, time};
use plimsoll_base::units::format_seconds;

/// Results of each arm's search; `None` where nothing was searched.
pub(in crate::render) fn capacities(summary: &Summary) -> Option<Table> {
    let (carried, too_much) = match rates::differ(summary) {
        true => ("carried, iterations/s", "too much, iterations/s"),
        false => ("carried/s", "too much/s"),
    };
    let head = [
        "arm",
        "found",
        carried,
        too_much,
        "width",
        "confidence",
        "confirmed",
        "above it",
        "recovery",
        "trials",
    ];
    let mut table = Table::new(head).with_words(&[1, 6, 7]);
    for (name, arm) in &summary.arms {
        let Some(found) = &arm.capacity else { continue };
        let mut row = vec![name.clone(), result(found.result).to_owned()];
        row.extend([found.lower_per_s, found.upper_per_s].map(rate));
        row.extend([found.width, found.confidence].map(share));
        row.extend(confirmed(found));
        row.push(found.trials.len().to_string());
        table.rows.push(row);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn confirmed(found: &CapacitySummary) -> [String; 3] {
    let held = match found.confirmation.as_ref().and_then(|seen| seen.held) {
        Some(true) => "yes",
        Some(false) => "no",
        None => NOTHING,
    };
    let overload = found
        .confirmation
        .as_ref()
        .and_then(|seen| seen.overload.as_ref());
    // What was kept up with was no overload, and there is nothing to recover from.
    if overload.is_some_and(|seen| seen.bearing.manner == Manner::Sustains) {
        return [held, "keeps up", NOTHING].map(str::to_owned);
    }
    let manner = overload.map_or(NOTHING, |seen| seen.bearing.manner.name());
    let recovery = overload.map_or_else(
        || NOTHING.to_owned(),
        |seen| match seen.recovered_after_s {
            Some(seconds) if seconds <= 0.0 => "at once".to_owned(),
            Some(seconds) => format_seconds(seconds),
            None => format!("> {}", format_seconds(seen.watched_s)),
        },
    );
    [held.to_owned(), manner.to_owned(), recovery]
}

/// The trials of one search, in order.
pub(in crate::render) fn trials(found: &CapacitySummary, per_iteration: PerIteration) -> Table {
    let differ = per_iteration.is_several();
    let figure = found.objective.limits.last().map(|limit| limit.figure);
    let figure_head = figure.map_or("p99", crate::record::Statistic::label);
    let components = components(&found.trials);
    let heads: Vec<String> = components
        .iter()
        .map(|name| format!("CPU {name}"))
        .collect();
    let mut table = Table::new(
        ["trial", "outcome", "why", rates::rate_head(differ), "for"]
            .into_iter()
            .chain(differ.then(|| rates::offered_head(differ)))
            .chain(["good/s", "failed", figure_head])
            .chain(heads.iter().map(String::as_str)),
    )
    .with_words(&[1, 2]);
    for trial in &found.trials {
        let shown = trial.found.iter().find(|seen| Some(seen.figure) == figure);
        let value = shown.and_then(|seen| seen.value);
        let mut row = vec![
            named(trial),
            outcome(trial).to_owned(),
            trial.reason.clone(),
            format_rate(trial.rate_per_s),
            format_seconds(trial.planned_s),
        ];
        row.extend(differ.then(|| per_iteration.offered(Some(trial.rate_per_s))));
        row.extend([
            number(trial.good_per_s),
            failures(trial.failed, trial.failed_share),
            time(value.or(trial.response_time.p99)),
        ]);
        row.extend(components.iter().map(|component| {
            let used = trial.components.get(*component);
            cores(used.and_then(|used| used.cpu_cores_mean))
        }));
        table.rows.push(row);
    }
    table
}

/// The trials in as many columns as a terminal has.
pub(in crate::render) fn trials_in_short(
    found: &CapacitySummary,
    per_iteration: PerIteration,
) -> Table {
    let whole = trials(found, per_iteration);
    let columns: &[usize] = match per_iteration.is_several() {
        true => &[0, 1, 3, 4, 5, 6, 7, 8],
        false => &[0, 1, 3, 4, 5, 6, 7],
    };
    let pick = |row: &Vec<String>| -> Vec<String> {
        columns
            .iter()
            .filter_map(|column| row.get(*column).cloned())
            .collect()
    };
    let head = pick(&whole.head);
    let mut table = Table::new(head.iter().map(String::as_str)).with_words(&[1]);
    table.rows = whole.rows.iter().map(pick).collect();
    table
}

fn named(trial: &Trial) -> String {
    match trial.purpose {
        TrialPurpose::Search => trial.trial.to_string(),
        TrialPurpose::Confirmation => format!("{} confirmation", trial.trial),
        TrialPurpose::Overload => format!("{} overload", trial.trial),
    }
}

fn outcome(trial: &Trial) -> &'static str {
    match trial.purpose {
        TrialPurpose::Overload => trial.bearing.manner.name(),
        TrialPurpose::Search | TrialPurpose::Confirmation => trial.outcome.name(),
    }
}

fn result(result: CapacityResult) -> &'static str {
    match result {
        CapacityResult::Found => "found",
        CapacityResult::Wide => "wider than asked for",
        CapacityResult::AtLeast => "not found: at least",
        CapacityResult::Unmet => "no rate meets it",
        CapacityResult::Unknown => "nothing",
    }
}

fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| NOTHING.to_owned(), format_rate)
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| NOTHING.to_owned(), percent)
}

fn components(trials: &[Trial]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in trials.iter().flat_map(|trial| trial.components.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
