//! A history as one page, with its chart.

use super::History;
use super::text::mark;
use crate::judgement::threshold::format_value;
use crate::render::html::{sentence, trend, whole_page};
use maud::html;

/// Renders it.
#[must_use]
pub fn render(history: &History) -> String {
    let unit = history.unit();
    let points: Vec<f64> = history.points.iter().map(|point| point.value).collect();
    let mut ends: Vec<usize> = vec![0];
    ends.extend(history.changes.iter().map(|change| change.at));
    ends.push(points.len());
    let content = html! {
        header { div {
            h1 { (history.experiment) }
            div.sub { (history.arm) " " (history.metric) " over " (points.len()) " runs" }
        } }
        section {
            h2 { "Trend" }
            p.reading { "One dot per run, in order of time; the line is the mean between changes. Changes by E-divisive (Matteson and James, 2014), at 5 %." }
            @if !points.is_empty() { (trend(&points, &ends, unit)) }
            @if history.changes.is_empty() { p { "No change was found." } }
            ul {
                @for change in &history.changes {
                    li { (change.started_at) ": " (format_value(change.before, unit)) " to " (format_value(change.after, unit)) " (" (mark(change)) "), p = " (format!("{:.3}", change.p)) }
                }
            }
        }
        section {
            h2 { "Runs" }
            div.scroll tabindex="0" { table {
                thead { tr { th.w scope="col" { "began" } th scope="col" { (history.metric) } th.w scope="col" { "where" } } }
                tbody { @for point in &history.points {
                    tr { th.name scope="row" { (point.started_at) } td { (format_value(point.value, unit)) } td.w { (point.location) } }
                } }
            } }
            @for line in &history.left_out { p.sub { "Left out: " (sentence(line)) } }
        }
    };
    whole_page(
        &format!("{} · history · Plimsoll", history.experiment),
        &content,
    )
}
