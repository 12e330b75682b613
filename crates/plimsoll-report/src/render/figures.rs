//! The tables that more than one renderer shows.

pub(super) mod availability;
pub(super) mod capacity;
pub(super) mod faults;
pub(super) mod levels;
pub(super) mod links;

use super::rates::{self, PerIteration};
use super::table::Table;
use super::words::{
    bytes, cores, count, failure, failures, largest, mark, number, percent, shown, time,
};
use crate::record::{ArmSummary, GroupSummary, Statistic, StepSummary, Summary, TimeStatistics};
use indexmap::IndexMap;

/// Figures of a distribution that every table of times shows, between the smallest and the largest.
const SHOWN: [Statistic; 6] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P90,
    Statistic::P95,
    Statistic::P99,
    Statistic::P999,
];

/// Arms side by side: load, failures, and both views of their times: response times, which contain what callers waited, and service
/// times, which do not; where anything failed, what failures took.
pub(super) fn arms(summary: &Summary) -> Table {
    let all_good = summary
        .arms
        .values()
        .all(|arm| arm.achieved_per_s == arm.good_per_s);
    let mut head = vec!["arm", rates::offered_head(rates::differ(summary)), "good/s"];
    head.extend((!all_good).then_some("answered/s"));
    head.extend(["failed", "time", "min"]);
    let before_times = head.len() - 2;
    let mut table = Table::new(with_shown(&head)).with_words(match all_good {
        true => &[4],
        false => &[5],
    });
    for (name, arm) in &summary.arms {
        let mut load = vec![
            name.clone(),
            PerIteration::of_arm(arm).offered(arm.offered_per_s),
            number(arm.good_per_s),
        ];
        load.extend((!all_good).then(|| number(arm.achieved_per_s)));
        load.push(failures(arm.failed, arm.failed_share));
        let views = [
            ("response", "response_time", &arm.times.response_time),
            ("service", "service_time", &arm.times.service_time),
            ("failed", "failed_time", &arm.failed_time),
        ];
        let seen = |view: &(&str, &str, &TimeStatistics)| view.0 != "failed" || view.2.count > 0;
        for (label, time, figures) in views.into_iter().filter(seen) {
            let mut row = std::mem::replace(&mut load, vec![String::new(); before_times]);
            row.push(label.to_owned());
            row.extend(figures_of(figures, |figure| {
                mark(summary, name, time, figure)
            }));
            table.rows.push(row);
        }
    }
    table
}

/// These columns, the last of which is the smallest time, and after them those of every table of times.
pub(super) fn with_shown<'a>(head: &[&'a str]) -> Vec<&'a str> {
    let head = head.iter().copied();
    let shown = SHOWN.map(Statistic::label);
    head.chain(shown).chain(["max"]).collect()
}

/// The cells of a distribution, each with its mark: what [`with_shown`] has the heads of.
pub(super) fn figures_of(
    times: &TimeStatistics,
    mark: impl Fn(&str) -> &'static str,
) -> Vec<String> {
    let mut cells = vec![time(times.min)];
    cells.extend(
        SHOWN.map(|statistic| format!("{}{}", shown(times, statistic), mark(statistic.name()))),
    );
    cells.push(format!("{}{}", largest(times), mark("max")));
    cells
}

/// Every figure of every step, step by step, so that arms stand below each other; first that of all steps where there are several.
pub(super) fn statistics(summary: &Summary) -> Table {
    let several_arms = summary.arms.len() > 1;
    let mut table = Table::new(
        ["step"]
            .into_iter()
            .chain(several_arms.then_some("arm"))
            .chain(["exchanges", "passed", "failed", "good/s", "min"])
            .chain(STATISTICS.map(Statistic::label))
            .chain(["max", "mean", "deviation"]),
    )
    .with_words(if several_arms { &[1] } else { &[] });
    let names = step_names(summary);
    if names.len() > 1 {
        let all = |arm: &'_ ArmSummary| Some(Figures::of_arm(arm).cells());
        push_by_arm(&mut table, summary, "all steps", all);
    }
    for name in names {
        let of_step = |arm: &'_ ArmSummary| Some(Figures::of_step(arm.by_step.get(name)?).cells());
        push_by_arm(&mut table, summary, name, of_step);
    }
    table
}

