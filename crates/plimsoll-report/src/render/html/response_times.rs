//! How response times are distributed: their density, and the time within which each share of exchanges was answered.

use super::axis::{self, Axis};
use super::plot::{self, Pen, Plot};
use super::style::{self, FAILED};
use super::{figure, legend};
use crate::render::view::RunView;
use maud::{Markup, html};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use plotters::style::RGBColor;

/// Bins of the density per decade of time.
const BINS_PER_DECADE: f64 = 24.0;
/// Points of the spectrum.
const SPECTRUM_POINTS: u32 = 240;
/// Exchanges that must lie beyond the last point of the spectrum.
const BEYOND: f64 = 5.0;
const SIZE: (u32, u32) = (960, 280);
const LEFT: u32 = 66;

pub(super) fn section(view: &RunView) -> Markup {
    let arms: Vec<(usize, &TimeHistogram)> = view
        .summary
        .arms
        .keys()
        .enumerate()
        .filter_map(|(index, arm)| {
            let times = &view.histograms.get(arm)?.times;
            Some((index, times.get(&TimeKind::ResponseTime)?))
        })
        .filter(|(_, histogram)| !histogram.is_empty())
        .collect();
    if arms.is_empty() {
        return Markup::default();
    }
    let colours = arms
        .iter()
        .map(|(index, histogram)| (style::colour(*index), *histogram));
    let mut drawn: Vec<(RGBColor, &TimeHistogram)> = colours.collect();
    let failed = failed(view);
    let caption = match &failed {
        Some(failed) => {
            drawn.push((FAILED, failed));
            "Share of exchanges per bin, red: of those that failed otherwise than at their deadline. Each bin is 10 % wide, so the time axis is logarithmic."
        }
        None => {
            "Share of exchanges per bin; each bin is 10 % wide, so the time axis is logarithmic."
        }
    };
    let content = html! {
        (legend(view.summary.arms.keys().map(String::as_str)))
        h3 { "Distribution" }
        (figure(density(&drawn), caption))
        h3 { "Percentile spectrum" }
        (figure(spectrum(&arms), "Share of exchanges answered within a time. Each step to the right leaves out nine tenths of what was left."))
    };
    super::section("Response times", "", content)
}

/// Response times of what failed; `None` where nothing did, or with several arms, whose curves say enough.
fn failed(view: &RunView) -> Option<TimeHistogram> {
    let mut arms = view.histograms.values();
    let (Some(only), None) = (arms.next(), arms.next()) else {
        return None;
    };
    let failed = only.response(None, OutcomeClass::enters_failed_time);
    (!failed.is_empty()).then_some(failed)
}

/// One curve for each, of shares of its own exchanges.
fn density(arms: &[(RGBColor, &TimeHistogram)]) -> Markup {
    let low = arms
        .iter()
        .filter_map(|(_, h)| h.min())
        .fold(f64::INFINITY, f64::min)
        .max(1e-6);
    let high = arms
        .iter()
        .filter_map(|(_, h)| h.quantile(0.9995))
        .fold(low, f64::max);
    let x = Axis::logarithmic(low * 0.8, high * 1.3, axis::log_seconds);
    let lines: Vec<(RGBColor, Vec<(f64, f64)>)> = arms
        .iter()
        .map(|(colour, histogram)| (*colour, bins(histogram, x.low, x.high)))
        .collect();
    let top = lines
        .iter()
        .flat_map(|(_, line)| line)
        .map(|(_, share)| *share)
        .fold(0.0, f64::max);
    let plot = Plot {
        size: SIZE,
        title: "Distribution of response times".to_owned(),
        description: "One curve per arm over a logarithmic time axis; the figures stand in the table of arms.".to_owned(),
        left: LEFT,
        x,
        y: Axis::linear(0.0, top * 1.08, 4, percent),
    };
    plot.draw(|canvas| {
        for (colour, points) in &lines {
            let colour = *colour;
            plot::area(canvas, points, colour, 0.10);
            plot::line(
                canvas,
                points,
                Pen {
                    colour,
                    width: 1.8,
                    opacity: 1.0,
                },
            );
        }
    })
}

/// Shares of all times per bin, as (middle of the bin in powers of ten, share).
fn bins(histogram: &TimeHistogram, low: f64, high: f64) -> Vec<(f64, f64)> {
    let edges = std::iter::successors(Some(low), |edge| Some(edge + 1.0 / BINS_PER_DECADE));
    let edges: Vec<f64> = edges.take_while(|edge| *edge <= high).collect();
    #[expect(clippy::cast_precision_loss, reason = "a share to draw")]
    let share = |from: f64, to: f64| {
        let below = |edge: f64| histogram.count_at_most(10_f64.powf(edge));
        below(to).saturating_sub(below(from)) as f64 / histogram.count() as f64
    };
    edges
        .windows(2)
        .map(|edge| (f64::midpoint(edge[0], edge[1]), share(edge[0], edge[1])))
        .collect()
}

fn spectrum(arms: &[(usize, &TimeHistogram)]) -> Markup {
    #[expect(clippy::cast_precision_loss, reason = "a count to draw")]
    let most = arms
        .iter()
        .map(|(_, h)| h.count() as f64)
        .fold(0.0, f64::max);
    let nines = (most / BEYOND).max(10.0);
    let low = arms
        .iter()
        .filter_map(|(_, h)| h.quantile(0.0))
        .fold(f64::INFINITY, f64::min)
        .max(1e-6);
    let high = arms
        .iter()
        .filter_map(|(_, h)| h.quantile(1.0 - 1.0 / nines))
        .fold(low, f64::max);
    let plot = Plot {
        size: SIZE,
        title: "Percentile spectrum of response times".to_owned(),
        description: "Response time by percentile, from the fastest exchange to the slowest few, on logarithmic axes.".to_owned(),
        left: LEFT,
        x: Axis { ticks: decades(nines), ..Axis::logarithmic(1.0, nines, percentile) },
        y: Axis::logarithmic(low * 0.9, high * 1.15, axis::log_seconds),
    };
    plot.draw(|canvas| {
        for (index, histogram) in arms {
            let points = spectrum_of(histogram);
            plot::line(
                canvas,
                &points,
                Pen {
                    colour: style::colour(*index),
                    width: 1.8,
                    opacity: 1.0,
                },
            );
        }
    })
}

/// Points as powers of ten of (1 / share beyond, time), up to where only a few exchanges lie beyond.
fn spectrum_of(histogram: &TimeHistogram) -> Vec<(f64, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "a count to draw")]
    let last = (histogram.count() as f64 / BEYOND).max(1.0).log10();
    (0..=SPECTRUM_POINTS)
        .filter_map(|point| {
            let x = last * f64::from(point) / f64::from(SPECTRUM_POINTS);
            let time = histogram.quantile(1.0 - 10_f64.powf(-x))?;
            Some((x, time.max(1e-6).log10()))
        })
        .collect()
}

/// The median, and one tick for each nine.
fn decades(nines: f64) -> Vec<f64> {
    let whole = std::iter::successors(Some(1.0), |exponent| Some(exponent + 1.0));
    std::iter::once(2_f64.log10())
        .chain(whole.take_while(|exponent| *exponent <= nines.log10()))
        .collect()
}

fn percentile(exponent: f64) -> String {
    let share = 100.0 * (1.0 - 10_f64.powf(-exponent));
    let text = format!("{share:.5}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
