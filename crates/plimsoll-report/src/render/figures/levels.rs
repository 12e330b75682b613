//! The table of levels: one row a level and arm, arms below each other.

use super::{STATISTICS, push_group};
use crate::record::{LevelSummary, Manner, Statistic, Summary};
use crate::render::rates::{self, PerIteration};
use crate::render::table::Table;
use crate::render::words::{cores, failures, largest, number, shown, time};

/// Figures between the smallest and the largest.
const SHOWN: [Statistic; 5] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P90,
    Statistic::P95,
    Statistic::P99,
];

/// Levels with what was offered and achieved, times, and the processors that each component used; `None` where there are none.
pub(in crate::render) fn levels(summary: &Summary) -> Option<Table> {
    let names = distinct(summary.arms.values().flat_map(|arm| arm.levels.iter()));
    if names.is_empty() {
        return None;
    }
    let components = components(summary);
    let heads: Vec<String> = components
        .iter()
        .map(|name| format!("CPU {name}"))
        .collect();
    let several_arms = summary.arms.len() > 1;
    let mut table = Table::new(
        ["level"]
            .into_iter()
            .chain(several_arms.then_some("arm"))
            .chain(["bearing", rates::offered_head(rates::differ(summary))])
            .chain(["good/s", "failed", "min"])
            .chain(SHOWN.map(Statistic::label))
            .chain(["max"])
            .chain(heads.iter().map(String::as_str)),
    )
    .with_words(if several_arms { &[1, 2] } else { &[1] });
    for name in names {
        let mut first = name.to_owned();
        for (arm, figures) in &summary.arms {
            let Some(level) = figures.levels.iter().find(|level| level.name == name) else {
                continue;
            };
            let mut row = vec![std::mem::take(&mut first)];
            row.extend(several_arms.then(|| arm.clone()));
            row.extend(cells(level, PerIteration::of_levels(&figures.levels)));
            row.extend(components.iter().map(|component| {
                let found = level.components.get(*component);
                cores(found.and_then(|found| found.cpu_cores_mean))
            }));
            table.rows.push(row);
        }
    }
    Some(table)
}

/// Sentences that belong below the table: what its rates count, what changed with time, and the order in which levels ran, where it is not that of the table.
pub(in crate::render) fn remarks(summary: &Summary) -> Vec<String> {
    let drifts = summary.arms.iter().filter_map(|(name, arm)| {
        let sentence = &arm.drift.as_ref()?.sentence;
        Some(match summary.arms.len() {
            1 => sentence.clone(),
            _ => format!("{name}: {sentence}"),
        })
    });
    let counted = rates::said(summary).into_iter();
    counted.chain(drifts).chain(turns(summary)).collect()
}

fn turns(summary: &Summary) -> Option<String> {
    let levels = summary.arms.values().flat_map(|arm| &arm.levels);
    let mut turns: Vec<(u32, u32, &str)> = levels
        .filter_map(|level| Some((level.turn?, level.level, level.name.as_str())))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    if turns.is_sorted_by_key(|(_, number, _)| number) {
        return None;
    }
    let names: Vec<&str> = turns.into_iter().map(|(_, _, name)| name).collect();
    Some(format!("levels ran in the order {}", names.join(", ")))
}

/// Groups of steps at each level; `None` when no scenario has any.
pub(super) fn groups(summary: &Summary) -> Option<Table> {
    let mut table = Table::new(
        ["group", "arm", "level"]
            .into_iter()
            .chain(["passes", "passed", "failed", "passes/s", "time", "min"])
            .chain(STATISTICS.map(Statistic::label))
            .chain(["max", "mean", "deviation"]),
    )
    .with_words(&[1, 2, 7]);
    for (arm, figures) in &summary.arms {
        for level in &figures.levels {
            for (name, group) in &level.by_group {
                let head = vec![name.clone(), arm.clone(), level.name.clone()];
                push_group(&mut table, head, group);
            }
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// A level's bearing, in a word or two.
pub(in crate::render) fn bearing(level: &LevelSummary) -> &'static str {
    match &level.bearing {
        None => "closed model",
        Some(bearing) if bearing.burst => "queues (one burst)",
        Some(bearing) => bearing.manner.name(),
    }
}

fn cells(level: &LevelSummary, per_iteration: PerIteration) -> Vec<String> {
    let response = &level.response_time;
    let marked = |statistic: Statistic| {
        let mark = if level.void_for.contains(&statistic) {
            "‡"
        } else {
            ""
        };
        format!("{}{mark}", shown(response, statistic))
    };
    let mut cells = vec![
        bearing(level).to_owned(),
        per_iteration.offered(level.offered_per_s),
        number(level.good_per_s),
        failures(level.failed, level.failed_share),
        time(response.min),
    ];
    cells.extend(SHOWN.map(marked));
    cells.push(largest(response));
    cells
}

/// Whether a level was not sustained.
pub(in crate::render) fn fell_behind(level: &LevelSummary) -> bool {
    let bearing = level.bearing.as_ref();
    bearing.is_some_and(|bearing| bearing.manner != Manner::Sustains)
}

fn distinct<'a>(levels: impl Iterator<Item = &'a LevelSummary>) -> Vec<&'a str> {
    let mut names: Vec<(u32, &str)> = levels
        .map(|level| (level.level, level.name.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|(_, name)| name).collect()
}

fn components(summary: &Summary) -> Vec<&str> {
    let levels = summary.arms.values().flat_map(|arm| &arm.levels);
    let mut names: Vec<&str> = Vec::new();
    for name in levels.flat_map(|level| level.components.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
