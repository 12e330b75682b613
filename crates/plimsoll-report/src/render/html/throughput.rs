//! Response time against throughput: whether times grow with what the target is asked to do.

use super::axis::{self, Axis};
use super::over_time::{LEFT, WIDTH, arm_colour, load_rows};
use super::plot::{self, Plot};
use super::{figure, legend};
use crate::render::view::RunView;
use crate::render::words::number;
use maud::{Markup, html};
use plotters::style::RGBColor;

const HEIGHT: u32 = 260;
/// Fewer seconds than this show no dependence.
const LEAST_SECONDS: usize = 5;

/// One second: its arm's colour, the exchanges answered in it and the time within which 95 % of them were.
pub(super) type Point = (RGBColor, f64, f64);

pub(super) fn section(view: &RunView) -> Markup {
    let arms: Vec<&str> = view.summary.arms.keys().map(String::as_str).collect();
    let rows = load_rows(view).into_iter().filter(|row| !row.warmup);
    let points: Vec<Point> = rows
        .filter_map(|row| {
            let colour = arm_colour(&row.arm, &arms);
            Some((colour, row.good_per_s, row.response_time.p95?))
        })
        .collect();
    if points.len() < LEAST_SECONDS {
        return Markup::default();
    }
    let content = html! {
        (legend(arms.iter().copied()))
        (figure(chart(&points), "One dot per measured second: the 95th percentile of its response times over the exchanges answered in it."))
    };
    super::section("Response time against throughput", "", content)
}

/// Draws the dots; those that lie on each other are drawn once.
pub(super) fn chart(points: &[Point]) -> Markup {
    let top = |of: fn(&Point) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Response time against throughput".to_owned(),
        description:
            "The 95th percentile of each second over the exchanges answered in it, by arm."
                .to_owned(),
        left: LEFT,
        x: Axis::linear(0.0, top(|point| point.1) * 1.05, 8, |rate| {
            format!("{}/s", number(Some(rate)))
        }),
        y: Axis::linear(0.0, top(|point| point.2) * 1.1, 5, axis::seconds),
    };
    plot.draw(|canvas| plot::dots(canvas, points))
}