/// Adds a row for each arm that has these cells; the name stands in the first of them.
fn push_by_arm(
    table: &mut Table,
    summary: &Summary,
    name: &str,
    cells: impl Fn(&ArmSummary) -> Option<Vec<String>>,
) {
    let mut name = name.to_owned();
    for (arm, figures) in &summary.arms {
        let Some(cells) = cells(figures) else {
            continue;
        };
        let mut row = vec![std::mem::take(&mut name)];
        row.extend((summary.arms.len() > 1).then(|| arm.clone()));
        row.extend(cells);
        table.rows.push(row);
    }
}

/// Percentiles of the table of statistics.
const STATISTICS: [Statistic; 4] = [
    Statistic::P50,
    Statistic::P75,
    Statistic::P95,
    Statistic::P99,
];

/// Columns of the table of statistics for an arm or a step.
struct Figures<'a> {
    results: u64,
    failed: u64,
    failed_share: Option<f64>,
    per_second: Option<f64>,
    response: &'a TimeStatistics,
}

impl<'a> Figures<'a> {
    fn of_arm(arm: &'a ArmSummary) -> Self {
        Self {
            results: arm.outcomes.results(),
            failed: arm.failed,
            failed_share: arm.failed_share,
            per_second: arm.good_per_s,
            response: &arm.times.response_time,
        }
    }

    fn of_step(step: &'a StepSummary) -> Self {
        Self {
            results: step.outcomes.results(),
            failed: step.failed,
            failed_share: step.failed_share,
            per_second: step.good_per_s,
            response: &step.response_time,
        }
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            count(self.results),
            count(self.results.saturating_sub(self.failed)),
            failures(self.failed, self.failed_share),
            number(self.per_second),
        ];
        cells.extend(spread(self.response));
        cells
    }
}

/// Names of steps over all arms, in the order of the scenarios.
fn step_names(summary: &Summary) -> Vec<&str> {
    distinct(summary.arms.values().flat_map(|arm| arm.by_step.keys()))
}

