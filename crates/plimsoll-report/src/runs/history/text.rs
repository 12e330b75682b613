//! A history for the terminal: one row per run, a bar for its figure, and a line where it changed.

use super::{Change, History};
use crate::judgement::threshold::format_value;
use crate::render::text_table;

/// Runs beyond this are left to the page.
const MOST_ROWS: usize = 40;
/// Characters of the longest bar.
const BAR: f64 = 24.0;

/// Renders it.
#[must_use]
pub fn render(history: &History) -> String {
    let unit = history.unit();
    let mut text = format!(
        "{} · {} {} · {} runs\n\n",
        history.experiment,
        history.arm,
        history.metric,
        history.points.len()
    );
    let first = history.points.len().saturating_sub(MOST_ROWS);
    let top = history
        .points
        .iter()
        .map(|point| point.value)
        .fold(0.0, f64::max);
    let mut rows = Vec::new();
    for (place, point) in history.points.iter().enumerate().skip(first) {
        let change = history.changes.iter().find(|change| change.at == place);
        rows.push(vec![
            point.started_at.clone(),
            bar(point.value, top),
            format_value(point.value, unit),
            change.map_or_else(String::new, mark),
            point.location.clone(),
        ]);
    }
    if first > 0 {
        text.push_str(&format!(
            "{first} earlier runs are in the page (`--format html`)\n"
        ));
    }
    text.push_str(&text_table(
        &["run began", "", &history.metric, "change", "where"],
        rows,
    ));
    text.push('\n');
    if history.changes.is_empty() {
        text.push_str("no change was found (E-divisive, 5 %)\n");
    }
    for change in &history.changes {
        text.push_str(&format!(
            "changed with the run of {}: {} to {} ({}), p = {:.3} (E-divisive)\n",
            change.started_at,
            format_value(change.before, unit),
            format_value(change.after, unit),
            mark(change),
            change.p
        ));
    }
    for line in &history.left_out {
        text.push_str(&format!("left out: {line}\n"));
    }
    text
}

pub(super) fn mark(change: &Change) -> String {
    format!("{:+.1} %", 100.0 * change.share).replace('-', "−")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few characters"
)]
fn bar(value: f64, top: f64) -> String {
    let share = if top > 0.0 { value / top } else { 0.0 };
    "▪".repeat((BAR * share.max(0.0)).round() as usize)
}
