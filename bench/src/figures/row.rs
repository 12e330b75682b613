//! A row of the table: what was compared, both figures, the ratio, the bar and whether it holds.

use crate::figures::statistics::{Mean, Ratio, Rounds, differences, median, rests_on_most};
use plimsoll_report::statistics::Interval;

/// The limit holds.
pub const HELD: &str = "held";
/// The limit does not hold.
pub const MISSED: &str = "MISSED";
/// The interval has the limit in it.
pub const UNDECIDED: &str = "undecided";
/// There is no figure.
pub const NOT_MEASURED: &str = "not measured";
/// There is a figure, but of so few rounds that the others may have told another story.
const TOO_FEW: &str = "invalid: too few rounds";
/// Stands where there is no figure.
const ABSENT: &str = "—";

/// A limit that must hold and one that is aimed at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// On which side of the limit the figure or ratio must be.
    pub side: Allowed,
    /// The limit.
    pub must: f64,
    /// It is meant to be as far as this, where there is such an aim.
    pub aim: Option<f64>,
}

/// The side of a limit on which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Not above it.
    Below,
    /// Not below it.
    Above,
}

impl Bar {
    /// An upper limit with an aim.
    pub const fn new(must: f64, aim: f64) -> Self {
        Self {
            aim: Some(aim),
            ..Self::at_most(must)
        }
    }

    /// An upper limit.
    pub const fn at_most(must: f64) -> Self {
        Self {
            side: Allowed::Below,
            must,
            aim: None,
        }
    }

    /// A lower limit.
    pub const fn at_least(must: f64) -> Self {
        Self {
            side: Allowed::Above,
            ..Self::at_most(must)
        }
    }

    /// Adds an aim beyond the limit.
    pub const fn aiming_at(mut self, aim: f64) -> Self {
        self.aim = Some(aim);
        self
    }

    fn allows(self, value: f64) -> bool {
        match self.side {
            Allowed::Below => value <= self.must,
            Allowed::Above => value >= self.must,
        }
    }
}

/// The figure that a bar limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// The ratio of ours to a peer's.
    Ratio(Bar),
    /// Our own figure.
    Figure(Bar),
}

