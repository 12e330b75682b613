//! Outages: every trial over time, their lengths by fault, and a year of them.

mod year;

use super::axis::{self, Axis};
use super::over_time::{LEFT, TICKS, WIDTH};
use super::plot::{self, Canvas, Pen, Plot};
use super::style::{self, AXIS, FAILED, LABEL};
use super::{arms, figure, sentence};
use crate::record::{AvailabilitySummary, FaultOutages, SHAM, TrialSummary};
use crate::render::figures::availability::{of_arms, outages, sentences, trials};
use crate::render::view::RunView;
use maud::{Markup, html};

/// Height of a trial's row, as shown.
const ROW: u32 = 12;
/// Room for the time axis.
const BELOW: u32 = 34;
/// Good answers, and those that were slow, by the place of their colours among those of series.
const GOOD: usize = 2;
const SLOW: usize = 1;

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let Some(table) = outages(summary) else {
        return Markup::default();
    };
    let several_arms = of_arms(summary).count() > 1;
    let content = html! {
        div.dense { (arms::table(&table)) }
        ul.notes { @for said in sentences(summary) { li { (sentence(&said)) } } }
        @for (name, found) in of_arms(summary) {
            @if several_arms { h3 { (name) } }
            (year::part(found))
            (by_fault(found))
            details { summary { (found.trials.len()) " trials" } div.dense { (arms::table(&trials(found))) } }
        }
    };
    super::section(
        "Outages",
        "An outage lasts from the first to the last failed intended start at least, and from the last good before to the first good after at most; its middle is shown, and of the longest its upper end. Lost seconds are failed exchanges over the rate: they add up, whatever part of the callers is hit.",
        content,
    )
}

/// Lengths and courses of each fault, shams last.
fn by_fault(found: &AvailabilitySummary) -> Markup {
    let longest = longest(found);
    let rows = found.settings.faults.keys().map(String::as_str);
    html! {
        @for row in rows.chain([SHAM]) {
            @let trials: Vec<&TrialSummary> = found.trials.iter().filter(|trial| trial.fault == row && trial.void_reasons.is_empty()).collect();
            @if !trials.is_empty() {
                h3 { (row) }
                (figure(lengths(&trials, found.faults.iter().find(|fault| fault.name == row), longest), "Dots: outages, one a trial; grey dots: below the resolution, drawn at it; red dots: failed failovers. Line: the median with its 95 % interval; tick: p95."))
                (figure(courses(&trials), "One row a trial, over the time since the injection. Red: failed; orange: good but slow; green: good. Lines: injection; bars in each row: proof of the effect, and the beginning of the heal."))
            }
        }
    }
}

/// The shortest and the longest outage that is drawn.
fn longest(found: &AvailabilitySummary) -> (f64, f64) {
    let drawn = found.trials.iter().map(length);
    drawn.fold((0.1, 1.0), |(low, high), seconds| {
        (seconds.min(low), seconds.max(high))
    })
}

fn length(trial: &TrialSummary) -> f64 {
    match trial.below_resolution {
        true => trial.resolution_s,
        false => trial.outage.estimate_s.max(1e-3),
    }
}

fn lengths(trials: &[&TrialSummary], fault: Option<&FaultOutages>, ends: (f64, f64)) -> Markup {
    let plot = Plot {
        size: (WIDTH, 90),
        title: "Lengths of outages".to_owned(),
        description: "A dot for each trial on a logarithmic axis; the median with its interval."
            .to_owned(),
        left: LEFT,
        x: Axis::logarithmic(ends.0 * 0.8, ends.1 * 1.25, axis::log_seconds),
        y: Axis::rows(3),
    };
    plot.draw(|canvas| {
        for (place, trial) in trials.iter().enumerate() {
            let colour = match (trial.failed_failover, trial.below_resolution) {
                (true, _) => FAILED,
                (false, true) => AXIS,
                (false, false) => style::colour(0),
            };
            // Three heights, so that outages of one length do not hide each other.
            let height = [1.2, 1.7, 2.2][place % 3];
            plot::dot(canvas, (length(trial).log10(), height), 4, colour, 0.55);
        }
        if let Some(fault) = fault {
            median(canvas, fault);
        }
    })
}

