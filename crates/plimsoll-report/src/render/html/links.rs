//! Links: what a delay of each costs its callers, as a table, a chart for each, and the mean response time split into gains.

use super::axis::{self, Axis};
use super::over_time::{LEFT, WIDTH};
use super::plot::{self, Pen, Plot};
use super::style::{self, AXIS};
use super::{arms, figure, sentence};
use crate::record::{ArmSummary, DelayFigures, Gain, LinkSummary};
use crate::render::figures::links::{answers, by_step, links, shape};
use crate::render::view::RunView;
use crate::render::words::time;
use maud::{Markup, html};

const HEIGHT: u32 = 180;

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let Some(table) = links(summary) else {
        return Markup::default();
    };
    let several_arms = summary.arms.len() > 1;
    let content = html! {
        @let answers = answers(summary);
        @if !answers.is_empty() {
            ul.notes { @for answer in answers { li { (sentence(&answer)) } } }
        }
        div.dense { (arms::table(&table)) }
        @if let Some(steps) = by_step(summary) {
            h3 { "By step" }
            div.dense { (arms::table(&steps)) }
        }
        @for (index, (name, arm)) in summary.arms.iter().enumerate() {
            @for link in &arm.links {
                h3 { @if several_arms { (name) ": " } (link.link) }
                (figure(over_delay(link, index), &format!("Mean response time over the delay of this link, with 95 % intervals over rounds; the axis does not begin at 0. Shape: {}.", shape(link))))
            }
            (split(name, arm))
        }
    };
    super::section(
        "What each dependency costs",
        "Every link was delayed towards its caller while all others were not. A slope of 1 means that callers wait for one turn of it; 0 that they do not wait for it. A gain is measured: all links are delayed by a little more than the slowest takes, then one of them by its own time less.",
        content,
    )
}

fn over_delay(link: &LinkSummary, index: usize) -> Markup {
    let shown: Vec<(&DelayFigures, f64, f64, f64)> = link
        .delays
        .iter()
        .filter_map(|at| at.mean_s.map(|mean| (at, mean.value, mean.low, mean.high)))
        .collect();
    let Some((last, ..)) = shown.last() else {
        return Markup::default();
    };
    let ends = shown.iter().map(|(_, _, low, high)| (*low, *high));
    let (bottom, top) = ends.fold((f64::INFINITY, 0.0_f64), |(bottom, top), (low, high)| {
        (bottom.min(low), top.max(high))
    });
    // As much room above and below as the longest delay: a slope of 1 looks alike in all of them.
    let room = last.delay_s / 2.0;
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Mean response time over the delay".to_owned(),
        description: "One dot a delay, with its interval; the line is that of the slope."
            .to_owned(),
        left: LEFT,
        x: Axis::linear(0.0, last.delay_s * 1.05, 8, axis::seconds),
        y: Axis::linear((bottom - room).max(0.0), top + room, 4, axis::seconds),
    };
    let fitted = fitted(link, last.delay_s);
    let colour = style::colour(index);
    plot.draw(|canvas| {
        plot::line(canvas, &fitted, pen(AXIS, 1.4));
        for (at, value, low, high) in shown {
            plot::line(
                canvas,
                &[(at.delay_s, low), (at.delay_s, high)],
                pen(colour, 1.4),
            );
            plot::dot(canvas, (at.delay_s, value), 4, colour, 1.0);
        }
    })
}

fn pen(colour: plotters::style::RGBColor, width: f64) -> Pen {
    Pen {
        colour,
        width,
        opacity: 0.9,
    }
}

/// The line of the slope through the middle of the dots; flat up to the slack where there is one.
fn fitted(link: &LinkSummary, last: f64) -> Vec<(f64, f64)> {
    let means: Vec<(f64, f64)> = link
        .delays
        .iter()
        .filter_map(|at| Some((at.delay_s, at.mean_s?.value)))
        .collect();
    let Some(slope) = link.slope.mean else {
        return Vec::new();
    };
    if let (Some(hinge), Some(bend), Some((_, first))) = (link.hinge_s, link.bend, means.first()) {
        let at_hinge = first + bend.before * hinge.value;
        let end = at_hinge + bend.after * (last - hinge.value);
        return vec![(0.0, *first), (hinge.value, at_hinge), (last, end)];
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of delays")]
    let count = means.len() as f64;
    let (x, y) = means.iter().fold((0.0, 0.0), |(x, y), at| {
        (x + at.0 / count, y + at.1 / count)
    });
    [0.0, last]
        .map(|at| (at, y + slope.value * (at - x)))
        .into()
}

/// The mean without a delay as gains and what is left. A link of a dependency is part of what callers wait for at that one.
fn split(name: &str, arm: &ArmSummary) -> Markup {
    let is_below = |link: &LinkSummary, above: &LinkSummary| {
        let ends = link
            .link
            .split_once(" -> ")
            .zip(above.link.split_once(" -> "));
        ends.is_some_and(|((from, _), (_, to))| from == to)
    };
    let is_outermost = |link: &&LinkSummary| !arm.links.iter().any(|above| is_below(link, above));
    let outermost = || arm.links.iter().filter(is_outermost);
    let gains: Vec<(&str, Gain)> = outermost()
        .filter_map(|link| Some((link.name.as_str(), link.gain?)))
        .filter(|(_, gain)| gain.low > 0.0)
        .collect();
    let (Some(mean), false) = (arm.times.response_time.mean, gains.is_empty()) else {
        return Markup::default();
    };
    let rest = mean - gains.iter().map(|(_, gain)| gain.value).sum::<f64>();
    let unknown = outermost().filter(|link| link.why_no_gain.is_some());
    let unknown: Vec<&str> = unknown.map(|link| link.name.as_str()).collect();
    let part = |value: f64| {
        format!(
            "{}, {}",
            time(Some(value)),
            format_args!("{:.0} %", 100.0 * (value / mean).max(0.0))
        )
    };
    html! {
        p { (name) ": of a mean of " (time(Some(mean))) " callers wait for "
            @for (index, (link, gain)) in gains.iter().enumerate() {
                @if index > 0 { ", " }
                (link) " (" (part(gain.value)) ")"
            }
            @if rest >= 0.0 { ", and for everything else " (part(rest)) "." }
            @else { ". Together these are more than the mean: see their intervals." }
            @if !unknown.is_empty() { " How long they wait for " (unknown.join(", ")) " is not known." }
        }
    }
}