/// Each name once, where it comes first.
fn distinct<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Groups of steps, with both of their times; `None` when no scenario has any, and of levels, which are loads of their own.
pub(super) fn groups(summary: &Summary) -> Option<Table> {
    let by_level = summary.arms.values().any(|arm| !arm.levels.is_empty());
    if by_level {
        return levels::groups(summary);
    }
    let several_arms = summary.arms.len() > 1;
    let mut table = Table::new(
        ["group"]
            .into_iter()
            .chain(several_arms.then_some("arm"))
            .chain(["passes", "passed", "failed", "passes/s", "time", "min"])
            .chain(STATISTICS.map(Statistic::label))
            .chain(["max", "mean", "deviation"]),
    )
    .with_words(if several_arms { &[1, 6] } else { &[5] });
    for name in distinct(summary.arms.values().flat_map(|arm| arm.by_group.keys())) {
        let mut first = name.to_owned();
        for (arm, figures) in &summary.arms {
            let Some(group) = figures.by_group.get(name) else {
                continue;
            };
            let mut head = vec![std::mem::take(&mut first)];
            head.extend(several_arms.then(|| arm.clone()));
            push_group(&mut table, head, group);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Adds two rows, one for each of a group's times; what stands in front of them, and its counts, stand once.
fn push_group(table: &mut Table, mut head: Vec<String>, group: &GroupSummary) {
    let mut counts = vec![
        count(group.count),
        count(group.count.saturating_sub(group.failed)),
        failures(group.failed, group.failed_share),
        number(group.achieved_per_s),
    ];
    for (label, times) in [
        ("duration", &group.duration),
        ("response", &group.cumulated_response_time),
    ] {
        let mut row = head.clone();
        head.iter_mut().for_each(String::clear);
        row.append(&mut counts);
        counts = vec![String::new(); 4];
        row.push(label.to_owned());
        row.extend(spread(times));
        table.rows.push(row);
    }
}

/// The cells of a distribution in the table of statistics.
fn spread(times: &TimeStatistics) -> impl Iterator<Item = String> {
    let within = STATISTICS.map(|statistic| shown(times, statistic));
    let after = [
        largest(times),
        shown(times, Statistic::Mean),
        time(times.deviation),
    ];
    [time(times.min)].into_iter().chain(within).chain(after)
}

/// Steps of every arm, of each level where there are any; `None` when no scenario has more than one.
pub(super) fn steps(summary: &Summary) -> Option<Table> {
    if summary.arms.values().all(|arm| arm.by_step.len() < 2) {
        return None;
    }
    let by_level = summary.arms.values().any(|arm| !arm.levels.is_empty());
    let head: Vec<&str> = ["step", "arm"]
        .into_iter()
        .chain(by_level.then_some("level"))
        .chain(["exchanges", "failed", "min"])
        .collect();
    let mut table = Table::new(with_shown(&head)).with_words(if by_level { &[1, 2] } else { &[1] });
    for (arm_name, arm) in &summary.arms {
        let whole = arm.by_step.iter().map(|(name, step)| (name, None, step));
        let of_levels = arm.levels.iter().flat_map(|level| {
            let steps = level.by_step.iter();
            steps.map(move |(name, step)| (name, Some(&level.name), step))
        });
        let whole = whole.filter(|_| !by_level);
        for (name, level, step) in whole.chain(of_levels) {
            let response = &step.response_time;
            let mut row = vec![name.clone(), arm_name.clone()];
            row.extend(level.cloned());
            row.extend([
                count(step.sent),
                failures(step.failed, step.failed_share),
                time(response.min),
            ]);
            row.extend(SHOWN.map(|statistic| shown(response, statistic)));
            row.push(largest(response));
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

/// Failures by kind over all steps, checks by step too, one row per arm and kind; empty when nothing failed and nothing was dropped.
pub(super) fn failures_by_kind(summary: &Summary) -> Table {
    let mut table = Table::new(["what happened", "arm", "how often"]).with_words(&[1]);
    for (name, arm) in &summary.arms {
        let mut kinds: IndexMap<String, u64> = IndexMap::new();
        for seen in &arm.failures {
            let mut kind = failure(&seen.failure, seen.reason.as_deref());
            if is_of_several_steps(arm, &seen.failure) {
                kind.push_str(&format!(", step {}", seen.step));
            }
            *kinds.entry(kind).or_default() += seen.count;
        }
        for (kind, times) in kinds.into_iter().chain(without_result(arm)) {
            table.rows.push(vec![kind, name.clone(), count(times)]);
        }
    }
    table
}

/// Whether a failure is that of a check which more than one step has.
fn is_of_several_steps(arm: &ArmSummary, failure: &str) -> bool {
    let Some(check) = failure.strip_prefix("check.") else {
        return false;
    };
    let steps = arm.by_step.values();
    steps.filter(|step| step.checks.contains_key(check)).count() > 1
}

/// Failures by step and kind, with when they were seen; empty when nothing failed.
pub(super) fn failures_seen(summary: &Summary) -> Table {
    let head = [
        "what happened",
        "step",
        "arm",
        "how often",
        "share",
        "first seen",
        "last seen",
    ];
    let mut table = Table::new(head).with_words(&[1, 2]);
    for (name, arm) in &summary.arms {
        for seen in &arm.failures {
            table.rows.push(vec![
                failure(&seen.failure, seen.reason.as_deref()),
                seen.step.clone(),
                name.clone(),
                count(seen.count),
                seen.share.map_or_else(String::new, percent),
                format!("{:.0} s", seen.first_s),
                format!("{:.0} s", seen.last_s),
            ]);
        }
    }
    table
}

/// How often each check held, by its name and its step; empty without any.
pub(super) fn checks(summary: &Summary) -> Table {
    let mut table = Table::new(["check", "step", "arm", "passed", "failed"]).with_words(&[1, 2]);
    for (name, arm) in &summary.arms {
        for (step, of_step) in &arm.by_step {
            for (check, counted) in &of_step.checks {
                table.rows.push(vec![
                    check.clone(),
                    step.clone(),
                    name.clone(),
                    count(counted.passed),
                    count(counted.failed),
                ]);
            }
        }
    }
    table
}

/// Arrivals and exchanges that have no result; empty when all have one.
pub(super) fn not_results(summary: &Summary) -> Table {
    let mut table = Table::new(["what happened", "arm", "how often"]).with_words(&[1]);
    for (name, arm) in &summary.arms {
        for (kind, times) in without_result(arm) {
            table.rows.push(vec![kind, name.clone(), count(times)]);
        }
    }
    table
}

fn without_result(arm: &ArmSummary) -> impl Iterator<Item = (String, u64)> {
    let kinds = [
        (
            "ended by us when the run stopped (not a failure)",
            arm.outcomes.aborted,
        ),
        (
            "arrival never started: every allowed connection was busy",
            arm.dropped,
        ),
    ];
    let seen = kinds.into_iter().filter(|(_, n)| *n > 0);
    seen.map(|(kind, n)| (kind.to_owned(), n))
}