fn median(canvas: &mut Canvas<'_>, fault: &FaultOutages) {
    let at = |seconds: f64| seconds.max(1e-3).log10();
    let upright = |canvas: &mut Canvas<'_>, seconds: f64, from: f64, to: f64| {
        plot::line(
            canvas,
            &[(at(seconds), from), (at(seconds), to)],
            Pen::solid(LABEL, 2.0),
        );
    };
    if let Some(median) = fault.outage.p50 {
        upright(canvas, median.value, 0.2, 0.9);
        if let Some((low, high)) = median.low.zip(median.high) {
            plot::line(
                canvas,
                &[(at(low), 0.55), (at(high), 0.55)],
                Pen::solid(LABEL, 2.0),
            );
        }
    }
    if let Some(p95) = fault.outage.p95 {
        upright(canvas, p95.value, 0.4, 0.7);
    }
}

fn courses(trials: &[&TrialSummary]) -> Markup {
    let count = u32::try_from(trials.len()).unwrap_or(u32::MAX);
    let from = trials.iter().map(|trial| trial.course.from_s);
    let to = trials.iter().map(|trial| trial.ended_s);
    let plot = Plot {
        size: (WIDTH, BELOW + ROW * count),
        title: "Trials over time".to_owned(),
        description: "For each trial its good, slow and failed exchanges since the injection."
            .to_owned(),
        left: LEFT,
        x: Axis::linear(
            from.fold(0.0, f64::min),
            to.fold(1.0, f64::max),
            TICKS,
            axis::seconds,
        ),
        y: Axis::rows(count),
    };
    let height = f64::from(count);
    plot.draw(|canvas| {
        for (trial, row) in trials.iter().zip(0_u32..) {
            course(canvas, trial, height - 1.0 - f64::from(row));
        }
        plot::line(canvas, &[(0.0, 0.0), (0.0, height)], Pen::solid(LABEL, 1.0));
    })
}

/// One trial in the row above `bottom`.
fn course(canvas: &mut Canvas<'_>, trial: &TrialSummary, bottom: f64) {
    let (low, high) = (bottom + 0.12, bottom + 0.88);
    for stretch in stretches(trial) {
        let mut at = low;
        let colours = [FAILED, style::colour(SLOW), style::colour(GOOD)];
        for ((share, colour), opacity) in stretch
            .shares
            .into_iter()
            .zip(colours)
            .zip([1.0, 0.9, 0.45])
        {
            let top = at + share * (high - low);
            if share > 0.0 {
                plot::cell(
                    canvas,
                    (stretch.from, at),
                    (stretch.to, top),
                    colour,
                    opacity,
                );
            }
            at = top;
        }
    }
    for moment in trial.proved_s.into_iter().chain([trial.heal_begun_s]) {
        plot::line(
            canvas,
            &[(moment, bottom), (moment, bottom + 1.0)],
            Pen::solid(LABEL, 1.0),
        );
    }
}

/// A part of a course of which all bins look alike.
struct Stretch {
    from: f64,
    to: f64,
    /// Failed, slow and good ones.
    shares: [f64; 3],
}

fn stretches(trial: &TrialSummary) -> Vec<Stretch> {
    let course = &trial.course;
    let counts = course
        .failed
        .iter()
        .zip(course.slow.iter().zip(&course.good));
    let mut stretches: Vec<Stretch> = Vec::new();
    for ((failed, (slow, good)), bin) in counts.zip(0_u32..) {
        let whole = f64::from(failed + slow + good);
        if whole <= 0.0 {
            continue;
        }
        let shares = [failed, slow, good].map(|part| f64::from(*part) / whole);
        let from = course.from_s + f64::from(bin) * course.bin_s;
        let to = from + course.bin_s;
        match stretches.last_mut() {
            Some(last) if last.shares == shares && from - last.to < course.bin_s / 2.0 => {
                last.to = to
            }
            _ => stretches.push(Stretch { from, to, shares }),
        }
    }
    stretches
}
