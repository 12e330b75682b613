//! The top of the page: what was asked, what was found, and the few figures that answer it.

use super::{sentence, style};
use crate::capacity::conclude::format_rate;
use crate::record::{ArmSummary, CapacitySummary, Difference, LevelSummary, Statistic, Summary};
use crate::render::figures::levels::fell_behind;
use crate::render::rates::PerIteration;
use crate::render::view::RunView;
use crate::render::words::{
    count, failures, has_differences, headline, interval, largest, left_out, method, number, shown,
    signed_time,
};
use maud::{Markup, PreEscaped, html};

/// More arms than this are left to the table.
const MOST_CARDS: usize = 6;

/// The load line: a circle with a line through it.
const MARK: &str = r##"<svg viewBox="0 0 34 34" aria-hidden="true"><g fill="none" stroke="#2B6CB0" stroke-width="3"><circle cx="17" cy="17" r="10.5"/><path d="M1 17h32"/></g></svg>"##;

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let verdict = &summary.verdict;
    html! {
        header {
            (PreEscaped(MARK))
            div {
                h1 { (summary.experiment) }
                div.sub { (method(view)) " · seed " (summary.seed) " · " (view.manifest.started_at) }
            }
        }
        section class={ "verdict " (verdict.result.name()) } {
            h2 { (headline(summary)) }
            ul { @for reason in verdict.reasons.iter().chain(&left_out(summary)) { li { (sentence(reason)) } } }
        }
        div.cards { (cards(summary)) }
    }
}

fn cards(summary: &Summary) -> Markup {
    let arms = || summary.arms.iter().enumerate();
    html! {
        @if let Some(comparison) = summary.comparison.as_ref().filter(|_| has_differences(summary)) {
            @for (index, (name, arm)) in arms().filter(|(_, (_, arm))| arm.added.is_some()).take(MOST_CARDS) {
                (added(index, name, arm, &comparison.baseline))
            }
        } @else {
            @for (index, (name, arm)) in arms().take(MOST_CARDS) {
                @if let Some(found) = &arm.capacity { (searched(index, name, arm, found)) }
                @else if !arm.levels.is_empty() { (sustained(index, name, &arm.levels)) }
                @else { (measured(index, name, arm)) }
            }
        }
    }
}

fn added(index: usize, name: &str, arm: &ArmSummary, baseline: &str) -> Markup {
    let figure = |statistic: Statistic| arm.added.as_ref().and_then(|added| added.get(statistic));
    html! {
        div.card {
            h3 { span class={ "swatch " (style::class(index)) } {} (name) " adds to " (baseline) }
            dl {
                @for (label, statistic) in [("at the median", Statistic::P50), ("at p99", Statistic::P99)] {
                    div { dt { (label) } (difference(figure(statistic))) }
                }
            }
        }
    }
}

fn difference(difference: Option<&Difference>) -> Markup {
    html! {
        @match difference {
            None => dd { "–" small { "fewer than two blocks" } },
            Some(found) => dd class=(found.verdict.name()) {
                (signed_time(found.value))
                small { (interval(found)) }
                small { span class={ "chip " (found.verdict.name()) } { (found.verdict.name()) } }
            },
        }
    }
}

fn searched(index: usize, name: &str, arm: &ArmSummary, found: &CapacitySummary) -> Markup {
    let counted = PerIteration::of_arm(arm)
        .is_several()
        .then_some("iterations");
    let trials = format!("{} trials", found.trials.len());
    let carried = counted.into_iter().chain([trials.as_str()]);
    let carried: Vec<&str> = carried.collect();
    let too_much = if found.upper_per_s.is_none() {
        Some("not found")
    } else {
        counted
    };
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| "–".to_owned(), |rate| format!("{}/s", format_rate(rate)))
    };
    html! {
        div.card {
            h3 { span class={ "swatch " (style::class(index)) } {} (name) }
            dl {
                div { dt { "carries" } dd { (rate(found.lower_per_s)) small { (carried.join(", ")) } } }
                div { dt { "too much" } dd { (rate(found.upper_per_s)) small { (too_much.unwrap_or_default()) } } }
            }
        }
    }
}

/// The highest level that was sustained with all below it, and the first that was not.
fn sustained(index: usize, name: &str, levels: &[LevelSummary]) -> Markup {
    let behind = levels.iter().position(fell_behind);
    let held = levels[..behind.unwrap_or(levels.len())].last();
    let first = behind.map(|at| &levels[at]);
    html! {
        div.card {
            h3 { span class={ "swatch " (style::class(index)) } {} (name) }
            dl {
                div { dt { "held up to" } dd {
                    (held.map_or("–", |level| level.name.as_str()))
                    small { @if let Some(level) = held { "p99 " (shown(&level.response_time, Statistic::P99)) } }
                } }
                div { dt { "not sustained from" } dd {
                    (first.map_or("–", |level| level.name.as_str()))
                    small { @if let Some(level) = first { (number(level.good_per_s)) (PerIteration::of_levels(levels).unit()) " good" } }
                } }
            }
        }
    }
}

/// Planned rate in the unit of throughput; where a part of the load is closed, there is no such figure.
fn offered(arm: &ArmSummary) -> String {
    let per_iteration = PerIteration::of_arm(arm);
    match arm.offered_per_s {
        Some(rate) if per_iteration.is_several() => format!(
            "exchanges; offered {}/s ({} iterations/s)",
            per_iteration.offered(Some(rate)),
            number(Some(rate))
        ),
        Some(rate) => format!("offered {}/s", number(Some(rate))),
        None => "closed model".to_owned(),
    }
}

fn measured(index: usize, name: &str, arm: &ArmSummary) -> Markup {
    let response = &arm.times.response_time;
    let counted = match PerIteration::of_arm(arm).is_several() {
        true => " exchanges",
        false => " arrivals",
    };
    html! {
        div.card {
            h3 { span class={ "swatch " (style::class(index)) } {} (name) }
            dl {
                div { dt { "median" } dd { (shown(response, Statistic::P50)) small { (count(response.count)) (counted) } } }
                div { dt { "p99" } dd { (shown(response, Statistic::P99)) small { "max " (largest(response)) } } }
            }
        }
        div.card {
            h3 { "load" }
            dl {
                div { dt { "good" } dd { (number(arm.good_per_s)) "/s" small { (offered(arm)) } } }
                div { dt { "failed" } dd { (failures(arm.failed, None)) small { (count(arm.dropped)) " arrivals dropped" } } }
            }
        }
    }
}
