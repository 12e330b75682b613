//! The run on its own time: percentiles, active users, arrivals and exchanges.

mod fan;

use super::axis::{self, Axis};
use super::plot::{self, Canvas, Pen, Plot};
use super::style::{self, AXIS, FAILED};
use super::{figure, legend};
use crate::record::{GroupRow, LoadRow, SeriesRow, StepRow};
use crate::render::view::RunView;
use crate::render::words::number;
use maud::{Markup, html};
use plotters::style::RGBColor;

/// Room for labels that all charts over time share, so that their time axes stand below each other.
pub(super) const LEFT: u32 = 66;
pub(super) const WIDTH: u32 = 960;
const HEIGHT: u32 = 210;
/// Ticks of the time axis.
pub(super) const TICKS: u32 = 8;

pub(super) fn section(view: &RunView) -> Markup {
    let rows = load_rows(view);
    if rows.is_empty() {
        return Markup::default();
    }
    let arms: Vec<&str> = view.summary.arms.keys().map(String::as_str).collect();
    let content = html! {
        (legend(arms.iter().copied()))
        h3 { "Response time percentiles" }
        @if arms.len() == 1 { (figure(fan::chart(view, &rows), fan::CAPTION)) }
        @else { (figure(lines(view, &rows, &arms, &PERCENTILES), "Bold: p99 of each second; thin: median.")) }
        h3 { "Active users" }
        (figure(lines(view, &rows, &arms, &USERS), "Virtual users within an iteration at the end of each second; grey, where there were any: arrivals that waited for one."))
        h3 { "Arrivals per second" }
        (figure(lines(view, &rows, &arms, &ARRIVALS), "Grey, where there is a schedule: offered; colour: started."))
        h3 { "Exchanges per second" }
        (figure(lines(view, &rows, &arms, &EXCHANGES), "Thin: started; bold: answered; red, where there were any: failed."))
    };
    super::section(
        "Over time",
        "Seconds since the run began. Shaded: warm-up, which enters no figure; red: faults, from the injection until it was healed, darker from the proof to the heal.",
        content,
    )
}

/// Rows of arms, in their order.
pub(super) fn load_rows(view: &RunView) -> Vec<&LoadRow> {
    let rows = view.series.iter().filter_map(|row| match row {
        SeriesRow::Load(row) => Some(row),
        SeriesRow::Step(_) | SeriesRow::Group(_) | SeriesRow::Component(_) | SeriesRow::Host(_) => {
            None
        }
    });
    rows.collect()
}

/// A row that belongs to one second of one arm in one block.
pub(super) trait Timed {
    /// Its arm, block and start.
    fn place(&self) -> (&str, u32, f64);
    /// Whether it lies in the warm-up.
    fn warmup(&self) -> bool;
}

impl Timed for LoadRow {
    fn place(&self) -> (&str, u32, f64) {
        (&self.arm, self.block, self.t)
    }

    fn warmup(&self) -> bool {
        self.warmup
    }
}

impl Timed for StepRow {
    fn place(&self) -> (&str, u32, f64) {
        (&self.arm, self.block, self.t)
    }

    fn warmup(&self) -> bool {
        self.warmup
    }
}

impl Timed for GroupRow {
    fn place(&self) -> (&str, u32, f64) {
        (&self.arm, self.block, self.t)
    }

    fn warmup(&self) -> bool {
        self.warmup
    }
}

/// Lines over time with one vertical axis.
pub(super) struct Lines<R: 'static> {
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) label: fn(f64) -> String,
    /// Whether rows of the warm-up are left out.
    pub(super) measured_only: bool,
    pub(super) lines: &'static [Line<R>],
}

/// One quantity of them.
pub(super) struct Line<R> {
    pub(super) value: fn(&R) -> Option<f64>,
    /// `None`: the arm's.
    pub(super) colour: Option<RGBColor>,
    pub(super) width: f64,
    pub(super) opacity: f64,
}

const fn line<R>(
    value: fn(&R) -> Option<f64>,
    colour: Option<RGBColor>,
    width: f64,
    opacity: f64,
) -> Line<R> {
    Line {
        value,
        colour,
        width,
        opacity,
    }
}

const PERCENTILES: Lines<LoadRow> = Lines {
    title: "Response time percentiles over time",
    description: "p99 and median of every second, by arm.",
    label: axis::seconds,
    measured_only: true,
    lines: &[
        line(|row| row.response_time.p50, None, 1.4, 0.85),
        line(|row| row.response_time.p99, None, 2.4, 1.0),
    ],
};

/// Percentiles over time of one step.
pub(super) const STEP_PERCENTILES: Lines<StepRow> = Lines {
    title: "Response time percentiles of the step over time",
    description: "p99 and median of every second, by arm.",
    label: axis::seconds,
    measured_only: true,
    lines: &[
        line(|row| row.response_time.p50, None, 1.4, 0.85),
        line(|row| row.response_time.p99, None, 2.4, 1.0),
    ],
};

/// How long passes through one group took.
pub(super) const GROUP_DURATIONS: Lines<GroupRow> = Lines {
    title: "Durations of the group over time",
    description: "p95 and median of the passes that ended in every second, by arm.",
    label: axis::seconds,
    measured_only: true,
    lines: &[
        line(|row| row.duration.p50, None, 1.4, 0.85),
        line(|row| row.duration.p95, None, 2.4, 1.0),
    ],
};

