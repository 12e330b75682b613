//! Each group of steps: how long passes through it took over time, and how many there were.

use super::over_time::{GROUP_DURATIONS, GROUP_PASSES, lines};
use super::{figure, legend};
use crate::record::{GroupRow, SeriesRow};
use crate::render::view::RunView;
use indexmap::IndexMap;
use maud::{Markup, html};

/// Charts of more groups than this would make a page that nobody reads to its end.
const MOST_GROUPS: usize = 12;

pub(super) fn section(view: &RunView) -> Markup {
    let groups = by_group(view);
    if groups.is_empty() {
        return Markup::default();
    }
    let arms: Vec<&str> = view.summary.arms.keys().map(String::as_str).collect();
    let more = groups.len().saturating_sub(MOST_GROUPS);
    let content = html! {
        (legend(arms.iter().copied()))
        @for (name, rows) in groups.iter().take(MOST_GROUPS) {
            details {
                summary { (name) }
                h3 { "Duration" }
                (figure(lines(view, rows, &arms, &GROUP_DURATIONS), "Bold: p95 of the passes that ended in each second; thin: median."))
                h3 { "Passes per second" }
                (figure(lines(view, rows, &arms, &GROUP_PASSES), "Passes that ended; red, where there were any: those in which an exchange failed."))
            }
        }
        @if more > 0 { p.sub { "The rows of " (more) " more stand in series.jsonl." } }
    };
    super::section("Groups over time", "", content)
}

/// Rows of each group, in the order of the scenario.
fn by_group(view: &RunView) -> IndexMap<&str, Vec<&GroupRow>> {
    let mut groups: IndexMap<&str, Vec<&GroupRow>> = IndexMap::new();
    for row in &view.series {
        if let SeriesRow::Group(row) = row {
            groups.entry(&row.group).or_default().push(row);
        }
    }
    groups
}
