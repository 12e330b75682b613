//! What happened when: percentiles, and offered and achieved load, on the run's own time.

use super::axis::{self, Axis};
use super::plot::{self, Canvas, Pen, Plot};
use super::style::{self, AXIS};
use crate::record::{LoadRow, SeriesRow};
use crate::render::words::number;
use crate::view::RunView;
use maud::{Markup, html};

/// Room for labels that all charts over time share, so that their time axes stand below each other.
pub(super) const LEFT: u32 = 66;
pub(super) const WIDTH: u32 = 960;
const HEIGHT: u32 = 210;
/// Ticks of the time axis.
pub(super) const TICKS: u32 = 8;

pub(super) fn section(view: &RunView) -> Markup {
    let rows: Vec<&LoadRow> = view
        .series
        .iter()
        .filter_map(|row| match row {
            SeriesRow::Load(row) => Some(row),
            SeriesRow::Component(_) => None,
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    let arms: Vec<&str> = view.summary.arms.keys().map(String::as_str).collect();
    let content = html! {
        (super::legend(arms.iter().copied()))
        h3 { "Percentiles" }
        div.scroll tabindex="0" { figure { (percentiles(view, &rows, &arms)) figcaption { "Bold: p99 of each second; thin: median." } } }
        h3 { "Offered and achieved" }
        div.scroll tabindex="0" { figure { (load(view, &rows, &arms)) figcaption { "Per second. Grey line: offered; colour: answered." } } }
    };
    super::section(
        "Over time",
        "Seconds since the run began. Shaded: warm-up, which enters no figure.",
        content,
    )
}

/// From the start of the run to its last row.
pub(super) fn time_axis(view: &RunView) -> Axis {
    let end = view.series.iter().map(|row| match row {
        SeriesRow::Load(row) => row.t + 1.0,
        SeriesRow::Component(row) => row.t,
    });
    Axis::linear(0.0, end.fold(1.0, f64::max), TICKS, axis::seconds)
}

/// Shades the warm-ups, each in one piece.
pub(super) fn warmups(canvas: &mut Canvas<'_>, view: &RunView) {
    let mut starts: Vec<f64> = view
        .series
        .iter()
        .filter_map(|row| match row {
            SeriesRow::Load(row) if row.warmup => Some(row.t),
            SeriesRow::Load(_) | SeriesRow::Component(_) => None,
        })
        .collect();
    starts.sort_by(f64::total_cmp);
    for piece in starts.chunk_by(|a, b| b - a < 1.5) {
        plot::band(canvas, piece[0], piece[piece.len() - 1] + 1.0);
    }
}

fn percentiles(view: &RunView, rows: &[&LoadRow], arms: &[&str]) -> Markup {
    let top = rows
        .iter()
        .filter(|row| !row.warmup)
        .filter_map(|row| row.response_time.p99)
        .fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Response time percentiles over time".to_owned(),
        description: "p99 and median of every second, by arm.".to_owned(),
        left: LEFT,
        x: time_axis(view),
        y: Axis::linear(0.0, top * 1.1, 4, axis::seconds),
    };
    plot.draw(|canvas| {
        warmups(canvas, view);
        for (colour, stretch) in stretches(rows, arms) {
            let measured = || stretch.iter().filter(|row| !row.warmup);
            let points = |figure: fn(&LoadRow) -> Option<f64>| -> Vec<(f64, f64)> {
                measured()
                    .filter_map(|row| Some((row.t + 0.5, figure(row)?)))
                    .collect()
            };
            let pen = |width, opacity| Pen {
                colour,
                width,
                opacity,
            };
            plot::line(canvas, &points(|row| row.response_time.p50), pen(1.4, 0.85));
            plot::line(canvas, &points(|row| row.response_time.p99), pen(2.4, 1.0));
        }
    })
}

fn load(view: &RunView, rows: &[&LoadRow], arms: &[&str]) -> Markup {
    let highest = |row: &&LoadRow| row.achieved_per_s.max(row.offered_per_s.unwrap_or(0.0));
    let top = rows.iter().map(highest).fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Offered and achieved load over time".to_owned(),
        description: "Arrivals due and exchanges answered in every second, by arm.".to_owned(),
        left: LEFT,
        x: time_axis(view),
        y: Axis::linear(0.0, top * 1.12, 4, |value| number(Some(value))),
    };
    plot.draw(|canvas| {
        warmups(canvas, view);
        for (colour, stretch) in stretches(rows, arms) {
            let offered: Vec<(f64, f64)> = stretch
                .iter()
                .filter_map(|row| Some((row.t + 0.5, row.offered_per_s?)))
                .collect();
            let achieved: Vec<(f64, f64)> = stretch
                .iter()
                .map(|row| (row.t + 0.5, row.achieved_per_s))
                .collect();
            plot::line(
                canvas,
                &offered,
                Pen {
                    colour: AXIS,
                    width: 3.0,
                    opacity: 0.8,
                },
            );
            plot::line(
                canvas,
                &achieved,
                Pen {
                    colour,
                    width: 1.8,
                    opacity: 1.0,
                },
            );
        }
    })
}

/// Rows of one arm in one block, in order of time, with the arm's colour: lines do not run across the gaps between.
fn stretches<'a>(
    rows: &[&'a LoadRow],
    arms: &[&str],
) -> Vec<(plotters::style::RGBColor, Vec<&'a LoadRow>)> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| {
        (a.block, &a.arm)
            .cmp(&(b.block, &b.arm))
            .then(a.t.total_cmp(&b.t))
    });
    sorted
        .chunk_by(|a, b| a.block == b.block && a.arm == b.arm)
        .map(|stretch| {
            let index = arms
                .iter()
                .position(|arm| *arm == stretch[0].arm)
                .unwrap_or(0);
            (style::colour(index), stretch.to_vec())
        })
        .collect()
}
