//! The tables that more than one renderer shows.

use super::table::Table;
use super::words::{bytes, cores, count, failures, mark, number, time};
use crate::record::{Outcomes, Statistic, Summary, TimeStatistics};

/// Figures of a distribution that every table of times shows, between the smallest and the largest.
const SHOWN: [Statistic; 5] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P90,
    Statistic::P99,
    Statistic::P999,
];

/// Arms side by side: load, failures, and both views of their times: response times, which contain what callers waited, and service
/// times, which do not.
pub(super) fn arms(summary: &Summary) -> Table {
    let head = ["arm", "offered/s", "achieved/s", "failed", "time", "min"];
    let mut table = Table::new(
        head.into_iter()
            .chain(SHOWN.map(Statistic::label))
            .chain(["max"]),
    )
    .with_words(&[4]);
    for (name, arm) in &summary.arms {
        let mut load = vec![
            name.clone(),
            number(arm.offered_per_s),
            number(arm.achieved_per_s),
            failures(arm.failed, arm.failed_share),
        ];
        let views = [
            ("response", "response_time", &arm.times.response_time),
            ("service", "service_time", &arm.times.service_time),
        ];
        for (label, time, figures) in views {
            let mut row = std::mem::replace(&mut load, vec![String::new(); 4]);
            row.push(label.to_owned());
            row.extend(figures_of(figures, |figure| {
                mark(summary, name, time, figure)
            }));
            table.rows.push(row);
        }
    }
    table
}

/// The cells of a distribution, each with its mark.
fn figures_of(times: &TimeStatistics, mark: impl Fn(&str) -> &'static str) -> Vec<String> {
    let marked = |value, figure| format!("{}{}", time(value), mark(figure));
    let mut cells = vec![time(times.min)];
    cells.extend(SHOWN.map(|statistic| marked(times.get(statistic), statistic.name())));
    cells.push(marked(times.max, "max"));
    cells
}

/// Steps of every arm; `None` when no scenario has more than one.
pub(super) fn steps(summary: &Summary) -> Option<Table> {
    if summary.arms.values().all(|arm| arm.by_step.len() < 2) {
        return None;
    }
    let head = ["step", "arm", "exchanges", "failed", "min"];
    let mut table = Table::new(
        head.into_iter()
            .chain(SHOWN.map(Statistic::label))
            .chain(["max"]),
    )
    .with_words(&[1]);
    for (arm_name, arm) in &summary.arms {
        for (name, step) in &arm.by_step {
            let response = &step.response_time;
            let mut row = vec![
                name.clone(),
                arm_name.clone(),
                count(step.sent),
                failures(step.failed, step.failed_share),
                time(response.min),
            ];
            row.extend(SHOWN.map(|statistic| time(response.get(statistic))));
            row.push(time(response.max));
            table.rows.push(row);
        }
    }
    Some(table)
}

/// Components: CPU under each arm's load, largest memory. `None` when nothing was probed.
pub(super) fn components(summary: &Summary) -> Option<Table> {
    let mut names: Vec<&String> = Vec::new();
    for name in summary.arms.values().flat_map(|arm| arm.components.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let heads: Vec<String> = summary
        .arms
        .keys()
        .map(|arm| format!("CPU, {arm}"))
        .collect();
    let mut table = Table::new(
        ["component"]
            .into_iter()
            .chain(heads.iter().map(String::as_str))
            .chain(["CPU max", "RSS max"]),
    );
    for name in names {
        let under = || summary.arms.values().map(|arm| arm.components.get(name));
        let mut row = vec![name.clone()];
        row.extend(under().map(|c| cores(c.and_then(|c| c.cpu_cores_mean))));
        row.push(cores(
            under()
                .flatten()
                .filter_map(|c| c.cpu_cores_max)
                .reduce(f64::max),
        ));
        row.push(bytes(
            under().flatten().filter_map(|c| c.rss_bytes_max).max(),
        ));
        table.rows.push(row);
    }
    Some(table)
}

/// Failures by kind, one row per arm and kind; empty when nothing failed and nothing was dropped.
pub(super) fn failures_by_kind(summary: &Summary) -> Table {
    let mut table = Table::new(["what happened", "arm", "how often"]).with_words(&[1]);
    for (name, arm) in &summary.arms {
        for (kind, times) in kinds(&arm.outcomes, arm.dropped) {
            table.rows.push(vec![kind, name.clone(), count(times)]);
        }
        for (check, counted) in arm.checks.iter().filter(|(_, counted)| counted.failed > 0) {
            table.rows.push(vec![
                format!("check failed: {check}"),
                name.clone(),
                count(counted.failed),
            ]);
        }
    }
    table
}

fn kinds(outcomes: &Outcomes, dropped: u64) -> Vec<(String, u64)> {
    let statuses = outcomes
        .answered
        .iter()
        .filter(|(status, _)| status.as_str() >= "400");
    let statuses = statuses.map(|(status, n)| (format!("answered with status {status}"), *n));
    let others = [
        ("timed out", outcomes.timed_out),
        ("no connection", outcomes.refused),
        (
            "connection lost before the answer was complete",
            outcomes.reset,
        ),
        ("TLS handshake failed", outcomes.tls_failed),
        ("not a valid answer", outcomes.malformed),
        (
            "ended by us when the run stopped (not a failure)",
            outcomes.aborted,
        ),
        (
            "arrival never started: every allowed connection was busy",
            dropped,
        ),
    ];
    let others = others
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| (kind.to_owned(), n));
    statuses.chain(others).collect()
}
