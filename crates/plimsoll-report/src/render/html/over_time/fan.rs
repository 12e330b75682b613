//! The percentiles of a single arm's seconds, as bands around the median on a logarithmic axis.

use super::{HEIGHT, LEFT, WIDTH, backdrop, stretches, time_axis};
use crate::record::{LoadRow, SecondTimes};
use crate::render::html::axis::{self, Axis};
use crate::render::html::plot::{self, Pen, Plot};
use crate::render::view::RunView;
use maud::Markup;

/// How to read it.
pub(super) const CAPTION: &str = "Line: median of each second. Bands from dark to light: from the 25th to the 75th, the 95th and the 99th percentile; lightest: from the smallest to the largest. The time axis is logarithmic.";

/// More seconds than this are drawn several at a time.
const MOST_SECONDS: usize = 400;

type Figure = fn(&SecondTimes) -> Option<f64>;

/// Lower edge, upper edge and opacity of each band, the lightest first: they lie on each other.
const BANDS: [(Figure, Figure, f64); 4] = [
    (|t| t.min, |t| t.max, 0.10),
    (|t| t.p25, |t| t.p99, 0.14),
    (|t| t.p25, |t| t.p95, 0.20),
    (|t| t.p25, |t| t.p75, 0.34),
];

pub(super) fn chart(view: &RunView, rows: &[&LoadRow]) -> Markup {
    let measured: Vec<&LoadRow> = rows.iter().copied().filter(|row| !row.warmup).collect();
    let low = measured.iter().filter_map(|row| row.response_time.min);
    let low = low.fold(f64::INFINITY, f64::min).clamp(1e-6, 1.0);
    let high = measured.iter().filter_map(|row| row.response_time.max);
    let high = high.fold(low, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT + 40),
        title: "Response time percentiles over time".to_owned(),
        description:
            "Smallest, 25th, 50th, 75th, 95th and 99th percentile and largest of every second."
                .to_owned(),
        left: LEFT,
        x: time_axis(view),
        y: Axis::logarithmic(low * 0.8, high * 1.25, axis::log_seconds),
    };
    plot.draw(|canvas| {
        backdrop(canvas, view);
        for (colour, stretch) in stretches(&measured, &[]) {
            for (lower, upper, opacity) in BANDS {
                let (below, above) = (
                    edge(&stretch, lower, f64::min),
                    edge(&stretch, upper, f64::max),
                );
                plot::between(canvas, &below, &above, colour, opacity);
            }
            let median = edge(&stretch, |t| t.p50, f64::max);
            let pen = Pen {
                colour,
                width: 2.0,
                opacity: 1.0,
            };
            plot::line(canvas, &median, pen);
        }
    })
}

/// One edge of a band in powers of ten; of seconds that are drawn together the outermost.
fn edge(rows: &[&LoadRow], figure: Figure, outermost: fn(f64, f64) -> f64) -> Vec<(f64, f64)> {
    let together = rows.len().div_ceil(MOST_SECONDS).max(1);
    let points = rows.chunks(together).filter_map(|rows| {
        let figures = rows.iter().filter_map(|row| figure(&row.response_time));
        Some((
            rows[0].t + 0.5,
            figures.reduce(outermost)?.max(1e-6).log10(),
        ))
    });
    points.collect()
}
