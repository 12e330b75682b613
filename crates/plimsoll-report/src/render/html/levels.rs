//! Levels: what was answered and how long it took at each, arms side by side.

use super::axis::{self, Axis};
use super::over_time::{LEFT, WIDTH};
use super::plot::{self, Pen, Plot};
use super::style::{self, AXIS, FAILED};
use super::{arms, figure, legend, sentence};
use crate::record::{LevelSummary, Statistic};
use crate::render::figures::levels::{fell_behind, levels, remarks};
use crate::render::rates::{self, PerIteration};
use crate::render::view::RunView;
use crate::render::words::number;
use maud::{Markup, html};

const HEIGHT: u32 = 230;

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let Some(table) = levels(summary) else {
        return Markup::default();
    };
    let arms_with: Vec<(&str, &[LevelSummary])> = summary
        .arms
        .iter()
        .map(|(name, arm)| (name.as_str(), arm.levels.as_slice()))
        .collect();
    let said: Vec<(&str, &str)> = arms_with
        .iter()
        .flat_map(|(name, levels)| {
            let behind = levels.iter().filter(|level| fell_behind(level));
            behind.filter_map(|level| Some((*name, level.bearing.as_ref()?.sentence.as_str())))
        })
        .collect();
    let remarks = remarks(summary);
    let content = html! {
        (legend(arms_with.iter().map(|(name, _)| *name)))
        h3 { "Answered per second" }
        (figure(answered(&arms_with), &format!("Grey: where as much is answered as is offered. Red dots: levels that were not sustained.{}", rates::axes(rates::differ(summary)))))
        h3 { "Response times" }
        (figure(times(&arms_with), "Bold: p99; thin: median, on a logarithmic axis."))
        div.dense { (arms::table(&table)) }
        @if !said.is_empty() || !remarks.is_empty() {
            ul.notes {
                @for (name, said) in said { li { (name) ": " (sentence(said)) } }
                @for remark in remarks { li { (sentence(&remark)) } }
            }
        }
    };
    super::section(
        "Level by level",
        "Each level was held after a warm-up of its own. A level is sustained while the backlog does not grow; the times of one that is not describe a queue, and would be longer had it been held for longer.",
        content,
    )
}

/// Where a level stands on the horizontal axis: its rate, or its users.
fn size(level: &LevelSummary) -> f64 {
    let users = level.users.map(f64::from);
    users.or(level.offered_per_s).unwrap_or(0.0)
}

fn x_axis(arms: &[(&str, &[LevelSummary])]) -> Axis {
    let levels = arms.iter().flat_map(|(_, levels)| *levels);
    let top = levels.clone().map(size).fold(0.0, f64::max);
    let label: fn(f64) -> String = match levels.clone().any(|level| level.users.is_some()) {
        true => |users| format!("{} users", number(Some(users))),
        false => |rate| format!("{}/s", number(Some(rate))),
    };
    Axis::linear(0.0, top * 1.05, 8, label)
}

fn answered(arms: &[(&str, &[LevelSummary])]) -> Markup {
    let levels = || arms.iter().flat_map(|(_, levels)| *levels);
    let achieved = |level: &LevelSummary| level.good_per_s.unwrap_or(0.0);
    let offered = |levels: &[LevelSummary]| -> Vec<(f64, f64)> {
        let per_iteration = PerIteration::of_levels(levels);
        let rates = levels.iter().filter_map(|level| level.offered_per_s);
        rates
            .map(|rate| (rate, per_iteration.exchanges(rate)))
            .collect()
    };
    let most = arms.iter().flat_map(|(_, levels)| offered(levels));
    let most = most.map(|(_, exchanges)| exchanges);
    let top = levels().map(achieved).chain(most).fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Answered per second at each level".to_owned(),
        description: "Throughput over what was offered, by arm.".to_owned(),
        left: LEFT,
        x: x_axis(arms),
        y: Axis::linear(0.0, top * 1.1, 5, |rate| {
            format!("{}/s", number(Some(rate)))
        }),
    };
    plot.draw(|canvas| {
        for (index, (_, levels)) in arms.iter().enumerate() {
            // One line where the arms' iterations are of as many exchanges, as those of one scenario are.
            let even: Vec<(f64, f64)> = [(0.0, 0.0)].into_iter().chain(offered(levels)).collect();
            if even.len() > 1 {
                let pen = Pen {
                    colour: AXIS,
                    width: 1.4,
                    opacity: 0.8,
                };
                plot::line(canvas, &even, pen);
            }
            let points: Vec<(f64, f64)> = levels
                .iter()
                .map(|level| (size(level), achieved(level)))
                .collect();
            let colour = style::colour(index);
            plot::line(
                canvas,
                &points,
                Pen {
                    colour,
                    width: 2.0,
                    opacity: 1.0,
                },
            );
            for (level, at) in levels.iter().zip(points) {
                let colour = if fell_behind(level) { FAILED } else { colour };
                plot::dot(canvas, at, 4, colour, 1.0);
            }
        }
    })
}

fn times(arms: &[(&str, &[LevelSummary])]) -> Markup {
    let all = arms.iter().flat_map(|(_, levels)| *levels);
    let shown = all.flat_map(|level| {
        [Statistic::P50, Statistic::P99].map(|figure| level.response_time.get(figure))
    });
    let shown: Vec<f64> = shown.flatten().filter(|time| *time > 0.0).collect();
    if shown.is_empty() {
        return Markup::default();
    }
    let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shown.iter().copied().fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Response times at each level".to_owned(),
        description: "p99 and median over what was offered, by arm.".to_owned(),
        left: LEFT,
        x: x_axis(arms),
        y: Axis::logarithmic(low / 1.5, high * 1.5, axis::log_seconds),
    };
    plot.draw(|canvas| {
        for (index, (_, levels)) in arms.iter().enumerate() {
            for (statistic, width) in [(Statistic::P50, 1.2), (Statistic::P99, 2.4)] {
                let points: Vec<(f64, f64)> = levels
                    .iter()
                    .filter_map(|level| {
                        let time = level
                            .response_time
                            .get(statistic)
                            .filter(|time| *time > 0.0)?;
                        Some((size(level), time.log10()))
                    })
                    .collect();
                let colour = style::colour(index);
                plot::line(
                    canvas,
                    &points,
                    Pen {
                        colour,
                        width,
                        opacity: 1.0,
                    },
                );
                for at in points {
                    plot::dot(canvas, at, 3, colour, 1.0);
                }
            }
        }
    })
}