impl Limit {
    fn write(self, quantity: Quantity, value: f64) -> String {
        let (Self::Ratio(bar) | Self::Figure(bar)) = self;
        let sign = match bar.side {
            Allowed::Below => '≤',
            Allowed::Above => '≥',
        };
        match self {
            Self::Ratio(_) => format!("{sign} {value:.2} ×"),
            Self::Figure(_) => format!("{sign} {}", quantity.write(value)),
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
    /// Requests per second of processor time: the throughput of one processor, whatever the clients leave of it.
    PerProcessor,
    /// How many times more processor time per request it is with much of something than with little.
    Growth,
    /// Microseconds of processor time that something adds to a request.
    AddedCost,
    /// Microseconds of a time; the text names it.
    Time(&'static str),
    /// Seconds; the text names the time.
    Seconds(&'static str),
    /// Megabytes per second; the text says which.
    Bandwidth(&'static str),
    /// Megabytes; the text says of what.
    Memory(&'static str),
    /// Kilobytes; the text says of what.
    SmallMemory(&'static str),
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
            Self::Growth => "growth of CPU per request",
            Self::AddedCost => "added CPU per request",
            Self::Throughput => "requests/s",
            Self::PerProcessor => "requests per CPU second",
            Self::Time(name)
            | Self::Seconds(name)
            | Self::Bandwidth(name)
            | Self::Memory(name)
            | Self::SmallMemory(name) => name,
        }
    }

    fn write(self, value: f64) -> String {
        match self {
            Self::Cost => format!("{value:.2}"),
            Self::Growth => format!("{value:.3} ×"),
            Self::AddedCost => format!("{value:.2} µs"),
            Self::Throughput | Self::PerProcessor => format!("{value:.0}"),
            Self::Bandwidth(_) => format!("{value:.0} MB/s"),
            Self::Seconds(_) => format!("{value:.2} s"),
            Self::Time(_) => format!("{value:.1} µs"),
            Self::Memory(_) => format!("{value:.1} MB"),
            Self::SmallMemory(_) => format!("{value:.1} kB"),
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
        let verdict = verdict(ratio.map(|ratio| ratio.interval), [ours, theirs], bar);
        Self {
            work: work.to_owned(),
            quantity: quantity.name(),
            ours: quantity.cell(ours),
            peer: format!("{peer}: {}", quantity.cell(theirs)),
            ratio: ratio.map_or_else(|| ABSENT.to_owned(), written),
            verdict,
            ..Self::default()
        }
        .with_limit(quantity, bar.map(Limit::Ratio))
    }

    /// A figure of ours alone; a bar is one on its median.
    pub fn alone(work: &str, quantity: Quantity, ours: &Rounds, bar: Option<Bar>) -> Self {
        let verdict = match (median(ours), bar) {
            (None, Some(_)) => NOT_MEASURED,
            (Some(_), _) if !rests_on_most([ours, ours]) => TOO_FEW,
            (_, None) => "",
            (Some(value), Some(bar)) if bar.allows(value) => HELD,
            _ => MISSED,
        };
        Self {
            work: work.to_owned(),
            quantity: quantity.name(),
            ours: quantity.cell(ours),
            verdict,
            ..Self::default()
        }
        .with_limit(quantity, bar.map(Limit::Figure))
    }

    /// A row of the amount that something adds to a figure of ours without it; a bar is one on the mean over rounds.
    pub fn added(work: &str, quantity: Quantity, sides: [&Rounds; 2], bar: Option<Bar>) -> Self {
        let [with, without] = sides;
        let mean = Mean::of(&differences(with, without));
        let verdict = verdict(mean.map(|mean| mean.interval), sides, bar);
        let written = |mean: Mean| {
            let value = quantity.write(mean.value);
            let ends = mean.interval.map(|interval| [interval.low, interval.high]);
            ends.map_or(value.clone(), |ends| {
                let [low, high] = ends.map(|end| quantity.write(end));
                format!("{value} ({low} … {high})")
            })
        };
        Self {
            work: work.to_owned(),
            quantity: quantity.name(),
            ours: mean.map_or_else(|| ABSENT.to_owned(), written),
            verdict,
            ..Self::default()
        }
        .with_limit(quantity, bar.map(Limit::Figure))
    }

    /// Something that could not be measured of a side, why, and the limit that nobody knows of now whether it holds.
    pub fn absent(
        work: &str,
        quantity: Quantity,
        (side, reason): (&str, &str),
        limit: Option<Limit>,
    ) -> Self {
        Self {
            work: work.to_owned(),
            quantity: quantity.name(),
            peer: format!("{side}: {reason}"),
            verdict: NOT_MEASURED,
            ..Self::default()
        }
        .with_limit(quantity, limit)
    }

    /// A whole comparison that came to nothing, whatever its limits are.
    pub fn failed(comparison: &str, reason: &str) -> Self {
        Self {
            work: comparison.to_owned(),
            peer: reason.to_owned(),
            must: ABSENT.to_owned(),
            verdict: NOT_MEASURED,
            ..Self::default()
        }
    }

    /// Replaces the verdict by what else is known of it.
    pub fn with_verdict(mut self, verdict: &'static str) -> Self {
        self.verdict = verdict;
        self
    }

    /// Whether it has a limit, and that holds.
    pub fn is_held(&self) -> bool {
        self.verdict == HELD
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

    fn with_limit(mut self, quantity: Quantity, limit: Option<Limit>) -> Self {
        let Some(limit) = limit else {
            return self;
        };
        let (Limit::Ratio(bar) | Limit::Figure(bar)) = limit;
        self.must = limit.write(quantity, bar.must);
        let aim = bar.aim.map(|aim| limit.write(quantity, aim));
        self.aim = aim.unwrap_or_default();
        self
    }
}

/// The verdict of a limit, by the interval of its figure over both sides. There may be no figure, and a single round has no interval and decides
/// nothing.
fn verdict(
    figure: Option<Option<Interval>>,
    sides: [&Rounds; 2],
    bar: Option<Bar>,
) -> &'static str {
    match (figure, bar) {
        (None, Some(_)) => NOT_MEASURED,
        (Some(_), _) if !rests_on_most(sides) => TOO_FEW,
        (_, None) => "",
        (Some(None), Some(_)) => UNDECIDED,
        (Some(Some(interval)), Some(bar)) => {
            match [interval.low, interval.high].map(|end| bar.allows(end)) {
                [true, true] => HELD,
                [false, false] => MISSED,
                _ => UNDECIDED,
            }
        }
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
    fn a_lower_limit_is_judged_from_the_other_side() {
        let check = |ours: [f64; 3], expected: &str| {
            let ours = ours.map(Some).to_vec();
            let bar = Some(Bar::at_least(0.9));
            let row = Row::beside(
                "w",
                Quantity::PerProcessor,
                &ours,
                ("p", &PEER.to_vec()),
                bar,
            );
            assert_eq!(row.verdict, expected, "{row:?}");
        };
        check([9.8, 9.9, 9.7], "held");
        check([8.0, 8.1, 7.9], "MISSED");
        check([9.0, 8.2, 10.0], "undecided");
        let ours = vec![Some(95_000.0); 3];
        let bar = Some(Bar::at_least(8.0).aiming_at(12.0));
        let row = Row::beside("w", Quantity::Throughput, &ours, ("p", &PEER.to_vec()), bar);
        insta::assert_snapshot!(row.markdown(), @"| w | requests/s | 95000 | p: 10 | 9500.317 (9267.214 … 9739.282) | ≥ 8.00 × | ≥ 12.00 × | held |");
        let start = Row::alone(
            "w",
            Quantity::Seconds("start"),
            &vec![Some(0.31); 3],
            Some(Bar::at_most(1.0)),
        );
        insta::assert_snapshot!(start.markdown(), @"| w | start | 0.31 s |  |  | ≤ 1.00 s |  | held |");
    }

    #[test]
    fn what_is_added_is_judged_by_its_interval() {
        let check = |with: [f64; 3], expected: &str| {
            let with = with.map(Some).to_vec();
            let bar = Some(Bar::at_most(3.0));
            let sides = [&with, &PEER.to_vec()];
            let row = Row::added("w", Quantity::AddedCost, sides, bar);
            assert_eq!(row.verdict, expected, "{row:?}");
            row.markdown()
        };
        insta::assert_snapshot!(check([11.0, 11.2, 10.8], "held"), @"| w | added CPU per request | 1.00 µs (0.75 µs … 1.25 µs) |  |  | ≤ 3.00 µs |  | held |");
        check([14.0, 14.2, 13.8], "MISSED");
        check([12.0, 14.0, 13.0], "undecided");
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
        let oha = ("oha", "not installed: `x`");
        let absent = Row::absent("open", Quantity::Cost, oha, bar.map(Limit::Ratio));
        insta::assert_snapshot!(absent.markdown(), @"| open | CPU µs per request |  | oha: not installed: `x` |  | ≤ 1.00 × | ≤ 0.90 × | not measured |");
        let lag = Quantity::Time("lag");
        let absent = Row::absent("open", lag, ("plimsoll", "gone"), bar.map(Limit::Figure));
        insta::assert_snapshot!(absent.markdown(), @"| open | lag |  | plimsoll: gone |  | ≤ 1.0 µs | ≤ 0.9 µs | not measured |");
        let absent = Row::absent("open", Quantity::Cost, oha, None);
        insta::assert_snapshot!(absent.markdown(), @"| open | CPU µs per request |  | oha: not installed: `x` |  |  |  | not measured |");
        insta::assert_snapshot!(Row::failed("open", "gone").markdown(), @"| open |  |  | gone |  | — |  | not measured |");
    }

    #[test]
    fn a_figure_of_too_few_rounds_is_not_judged() {
        let check = |ours: [Option<f64>; 3], bar: Option<Bar>, expected: [&str; 2]| {
            let ours = ours.to_vec();
            let peer = ("p", &PEER.to_vec());
            let beside = Row::beside("w", Quantity::Cost, &ours, peer, bar);
            let alone = Row::alone("w", Quantity::Cost, &ours, bar);
            assert_eq!([beside.verdict, alone.verdict], expected, "{ours:?}");
        };
        let bar = Some(Bar::new(10.0, 9.0));
        check([Some(8.0), None, Some(8.0)], bar, [HELD, HELD]);
        check([Some(8.0), None, None], bar, [TOO_FEW, TOO_FEW]);
        check([Some(8.0), None, None], None, [TOO_FEW, TOO_FEW]);
        check([None; 3], bar, [NOT_MEASURED, NOT_MEASURED]);
        check([None; 3], None, ["", ""]);
        // A side that takes part in the first rounds only is asked for no others.
        let five = vec![Some(8.0); 5];
        let row = Row::beside("w", Quantity::Cost, &five, ("p", &PEER.to_vec()), None);
        assert_eq!(row.verdict, "");
    }
}
