//! Each step of a scenario that has several: its percentiles over time, and against the throughput of the whole arm.

use super::over_time::{STEP_PERCENTILES, arm_colour, lines, load_rows};
use super::throughput::{self, Point};
use super::{figure, legend};
use crate::record::{SeriesRow, StepRow};
use crate::render::view::RunView;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Charts of more steps than this would make a page that nobody reads to its end.
const MOST_STEPS: usize = 12;

pub(super) fn section(view: &RunView) -> Markup {
    let steps = by_step(view);
    if steps.is_empty() {
        return Markup::default();
    }
    let arms: Vec<&str> = view.summary.arms.keys().map(String::as_str).collect();
    let throughput = throughput_by_second(view);
    let more = steps.len().saturating_sub(MOST_STEPS);
    let content = html! {
        (legend(arms.iter().copied()))
        @for (name, rows) in steps.iter().take(MOST_STEPS) {
            details {
                summary { (name) }
                h3 { "Response time percentiles" }
                (figure(lines(view, rows, &arms, &STEP_PERCENTILES), "Bold: p99 of each second; thin: median."))
                @let points = points(rows, &throughput, &arms);
                @if !points.is_empty() {
                    h3 { "Response time against throughput" }
                    (figure(throughput::chart(&points), "One dot per measured second: the 95th percentile of the step over the exchanges of all steps answered in it."))
                }
            }
        }
        @if more > 0 { p.sub { "The rows of " (more) " more stand in series.jsonl." } }
    };
    super::section("Steps over time", "", content)
}

/// Rows of each step, in the order of the scenario.
fn by_step(view: &RunView) -> Vec<(&str, Vec<&StepRow>)> {
    let mut steps: Vec<(&str, Vec<&StepRow>)> = Vec::new();
    for row in &view.series {
        let SeriesRow::Step(row) = row else { continue };
        match steps.iter_mut().find(|(name, _)| *name == row.step) {
            Some((_, rows)) => rows.push(row),
            None => steps.push((&row.step, vec![row])),
        }
    }
    steps
}

/// Identity of a second: its arm, its block and its start, which both kinds of row have from one place.
type Second<'a> = (&'a str, u32, u64);

fn throughput_by_second(view: &RunView) -> BTreeMap<Second<'_>, f64> {
    let rows = load_rows(view).into_iter().filter(|row| !row.warmup);
    rows.map(|row| {
        let second = (row.arm.as_str(), row.block, row.t.to_bits());
        (second, row.good_per_s)
    })
    .collect()
}

fn points(rows: &[&StepRow], throughput: &BTreeMap<Second<'_>, f64>, arms: &[&str]) -> Vec<Point> {
    let measured = rows.iter().filter(|row| !row.warmup);
    measured
        .filter_map(|row| {
            let second = (row.arm.as_str(), row.block, row.t.to_bits());
            let rate = throughput.get(&second)?;
            Some((arm_colour(&row.arm, arms), *rate, row.response_time.p95?))
        })
        .collect()
}
