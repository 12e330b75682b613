//! Response times by range: a bar per arm, and per step where there are several.

use crate::record::{RangeSummary, Ranges, Summary};
use crate::render::view::RunView;
use crate::render::words::{count, percent};
use maud::{Markup, html};
use plimsoll_base::units::format_seconds;

/// One bar: the exchanges with a result of an arm or a step.
struct Bar<'a> {
    arm: &'a str,
    /// Empty for the whole arm.
    step: &'a str,
    ranges: &'a [RangeSummary],
    failed: u64,
    failed_share: f64,
}

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let bars = bars(summary);
    if bars.is_empty() {
        return Markup::default();
    }
    let several_arms = summary.arms.len() > 1;
    let several_steps = bars.iter().any(|bar| !bar.step.is_empty());
    let labels = labels(&summary.range_bounds);
    let content = html! {
        ul.legend {
            @for (index, label) in labels.iter().enumerate() { li { span class={ "swatch " (shade(index, labels.len())) } {} (label) } }
            li { span class="swatch bad" {} "failed" }
        }
        div.scroll tabindex="0" {
            table.ranges {
                thead { tr {
                    @if several_arms { th.w scope="col" { "arm" } }
                    @if several_steps { th.w scope="col" { "step" } }
                    th.w scope="col" { "share" }
                    @for label in &labels { th scope="col" { (label) } }
                    th scope="col" { "failed" }
                } }
                tbody {
                    @for bar in &bars {
                        tr class=[(!bar.step.is_empty()).then_some("more")] {
                            @if several_arms { th.name scope="row" { @if bar.step.is_empty() { (bar.arm) } } }
                            @if several_steps { td.w { @if bar.step.is_empty() { "all" } @else { (bar.step) } } }
                            td.bar { (drawn(bar)) }
                            @for range in bar.ranges { td { (cell(range.count, range.share)) } }
                            td { (cell(bar.failed, Some(bar.failed_share))) }
                        }
                    }
                }
            }
        }
    };
    super::section(
        "Response time ranges",
        "Exchanges that passed, by how long they took from their intended start; failed ones apart, however fast they were.",
        content,
    )
}

fn bars(summary: &Summary) -> Vec<Bar<'_>> {
    let mut bars = Vec::new();
    for (name, arm) in &summary.arms {
        if arm.ranges.is_empty() {
            continue;
        }
        bars.push(Bar {
            arm: name,
            step: "",
            ranges: &arm.ranges,
            failed: arm.failed,
            failed_share: arm.failed_share.unwrap_or(0.0),
        });
        if arm.by_step.len() < 2 {
            continue;
        }
        bars.extend(arm.by_step.iter().map(|(step, figures)| Bar {
            arm: name,
            step,
            ranges: &figures.ranges,
            failed: figures.failed,
            failed_share: figures.failed_share.unwrap_or(0.0),
        }));
    }
    bars
}

/// The ranges in words, the shortest times first.
pub(super) fn labels(ranges: &Ranges) -> Vec<String> {
    let bounds: Vec<String> = ranges
        .bounds()
        .iter()
        .map(|bound| short(&format_seconds(*bound)))
        .collect();
    let first = format!("≤ {}", bounds[0]);
    let between = bounds.windows(2).map(|pair| format!("≤ {}", pair[1]));
    let last = format!("> {}", bounds[bounds.len() - 1]);
    std::iter::once(first)
        .chain(between)
        .chain([last])
        .collect()
}

/// Drops zeros after the point: bounds are round.
fn short(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text.to_owned(),
    }
}

/// The class of a range: the longer the times, the darker.
fn shade(index: usize, of: usize) -> String {
    format!("r{}", index * 4 / of.max(1))
}

fn drawn(bar: &Bar<'_>) -> Markup {
    let width = |share: f64| format!("width:{:.3}%", 100.0 * share);
    html! {
        div.stack {
            @for (index, range) in bar.ranges.iter().enumerate() {
                @if range.count > 0 { span class=(shade(index, bar.ranges.len())) style=(width(range.share.unwrap_or(0.0))) {} }
            }
            @if bar.failed > 0 { span.bad style=(width(bar.failed_share)) {} }
        }
    }
}

fn cell(number: u64, share: Option<f64>) -> Markup {
    html! {
        (count(number))
        @if let Some(share) = share.filter(|_| number > 0) { br; span.sub { (percent(share)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_words() {
        let check = |bounds: &[f64], expected: &[&str]| {
            assert_eq!(labels(&Ranges::try_new(bounds.to_vec()).unwrap()), expected)
        };
        check(&[0.8, 1.2], &["≤ 800 ms", "≤ 1.2 s", "> 1.2 s"]);
        check(&[0.1], &["≤ 100 ms", "> 100 ms"]);
    }
}