/// How many passes through one group there were.
#[expect(clippy::cast_precision_loss, reason = "counts to draw")]
pub(super) const GROUP_PASSES: Lines<GroupRow> = Lines {
    title: "Passes through the group per second over time",
    description: "Passes that ended and passes that failed in every second, by arm.",
    label: plain,
    measured_only: false,
    lines: &[
        line(|row| Some(row.passes_per_s), None, 2.0, 1.0),
        line(|row| Some(row.failed as f64), Some(FAILED), 1.8, 1.0),
    ],
};

#[expect(clippy::cast_precision_loss, reason = "counts to draw")]
const USERS: Lines<LoadRow> = Lines {
    title: "Active users over time",
    description: "Virtual users within an iteration, and arrivals that waited for one.",
    label: plain,
    measured_only: false,
    lines: &[
        line(|row| Some(row.waiting as f64), Some(AXIS), 1.4, 0.9),
        line(|row| Some(row.active_users as f64), None, 1.8, 1.0),
    ],
};

const ARRIVALS: Lines<LoadRow> = Lines {
    title: "Arrivals per second over time",
    description: "Arrivals due and arrivals started in every second, by arm.",
    label: plain,
    measured_only: false,
    lines: &[
        line(|row| row.offered_per_s, Some(AXIS), 3.0, 0.8),
        line(|row| Some(row.sent_per_s), None, 1.8, 1.0),
    ],
};

#[expect(clippy::cast_precision_loss, reason = "counts to draw")]
const EXCHANGES: Lines<LoadRow> = Lines {
    title: "Exchanges per second over time",
    description: "Exchanges started, answered and failed in every second, by arm.",
    label: plain,
    measured_only: false,
    lines: &[
        line(|row| Some(row.exchanges_per_s), None, 1.0, 0.5),
        line(|row| Some(row.good_per_s), None, 2.0, 1.0),
        line(|row| Some(row.failed as f64), Some(FAILED), 1.8, 1.0),
    ],
};

fn plain(value: f64) -> String {
    number(Some(value))
}

/// Draws them. A line's highest value decides the height, and zero is its foot.
pub(super) fn lines<R: Timed>(
    view: &RunView,
    rows: &[&R],
    arms: &[&str],
    chart: &Lines<R>,
) -> Markup {
    let drawn = |row: &R| !(chart.measured_only && row.warmup());
    let values = rows.iter().filter(|row| drawn(row));
    let values = values.flat_map(|row| chart.lines.iter().filter_map(|line| (line.value)(row)));
    let top = values.fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: chart.title.to_owned(),
        description: chart.description.to_owned(),
        left: LEFT,
        x: time_axis(view),
        y: Axis::linear(0.0, top * 1.1, 4, chart.label),
    };
    plot.draw(|canvas| {
        backdrop(canvas, view);
        for (colour, stretch) in stretches(rows, arms) {
            for line in chart.lines {
                let shown = stretch.iter().filter(|row| drawn(row));
                let points: Vec<(f64, f64)> = shown
                    .filter_map(|row| Some((row.place().2 + 0.5, (line.value)(row)?)))
                    .collect();
                // A line of its own colour says that there was something.
                if line.colour.is_some() && points.iter().all(|(_, value)| *value == 0.0) {
                    continue;
                }
                let pen = Pen {
                    colour: line.colour.unwrap_or(colour),
                    width: line.width,
                    opacity: line.opacity,
                };
                plot::line(canvas, &points, pen);
            }
        }
    })
}

/// From the start of the run to its last row.
pub(super) fn time_axis(view: &RunView) -> Axis {
    let end = view.series.iter().map(|row| match row {
        SeriesRow::Load(row) => row.t + 1.0,
        SeriesRow::Step(row) => row.t + 1.0,
        SeriesRow::Group(row) => row.t + 1.0,
        SeriesRow::Component(row) => row.t,
        SeriesRow::Host(row) => row.t,
    });
    Axis::linear(0.0, end.fold(1.0, f64::max), TICKS, axis::seconds)
}

/// Shades what stands behind the figures: the warm-ups, each in one piece, and faults.
pub(super) fn backdrop(canvas: &mut Canvas<'_>, view: &RunView) {
    let rows = load_rows(view).into_iter().filter(|row| row.warmup);
    let mut starts: Vec<f64> = rows.map(|row| row.t).collect();
    starts.sort_by(f64::total_cmp);
    for piece in starts.chunk_by(|a, b| b - a < 1.5) {
        plot::band(canvas, piece[0], piece[piece.len() - 1] + 1.0);
    }
    for fault in view.summary.arms.values().flat_map(|arm| &arm.faults) {
        // From the proof to the heal on top of all of it.
        plot::shade(canvas, fault.injected, fault.end(), FAILED, 0.08);
        if let Some(proved) = fault.proved {
            plot::shade(canvas, proved, fault.heal_begun, FAILED, 0.10);
        }
    }
}

/// Rows of one arm in one block, in order of time, with the arm's colour: lines do not run across the gaps between.
fn stretches<'a, R: Timed>(rows: &[&'a R], arms: &[&str]) -> Vec<(RGBColor, Vec<&'a R>)> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| {
        let ((arm, block, t), (other_arm, other_block, other_t)) = (a.place(), b.place());
        (block, arm)
            .cmp(&(other_block, other_arm))
            .then(t.total_cmp(&other_t))
    });
    sorted
        .chunk_by(|a, b| {
            let ((arm, block, _), (other_arm, other_block, _)) = (a.place(), b.place());
            block == other_block && arm == other_arm
        })
        .map(|stretch| (arm_colour(stretch[0].place().0, arms), stretch.to_vec()))
        .collect()
}

/// The colour of an arm.
pub(super) fn arm_colour(arm: &str, arms: &[&str]) -> RGBColor {
    let index = arms.iter().position(|known| *known == arm);
    style::colour(index.unwrap_or(0))
}
