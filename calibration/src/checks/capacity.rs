//! Ten real searches of targets whose capacity is known by construction; how many of the intervals hold it. That they do so in virtual
//! time, 400 times each, is a test of `plimsoll-report`; here the generator, the target and the machine are real.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome};
use crate::target::servers::Servers;
use crate::target::token_bucket::TokenBucket;
use serde_json::{Value, json};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "capacity",
    about: "ten searches of targets of known capacity: how many intervals hold the truth",
    run,
};

/// A target that is searched.
#[derive(Debug, Clone, Copy)]
enum Known {
    /// Tokens per second; what has none is refused.
    Bucket(f64),
    /// Servers, and their service time in milliseconds.
    Servers(u32, f64),
}

/// In the order in which they are searched; the short form takes the first of them.
const TARGETS: [Known; 10] = [
    Known::Servers(2, 6.3),
    Known::Bucket(311.0),
    Known::Servers(1, 4.1),
    Known::Bucket(137.0),
    Known::Servers(3, 11.7),
    Known::Bucket(463.0),
    Known::Servers(4, 9.1),
    Known::Bucket(223.0),
    Known::Servers(2, 3.7),
    Known::Bucket(577.0),
];
/// The short form's.
const SHORT: usize = 2;
/// Of ten intervals so many must hold the truth.
const HOLDING: f64 = 0.9;
/// No interval may be wider, as a share of its lower end: what the searches are asked for.
const WIDEST: f64 = 0.1;
/// The time that a search may take, in seconds: all ten together a quarter of an hour.
const BUDGET_S: u32 = 85;
/// Exchanges that may fail.
const ERRORS: f64 = 0.01;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let searches = bench.pick(TARGETS.len(), SHORT);
    let mut targets = TARGETS.iter();
    let done = bench.repeat(
        "capacity",
        searches,
        || {
            let next = targets.next().copied();
            search(bench, next.expect("invariant: as many as are repeated"))
        },
        Search::to_string,
    )?;
    let found = || done.iter().filter_map(|one| one.found.as_ref().ok());
    let holding = found().filter(|search| search.holds()).count();
    let widest = found().filter_map(Search::width).reduce(f64::max);
    let words: Vec<String> = done
        .iter()
        .map(|one| format!("{}{}", one.words, one.seen.aside()))
        .collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a number of searches"
    )]
    let needed = (HOLDING * searches as f64).ceil() as usize;
    let in_full = done.len() - found().filter(|search| search.width().is_some()).count();
    Ok(vec![
        Bar::judged(
            "intervals that hold the capacity",
            format!("≥ {needed} of {searches}"),
            format!("{holding} of {searches}: {}", words.join("; ")),
            holding >= needed,
        ),
        narrow(widest, in_full),
    ])
}

/// How wide the widest interval is, if there is one.
fn narrow(widest: Option<f64>, without: usize) -> Bar {
    let words = widest.map_or_else(|| "none".to_owned(), |it| format!("{:.1} %", 100.0 * it));
    Bar::judged(
        "widest interval",
        format!("≤ {:.0} %", 100.0 * WIDEST),
        format!("{words}; {without} searches found none"),
        widest.is_some_and(|widest| widest <= WIDEST),
    )
}

/// One search, and what is true.
struct Search {
    target: Known,
    lower: Option<f64>,
    upper: Option<f64>,
    said: String,
}

fn search(bench: &Bench, target: Known) -> Result<Search, Error> {
    let outcome = match target {
        Known::Bucket(per_s) => {
            let bucket = TokenBucket::start(per_s)?;
            searched(bench, bucket.address())?
        }
        Known::Servers(servers, ms) => {
            let service = Duration::from_secs_f64(ms / 1e3);
            let running = Servers::start(servers as usize, service)?;
            searched(bench, running.address())?
        }
    };
    let capacity = outcome.summary.pointer("/arms/main/capacity");
    let capacity = capacity
        .filter(|found| !found.is_null())
        .ok_or_else(|| Error::Measured(format!("no search: {}", outcome.verdict())))?;
    Ok(Search {
        target,
        lower: capacity["lower_per_s"].as_f64(),
        upper: capacity["upper_per_s"].as_f64(),
        said: capacity["sentence"].as_str().unwrap_or_default().to_owned(),
    })
}

fn searched(bench: &Bench, address: SocketAddr) -> Result<Outcome, Error> {
    bench.run(&experiment(address), f64::from(BUDGET_S))
}

/// A p90 that a stall of the machine, shorter than a tenth of a trial, does not reach, and that a queue passes soon.
fn experiment(target: SocketAddr) -> Value {
    json!({
        "version": 1,
        "name": "calibration",
        "components": { "target": { "external": format!("http://{target}"), "probe": "none" } },
        "scenario": [{ "name": "step", "get": "/" }],
        "load": { "connections": 64, "warmup": "1s", "timeout": "5s" },
        "arms": { "main": { "target": "target" } },
        "method": { "capacity": {
            "objective": { "p90": "25ms", "errors": format!("{}%", 100.0 * ERRORS) },
            "from": "100/s",
            "precision": "10%",
            "trial": "3s",
            "budget": format!("{BUDGET_S}s"),
        } },
    })
}

impl Known {
    /// The highest rate that it carries for as long as anybody likes, failures that are allowed included.
    fn capacity(self) -> f64 {
        match self {
            Self::Bucket(per_s) => per_s / (1.0 - ERRORS),
            Self::Servers(servers, ms) => f64::from(servers) * 1e3 / ms,
        }
    }
}

impl Search {
    fn holds(&self) -> bool {
        let truth = self.target.capacity();
        let ends = self.lower.zip(self.upper);
        ends.is_some_and(|(lower, upper)| lower <= truth && truth < upper)
    }

    /// As a share of the lower end; `None` without both ends.
    fn width(&self) -> Option<f64> {
        let (lower, upper) = self.lower.zip(self.upper)?;
        Some(upper / lower - 1.0)
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.target {
            Known::Bucket(_) => "bucket".to_owned(),
            Known::Servers(servers, _) => format!("{servers} servers"),
        };
        let truth = self.target.capacity();
        match self.lower.zip(self.upper) {
            Some((lower, upper)) => {
                let word = if self.holds() { "in" } else { "NOT in" };
                write!(f, "{name} {truth:.1}/s {word} [{lower:.1}, {upper:.1})")
            }
            None => write!(f, "{name} {truth:.1}/s: {}", self.said),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn an_interval_holds_its_lower_end_and_not_its_upper() {
        let check = |lower, upper, holds| {
            let search = Search {
                target: Known::Servers(2, 4.0),
                lower,
                upper,
                said: String::new(),
            };
            assert_eq!(search.holds(), holds, "{search}");
        };
        check(Some(500.0), Some(510.0), true);
        check(Some(490.0), Some(500.0), false);
        check(Some(490.0), None, false);
        check(None, None, false);
    }

    #[test]
    fn an_interval_is_judged_by_its_width() {
        let check = |widest, expected| assert_eq!(narrow(widest, 0).verdict, expected);
        check(Some(0.099), Verdict::Held);
        check(Some(0.101), Verdict::Failed);
        check(None, Verdict::Failed);
    }

    #[test]
    fn refusals_that_are_allowed_count_as_carried() {
        assert_eq!(Known::Bucket(99.0).capacity(), 100.0);
    }
}
