//! A year: expected seconds by fault on a scale of nines, years by chance, and which input matters.

use crate::availability::YEAR_S;
use crate::record::{Annual, AvailabilitySummary, Bounds};
use crate::render::figures::availability::{of_year, year};
use crate::render::html::axis::{self, Axis};
use crate::render::html::over_time::{LEFT, WIDTH};
use crate::render::html::plot::{self, Canvas, Pen, Plot};
use crate::render::html::style::{self, FAILED, LABEL};
use crate::render::html::{arms, figure, legend, sentence};
use crate::render::table::Table;
use crate::render::words::{number, time};
use maud::{Markup, html};

/// Height of a row, as shown.
const ROW: u32 = 24;
/// Most inputs that are drawn.
const MOST_BARS: usize = 12;
/// Less than this is drawn as this, in seconds: 99.999999 % of a year.
const LEAST: f64 = 0.3;

pub(super) fn part(found: &AvailabilitySummary) -> Markup {
    let Some(annual) = &found.annual else {
        return Markup::default();
    };
    let names = annual
        .expected
        .by_fault
        .iter()
        .map(|part| part.name.as_str());
    let within = found.settings.within_s;
    html! {
        h3 { "A year" }
        (arms::table(&year(annual)))
        ul.notes { @for said in of_year(found) { li { (sentence(&said)) } } }
        (legend(names))
        (figure(stacked(annual), "Expected seconds of a year by fault, one behind the other; line: from what they are at least to what they are at most, each 95 % certain by itself."))
        (figure(nines(annual, within), "On a scale of nines. Bold: expected, with both ends; below it each fault; the lowest row: years by chance, at the median, at 95 and at 99 of 100. Red: what `within` allows."))
        @if !annual.tornado.is_empty() {
            (figure(tornado(annual), "Expected seconds with one input at either end of its interval and all others at their estimates, in the order of the table below."))
            (arms::table(&inputs(annual)))
        }
    }
}

/// Parts of the expected seconds, one behind the other.
fn stacked(annual: &Annual) -> Markup {
    let expected = &annual.expected;
    let plot = Plot {
        size: (WIDTH, 80),
        title: "Expected seconds of a year".to_owned(),
        description: "Parts of each fault, and the interval of their sum.".to_owned(),
        left: LEFT,
        x: Axis::linear(0.0, expected.high * 1.05, 8, axis::seconds),
        y: Axis::rows(2),
    };
    plot.draw(|canvas| {
        let mut at = 0.0;
        for (index, part) in expected.by_fault.iter().enumerate() {
            let to = at + part.total.value;
            plot::cell(canvas, (at, 0.9), (to, 1.8), style::colour(index), 0.85);
            at = to;
        }
        plot::line(
            canvas,
            &[(expected.low, 0.5), (expected.high, 0.5)],
            Pen::solid(LABEL, 2.0),
        );
        plot::dot(canvas, (expected.value, 0.5), 4, LABEL, 1.0);
    })
}

/// Share of a year in service, of an exponent of the seconds that are lost.
fn in_service(exponent: f64) -> String {
    // A tick stands for a share of one nine more than the next.
    let lost = 10_f64.powf(exponent) / YEAR_S;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of digits"
    )]
    let digits = (-(lost.log10()) - 2.0).round().clamp(0.0, 9.0) as usize;
    format!("{:.digits$} %", 100.0 * (1.0 - lost))
}

fn nines(annual: &Annual, within: Option<f64>) -> Markup {
    let expected = &annual.expected;
    let rows = u32::try_from(expected.by_fault.len() + 2).unwrap_or(u32::MAX);
    let highest = expected.high.max(annual.year.p99).max(LEAST * 100.0);
    let exponent = |seconds: f64| seconds.max(LEAST).log10();
    let end = (highest / YEAR_S).log10().ceil();
    let decades = std::iter::successors(Some(-8.0), |power| Some(power + 1.0));
    let plot = Plot {
        size: (WIDTH, 40 + ROW * rows),
        title: "Seconds of a year on a scale of nines".to_owned(),
        description: "Expected of all faults, of each, and years by chance.".to_owned(),
        left: LEFT,
        x: Axis {
            low: exponent(LEAST),
            // Room for the label of the last tick.
            high: end + YEAR_S.log10() + 0.15,
            ticks: decades
                .take_while(|power| *power <= end)
                .map(|power| power + YEAR_S.log10())
                .collect(),
            label: in_service,
        },
        y: Axis::rows(rows),
    };
    let top = f64::from(rows);
    let whole = Bounds {
        value: expected.value,
        low: expected.low,
        high: expected.high,
    };
    plot.draw(|canvas| {
        let bar = |canvas: &mut Canvas<'_>, bounds: &Bounds, y: f64, colour, width| {
            let ends = [(exponent(bounds.low), y), (exponent(bounds.high), y)];
            plot::line(canvas, &ends, Pen::solid(colour, width));
            plot::dot(canvas, (exponent(bounds.value), y), 5, colour, 1.0);
        };
        bar(canvas, &whole, top - 0.5, LABEL, 4.0);
        for (index, (part, row)) in expected.by_fault.iter().zip(1_u32..).enumerate() {
            bar(
                canvas,
                &part.total,
                top - 0.5 - f64::from(row),
                style::colour(index),
                2.0,
            );
        }
        for seconds in [annual.year.p50, annual.year.p95, annual.year.p99] {
            let x = exponent(seconds);
            plot::line(canvas, &[(x, 0.15), (x, 0.85)], Pen::solid(LABEL, 2.0));
        }
        if let Some(within) = within {
            let x = exponent(within);
            plot::line(canvas, &[(x, 0.0), (x, top)], Pen::solid(FAILED, 1.4));
        }
    })
}

fn tornado(annual: &Annual) -> Markup {
    let bars = &annual.tornado[..annual.tornado.len().min(MOST_BARS)];
    let rows = u32::try_from(bars.len()).unwrap_or(u32::MAX);
    let highest = bars.iter().map(|bar| bar.high_s).fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, 34 + ROW * rows),
        title: "Inputs by what they do to the expected seconds".to_owned(),
        description: "A bar for each input, from its lower to its upper end.".to_owned(),
        left: LEFT,
        x: Axis::linear(0.0, highest * 1.05, 8, axis::seconds),
        y: Axis::rows(rows),
    };
    let (value, top) = (annual.expected.value, f64::from(rows));
    plot.draw(|canvas| {
        for (bar, row) in bars.iter().zip(1_u32..) {
            let bottom = top - f64::from(row);
            let ends = [
                (bar.low_s.min(bar.high_s), bottom + 0.2),
                (bar.low_s.max(bar.high_s), bottom + 0.8),
            ];
            plot::cell(canvas, ends[0], ends[1], style::colour(0), 0.7);
        }
        plot::line(
            canvas,
            &[(value, 0.0), (value, top)],
            Pen::solid(LABEL, 1.4),
        );
    })
}

fn inputs(annual: &Annual) -> Table {
    let mut table = Table::new(["input", "from", "to", "a year from", "to"]);
    for bar in annual.tornado.iter().take(MOST_BARS) {
        table.rows.push(vec![
            bar.input.clone(),
            small(bar.low),
            small(bar.high),
            time(Some(bar.low_s)),
            time(Some(bar.high_s)),
        ]);
    }
    table
}

/// A chance, seconds or a rate, with enough digits.
fn small(value: f64) -> String {
    match value.abs() < 1.0 {
        true => format!("{value:.4}"),
        false => number(Some(value)),
    }
}
