//! One line per arm and block, level or trial, and one per arm and step, and two per arm and group of steps, over all blocks or of each
//! level, for spreadsheets and for tools that follow figures over time (RFC 4180; times in seconds; columns as in `docs/results.md`).

use crate::record::{
    ArmSummary, GroupSummary, LevelSummary, Statistic, StepSummary, TimeStatistics,
};
use crate::render::view::RunView;
use indexmap::IndexMap;

/// The time of blocks and steps.
const RESPONSE: &str = "response_time";

/// The parts of a step's service time, which have columns of their own.
const PARTS: [&str; 2] = ["first_byte_time", "body_time"];

/// Their figures.
const OF_PARTS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P95,
    Statistic::P99,
];

/// Renders the figures of every block, level or trial, of all steps together, and of every step, of all blocks together or of each level.
#[must_use]
pub fn render(view: &RunView) -> String {
    let mut text = head();
    for (name, arm) in &view.summary.arms {
        for row in loads(arm).into_iter().chain(parts(arm)) {
            let mut cells = vec![
                quote(&view.summary.experiment),
                quote(&view.manifest.started_at),
                quote(name),
            ];
            cells.extend(row.cells());
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
    }
    text
}

fn head() -> String {
    let mut text =
        "experiment,started_at,arm,block,step,achieved_per_s,failed,count,min,deviation".to_owned();
    for statistic in Statistic::ALL {
        text.push(',');
        text.push_str(statistic.name());
    }
    text.push_str(",max,group,time");
    for part in PARTS {
        for statistic in OF_PARTS {
            text.push_str(&format!(",{part}_{}", statistic.name()));
        }
    }
    text.push_str(",offered_per_s,level,outcome,good_per_s\r\n");
    text
}

/// Columns of a row beside its run and its arm.
struct Row<'a> {
    block: Option<u32>,
    step: &'a str,
    achieved_per_s: Option<f64>,
    failed: u64,
    times: &'a TimeStatistics,
    group: &'a str,
    time: &'static str,
    parts: Option<[&'a TimeStatistics; 2]>,
    offered_per_s: Option<f64>,
    level: &'a str,
    outcome: &'static str,
    good_per_s: Option<f64>,
}

impl<'a> Row<'a> {
    /// A row of response times.
    fn of(achieved_per_s: Option<f64>, failed: u64, times: &'a TimeStatistics) -> Self {
        Self {
            block: None,
            step: "",
            achieved_per_s,
            failed,
            times,
            group: "",
            time: RESPONSE,
            parts: None,
            offered_per_s: None,
            level: "",
            outcome: "",
            good_per_s: None,
        }
    }

    /// This row, of this level.
    fn at(self, level: &'a LevelSummary) -> Self {
        Self {
            block: Some(level.level),
            offered_per_s: level.offered_per_s,
            level: &level.name,
            good_per_s: level.good_per_s,
            outcome: (level.bearing.as_ref()).map_or("", |bearing| bearing.manner.name()),
            ..self
        }
    }

    fn cells(&self) -> Vec<String> {
        let block = self.block.map(|block| block.to_string());
        let mut cells = vec![
            block.unwrap_or_default(),
            quote(self.step),
            optional(self.achieved_per_s),
            self.failed.to_string(),
        ];
        cells.extend(figures(self.times));
        cells.extend([quote(self.group), self.time.to_owned()]);
        cells.extend(of_parts(self.parts));
        cells.extend([
            optional(self.offered_per_s),
            quote(self.level),
            self.outcome.to_owned(),
            optional(self.good_per_s),
        ]);
        cells
    }
}

/// Blocks, levels or trials: whichever the arm has.
fn loads(arm: &ArmSummary) -> Vec<Row<'_>> {
    if let Some(found) = &arm.capacity {
        let trials = found.trials.iter().map(|trial| Row {
            block: Some(trial.trial),
            offered_per_s: Some(trial.rate_per_s),
            outcome: trial.outcome.name(),
            good_per_s: trial.good_per_s,
            ..Row::of(trial.achieved_per_s, trial.failed, &trial.response_time)
        });
        return trials.collect();
    }
    if !arm.levels.is_empty() {
        let levels = arm.levels.iter().map(|level| {
            Row::of(level.achieved_per_s, level.failed, &level.response_time).at(level)
        });
        return levels.collect();
    }
    let blocks = arm.by_block.iter().map(|block| Row {
        block: Some(block.block),
        good_per_s: block.good_per_s,
        ..Row::of(block.achieved_per_s, block.failed, &block.response_time)
    });
    blocks.collect()
}

/// Steps and groups: of each level where there are any, for these are loads of their own.
fn parts(arm: &ArmSummary) -> Vec<Row<'_>> {
    if arm.levels.is_empty() {
        return steps(&arm.by_step).chain(groups(&arm.by_group)).collect();
    }
    let of_levels = arm.levels.iter().flat_map(|level| {
        let rows = steps(&level.by_step).chain(groups(&level.by_group));
        rows.map(move |row| row.at(level))
    });
    of_levels.collect()
}

fn steps(by_step: &IndexMap<String, StepSummary>) -> impl Iterator<Item = Row<'_>> {
    by_step.iter().map(|(name, step)| Row {
        step: name,
        parts: Some([&step.first_byte_time, &step.body_time]),
        good_per_s: step.good_per_s,
        ..Row::of(step.achieved_per_s, step.failed, &step.response_time)
    })
}

fn groups(by_group: &IndexMap<String, GroupSummary>) -> impl Iterator<Item = Row<'_>> {
    by_group.iter().flat_map(|(name, group)| {
        let times = [
            ("duration", &group.duration),
            ("cumulated_response_time", &group.cumulated_response_time),
        ];
        times.map(|(time, times)| Row {
            group: name,
            time,
            ..Row::of(group.achieved_per_s, group.failed, times)
        })
    })
}

/// The figures of both parts; empty cells where a row has none.
fn of_parts(parts: Option<[&TimeStatistics; 2]>) -> Vec<String> {
    let Some(parts) = parts else {
        return vec![String::new(); PARTS.len() * OF_PARTS.len()];
    };
    let figures = parts.into_iter().flat_map(|times| {
        OF_PARTS
            .into_iter()
            .map(|statistic| optional(times.get(statistic)))
    });
    figures.collect()
}

fn figures(times: &TimeStatistics) -> Vec<String> {
    let mut cells = vec![
        times.count.to_string(),
        optional(times.min),
        optional(times.deviation),
    ];
    cells.extend(Statistic::ALL.map(|statistic| optional(times.get(statistic))));
    cells.push(optional(times.max));
    cells
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text cell. One that a spreadsheet would take for a formula gets a leading apostrophe.
fn quote(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn cells() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
