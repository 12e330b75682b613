//! A row of the table: what was compared, both figures, the ratio, the bar and whether it holds.

use crate::statistics::{Ratio, Rounds, median};

const HELD: &str = "held";
const MISSED: &str = "MISSED";
const NOT_MEASURED: &str = "not measured";
/// Stands where there is no figure.
const ABSENT: &str = "—";

/// A limit that must hold and one that is aimed at; both are upper limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The figure or ratio must not be above it.
    pub must: f64,
    /// It is meant to be no more than this, where there is such an aim.
    pub aim: Option<f64>,
}

impl Bar {
    /// A limit with an aim.
    pub const fn new(must: f64, aim: f64) -> Self {
        Self {
            must,
            aim: Some(aim),
        }
    }
}

/// A quantity and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Microseconds of processor time per request.
    Cost,
    /// Requests per second.
    Throughput,
    /// Microseconds of a time; the text names it.
    Time(&'static str),
    /// Megabytes; the text says of what.
    Memory(&'static str),
}

/// One row, as it is written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    work: String,
    quantity: &'static str,
    ours: String,
    peer: String,
    ratio: String,
    must: String,
    aim: String,
    verdict: &'static str,
}

impl Quantity {
    fn name(self) -> &'static str {
        match self {
            Self::Cost => "CPU µs per request",
            Self::Throughput => "requests/s",
            Self::Time(name) | Self::Memory(name) => name,
        }
    }

    fn write(self, value: f64) -> String {
        match self {
            Self::Cost => format!("{value:.2}"),
            Self::Throughput => format!("{value:.0}"),
            Self::Time(_) => format!("{value:.1} µs"),
            Self::Memory(_) => format!("{value:.1} MB"),
        }
    }

    fn cell(self, rounds: &Rounds) -> String {
        median(rounds).map_or_else(|| ABSENT.to_owned(), |value| self.write(value))
    }
}

impl Row {
    /// Ours beside a peer's; a bar is one on the ratio.
    pub fn beside(
        work: &str,
        quantity: Quantity,
        ours: &Rounds,
        (peer, theirs): (&str, &Rounds),
        bar: Option<Bar>,
    ) -> Self {
        let ratio = Ratio::of(ours, theirs);
        let verdict = match (ratio, bar) {
            (_, None) => "",
            (None, Some(_)) => NOT_MEASURED,
            (Some(ratio), Some(bar)) => judged(ratio, bar),
        };
        Self {
            work: work.to_owned(),
            quantity: quantity.name(),
            ours: quantity.cell(ours),
            peer: format!("{peer}: {}", quantity.cell(theirs)),
            ratio: ratio.map_or_else(|| ABSENT.to_owned(), written),
            verdict,
            ..Self::default()
        }
        .with_bar(bar, |limit| format!("≤ {limit:.2} ×"))
    }

    /// A figure of ours alone; a bar is one on its median.
    pub fn alone(work: &str, quantity: Quantity, ours: &Rounds, bar: Option<Bar>) -> Self {
        let verdict = match (median(ours), bar) {
            (_, None) => "",
            (None, Some(_)) => NOT_MEASURED,
            (Some(value), Some(bar)) if value <= bar.must => HELD,
            _ => MISSED,
        };
        Self {
            work: work.to_owned(),
            quantity: quantity.name(),
            ours: quantity.cell(ours),
            verdict,
            ..Self::default()
        }
        .with_bar(bar, |limit| format!("≤ {}", quantity.write(limit)))
    }

    /// Something that could not be measured, and why.
    pub fn absent(work: &str, side: &str, reason: &str) -> Self {
        Self {
            work: work.to_owned(),
            peer: format!("{side}: {reason}"),
            verdict: NOT_MEASURED,
            ..Self::default()
        }
    }

    /// Replaces the verdict by what else is known of it.
    pub fn with_verdict(mut self, verdict: &'static str) -> Self {
        self.verdict = verdict;
        self
    }

    /// The row in Markdown.
    pub fn markdown(&self) -> String {
        let cells = [
            &self.work,
            self.quantity,
            &self.ours,
            &self.peer,
            &self.ratio,
            &self.must,
            &self.aim,
            self.verdict,
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        format!("| {} |", cells.join(" | "))
    }

    fn with_bar(mut self, bar: Option<Bar>, write: impl Fn(f64) -> String) -> Self {
        self.must = bar.map(|bar| write(bar.must)).unwrap_or_default();
        let aim = bar.and_then(|bar| bar.aim);
        self.aim = aim.map(write).unwrap_or_default();
        self
    }
}

/// A single round has no interval and decides nothing.
fn judged(ratio: Ratio, bar: Bar) -> &'static str {
    match ratio.interval {
        Some(interval) if interval.high <= bar.must => HELD,
        Some(interval) if interval.low > bar.must => MISSED,
        _ => "undecided",
    }
}

fn written(ratio: Ratio) -> String {
    match ratio.interval {
        Some(interval) => format!(
            "{:.3} ({:.3} … {:.3})",
            ratio.value, interval.low, interval.high
        ),
        None => format!("{:.3}", ratio.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: [Option<f64>; 3] = [Some(10.0), Some(10.1), Some(9.9)];

    #[test]
    fn a_bar_is_judged_by_the_whole_interval() {
        let check = |ours: [f64; 3], expected: &str| {
            let ours = ours.map(Some).to_vec();
            let bar = Some(Bar::new(1.0, 0.9));
            let row = Row::beside("w", Quantity::Cost, &ours, ("p", &PEER.to_vec()), bar);
            assert_eq!(row.verdict, expected, "{row:?}");
        };
        check([8.0, 8.1, 7.9], "held");
        check([12.0, 12.1, 11.9], "MISSED");
        check([9.0, 11.0, 10.0], "undecided");
        let once = vec![Some(1.0)];
        let bar = Some(Bar::new(1.0, 0.9));
        let row = Row::beside("w", Quantity::Cost, &once, ("p", &PEER.to_vec()), bar);
        assert_eq!(row.verdict, "undecided");
    }

    #[test]
    fn rows_are_written_with_their_units() {
        let ours = vec![Some(8.0), Some(8.4), Some(7.9)];
        let bar = Some(Bar::new(1.0, 0.9));
        let row = Row::beside(
            "closed",
            Quantity::Cost,
            &ours,
            ("wrk", &PEER.to_vec()),
            bar,
        );
        insta::assert_snapshot!(row.markdown(), @"| closed | CPU µs per request | 8.00 | wrk: 10.00 | 0.810 (0.764 … 0.858) | ≤ 1.00 × | ≤ 0.90 × | held |");
        let lag = Row::alone("open", Quantity::Time("p99 of pacing lag"), &ours, bar);
        insta::assert_snapshot!(lag.markdown(), @"| open | p99 of pacing lag | 8.0 µs |  |  | ≤ 1.0 µs | ≤ 0.9 µs | MISSED |");
        let absent = Row::absent("open", "oha", "not installed: `x`");
        insta::assert_snapshot!(absent.markdown(), @"| open |  |  | oha: not installed: `x` |  |  |  | not measured |");
    }
}
