//! A figure over runs: one dot each, and the mean between changes.

use super::axis::Axis;
use super::over_time::{LEFT, WIDTH};
use super::plot::{self, Pen, Plot};
use super::style::{self, AXIS};
use crate::judgement::threshold::format_value;
use crate::record::Unit;
use maud::{Markup, html};

const HEIGHT: u32 = 260;
const TICKS: u32 = 8;

/// Draws it. `ends`: places at which stretches begin, the first 0, and the number of points.
pub(crate) fn trend(points: &[f64], ends: &[usize], unit: Unit) -> Markup {
    let top = points.iter().copied().fold(0.0, f64::max);
    let number = place(points.len());
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "The figure over runs".to_owned(),
        description: "One dot per run in order of time, and the mean between changes.".to_owned(),
        left: LEFT + 20,
        x: Axis::linear(0.0, number.max(2.0), TICKS, |run| format!("{run:.0}")),
        y: Axis::linear(0.0, top * 1.1, 4, label(unit)),
    };
    let chart = plot.draw(|canvas| {
        for stretch in ends.windows(2) {
            let (from, to) = (stretch[0], stretch[1]);
            let within = &points[from..to];
            if within.is_empty() {
                continue;
            }
            let mean = within.iter().sum::<f64>() / place(within.len());
            let pen = Pen {
                colour: AXIS,
                width: 2.0,
                opacity: 1.0,
            };
            plot::line(
                canvas,
                &[(place(from) + 0.5, mean), (place(to) + 0.5, mean)],
                pen,
            );
        }
        for (run, value) in points.iter().enumerate() {
            plot::dot(canvas, (place(run) + 1.0, *value), 4, style::colour(0), 0.9);
        }
    });
    html! { div.scroll tabindex="0" { figure { (chart) figcaption { "Runs, numbered in order of time." } } } }
}

#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
fn place(place: usize) -> f64 {
    place as f64
}

fn label(unit: Unit) -> fn(f64) -> String {
    match unit {
        Unit::Seconds => super::axis::seconds,
        Unit::PerSecond => |value| format_value(value, Unit::PerSecond),
        Unit::Count => |value| format_value(value, Unit::Count),
        Unit::Share => |value| format_value(value, Unit::Share),
        Unit::Bytes => |value| format_value(value, Unit::Bytes),
        Unit::Cores => |value| format_value(value, Unit::Cores),
    }
}
