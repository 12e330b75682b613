//! Axes: a range, where its ticks are, and how they read. Logarithmic axes are drawn in powers of ten.

use crate::render::words::time;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// One axis of a plot.
pub(in crate::render) struct Axis {
    pub(in crate::render) low: f64,
    pub(in crate::render) high: f64,
    pub(in crate::render) ticks: Vec<f64>,
    pub(in crate::render) label: fn(f64) -> String,
}

impl Axis {
    /// From zero (or `low` below it) to a little above `high`, with about `ticks` ticks at 1, 2 or 5 times a power of ten.
    pub(in crate::render) fn linear(
        low: f64,
        high: f64,
        ticks: u32,
        label: fn(f64) -> String,
    ) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = nice_step((high - low) / f64::from(ticks));
        let first = (low / step).ceil();
        let ticks = (0..=2 * ticks)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|tick| *tick <= high + step * 1e-9)
            .collect();
        Self {
            low,
            high,
            ticks,
            label,
        }
    }

    /// Rows of a chart, from 0 to their number: they are not labelled.
    pub(in crate::render) fn rows(count: u32) -> Self {
        Self {
            low: 0.0,
            high: f64::from(count),
            ticks: Vec::new(),
            label: |_| String::new(),
        }
    }

    /// Exponents of ten of `low` to `high` (both positive), with ticks at 1, 2 and 5 of each decade or, over many decades, at 1.
    pub(in crate::render) fn logarithmic(low: f64, high: f64, label: fn(f64) -> String) -> Self {
        let (low, high) = (low.log10(), high.log10());
        let high = if high > low { high } else { low + 1.0 };
        let within: &[f64] = if high - low > 3.2 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let decades = std::iter::successors(Some(low.floor()), |decade| Some(decade + 1.0));
        let ticks = decades
            .take_while(|decade| *decade <= high)
            .flat_map(|decade| within.iter().map(move |digit| decade + digit.log10()))
            .filter(|tick| (low - 1e-9..=high + 1e-9).contains(tick))
            .collect();
        Self {
            low,
            high,
            ticks,
            label,
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped to a pixel near the plot"
    )]
    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let along = ((value - self.low) / (self.high - self.low)).clamp(-1.0, 2.0);
        start + (f64::from(end - start) * along).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.label)(*value)
    }
}

/// A time on a linear axis.
pub(in crate::render) fn seconds(value: f64) -> String {
    short(&time(Some(value)))
}

/// A time on a logarithmic axis.
pub(in crate::render) fn log_seconds(exponent: f64) -> String {
    seconds(10_f64.powf(exponent))
}

/// Drops zeros after the point: an axis reads `2 ms`, not `2.00 ms`.
fn short(text: &str) -> String {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    if number == "0" {
        number.to_owned()
    } else {
        format!("{number} {unit}")
    }
}

fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|digit| digit * power >= rough * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(axis: &Axis) -> String {
        let labels: Vec<String> = axis.ticks.iter().map(|tick| (axis.label)(*tick)).collect();
        labels.join(", ")
    }

    #[test]
    fn ticks() {
        let linear = |low, high| read(&Axis::linear(low, high, 5, seconds));
        assert_eq!(linear(0.0, 1e-3), "0, 200 µs, 400 µs, 600 µs, 800 µs, 1 ms");
        assert_eq!(linear(0.0, 0.0123), "0, 5 ms, 10 ms");
        assert_eq!(linear(-1e-3, 1e-3), "−1 ms, −500 µs, 0, 500 µs, 1 ms");
        assert_eq!(linear(0.0, 0.0), "0, 200 ms, 400 ms, 600 ms, 800 ms, 1 s");
        let log = |low, high| read(&Axis::logarithmic(low, high, log_seconds));
        assert_eq!(log(5e-5, 1.2e-3), "50 µs, 100 µs, 200 µs, 500 µs, 1 ms");
        assert_eq!(log(1e-4, 10.0), "100 µs, 1 ms, 10 ms, 100 ms, 1 s, 10 s");
    }
}
