//! Runs in which nothing is wrong must not be called wrong. A run in which the witness saw the machine stall is excused.
//!
//! Half of them use a mock of the lab's own and enough load for the canary, so that criteria 9 and 10 are asked too.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Mark, Outcome, measure, measure_own_mock};
use crate::mock::Mock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

pub const CHECK: Check = Check {
    name: "clean",
    about: "clean runs on an idle machine; no criterion of validity may fail",
    run,
};

/// Seconds of warm-up and, below, of load. A machine that stalls every 15 s leaves three of four of the short runs alone; much longer
/// ones would hardly ever be.
const WARMUP_S: f64 = 0.5;

/// The path that is asked of the target.
const PATH: &str = "/json/valid";

/// Figures that a report shows with their marks.
const TIMES: [&str; 2] = ["response_time", "service_time"];
const FIGURES: [&str; 6] = ["mean", "p50", "p90", "p99", "p999", "max"];

/// One kind of clean run.
struct Kind {
    name: &'static str,
    seconds: f64,
    rate: u32,
    connections: u32,
    measure: fn(&Bench, &Kind) -> Result<Outcome, Error>,
}

/// The second has the 10,000 arrivals and 20 connections from which on the generator has a canary.
const KINDS: [Kind; 2] = [
    Kind {
        name: "an external mock at 500/s",
        seconds: 3.0,
        rate: 500,
        connections: 20,
        measure: against_external,
    },
    Kind {
        name: "the lab's own at 2,000/s",
        seconds: 5.5,
        rate: 2000,
        connections: 50,
        measure: against_own,
    },
];

impl Kind {
    fn load(&self) -> Value {
        json!({
            "rate": format!("{}/s", self.rate), "connections": self.connections,
            "warmup": format!("{WARMUP_S}s"), "duration": format!("{}s", self.seconds),
        })
    }
}

fn against_external(bench: &Bench, kind: &Kind) -> Result<Outcome, Error> {
    let mock = Mock::start(bench, &[])?;
    let experiment = measure(mock.address, PATH, kind.load());
    let outcome = bench.run(&experiment, WARMUP_S + kind.seconds)?;
    mock.stop()?;
    Ok(outcome)
}

fn against_own(bench: &Bench, kind: &Kind) -> Result<Outcome, Error> {
    let experiment = measure_own_mock(PATH, kind.load());
    bench.run(&experiment, WARMUP_S + kind.seconds)
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (wanted, most) = bench.pick((50, 120), (2, 6));
    let (mut quiet, mut excused, mut excused_alarmed) = (Tally::default(), 0, 0);
    while quiet.runs() < wanted && quiet.runs() + excused < most {
        let at = quiet.next();
        let (outcome, seen) = bench.witnessed(|| (KINDS[at].measure)(bench, &KINDS[at]));
        let outcome = outcome?;
        let alarms = outcome.alarms_in_full().join(", ");
        bench.progress(&format!(
            "clean {}/{wanted}, {}: [{alarms}]{}",
            quiet.runs(),
            KINDS[at].name,
            seen.aside()
        ));
        // An alarm is false only where nothing happened: a gap of 5 ms is what criteria 2 and 3 are there to see.
        let is_explained = !alarms.is_empty() && seen.gaps > 0;
        if seen.quiet() && !is_explained {
            quiet.add(at, &outcome, &alarms);
        } else {
            excused += 1;
            excused_alarmed += usize::from(!alarms.is_empty());
        }
    }
    let measured =
        format!("{quiet}; {excused} more excused, {excused_alarmed} of them with an alarm");
    if quiet.runs() < wanted && quiet.alarmed.is_empty() {
        return Ok(vec![Bar::not_measured(
            "false alarms",
            format!("the machine was too restless, or not watched: {measured}"),
        )]);
    }
    Ok(vec![Bar::judged(
        "false alarms",
        format!("0 in {wanted}"),
        measured,
        quiet.alarmed.is_empty(),
    )])
}

/// A count of the quiet runs by their verdict.
#[derive(Default)]
struct Tally {
    /// How many of each kind.
    runs: [usize; KINDS.len()],
    /// The alarms of each run that had some.
    alarmed: Vec<String>,
    /// In how many each criterion was looked at.
    criteria: BTreeMap<u64, usize>,
    /// How often each figure was marked, and of how many nothing could be concluded.
    marked: BTreeMap<String, usize>,
    invalid: BTreeMap<String, usize>,
}

impl Tally {
    fn runs(&self) -> usize {
        self.runs.iter().sum()
    }

    /// The kind of which there are fewest: they take turns, and what was excused is repeated.
    fn next(&self) -> usize {
        (0..KINDS.len())
            .min_by_key(|at| self.runs[*at])
            .expect("invariant: there is a kind")
    }

    fn add(&mut self, kind: usize, outcome: &Outcome, alarms: &str) {
        self.runs[kind] += 1;
        if !alarms.is_empty() {
            self.alarmed
                .push(format!("{} ({alarms})", KINDS[kind].name));
        }
        for criterion in outcome.criteria() {
            *self.criteria.entry(criterion).or_default() += 1;
        }
        let figures = TIMES.iter().flat_map(|time| FIGURES.map(|f| (time, f)));
        for (time, figure) in figures {
            let figure = format!("{time}.{figure}");
            let counts = match outcome.mark(&figure) {
                Mark::None => continue,
                Mark::Marked => &mut self.marked,
                Mark::Invalid => &mut self.invalid,
            };
            *counts.entry(figure).or_default() += 1;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.runs();
        write!(f, "{} in {runs}", self.alarmed.len())?;
        if !self.alarmed.is_empty() {
            write!(f, ": {}", self.alarmed.join("; "))?;
        }
        let criteria: Vec<String> = self
            .criteria
            .iter()
            .map(|(criterion, count)| match count {
                count if *count == runs => criterion.to_string(),
                count => format!("{criterion} (in {count})"),
            })
            .collect();
        write!(f, "; criteria present: {}", criteria.join(", "))?;
        let shown = runs * TIMES.len() * FIGURES.len();
        for (sign, counts) in [("‡", &self.invalid), ("†", &self.marked)] {
            let count: usize = counts.values().sum();
            write!(f, "; {sign} on {count} of {shown} figures")?;
            let words: Vec<String> = counts
                .iter()
                .map(|(figure, n)| format!("{figure} {n}"))
                .collect();
            if !words.is_empty() {
                write!(f, " ({})", words.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_take_turns_and_the_row_says_what_was_asked() {
        let outcome = |criteria: &[u64]| Outcome {
            summary: json!({ "validity": criteria.iter().map(|number| json!({
                "criterion": number, "arm": "main", "ok": true,
                "effect": if *number == 9 { "invalid" } else { "none" }, "affects": ["service_time.max"],
            })).collect::<Vec<_>>() }),
            log: String::new(),
        };
        let mut tally = Tally::default();
        assert_eq!(tally.next(), 0);
        tally.add(0, &outcome(&[1, 2]), "");
        assert_eq!(tally.next(), 1);
        tally.add(1, &outcome(&[1, 2, 9]), "9 too long");
        assert_eq!(
            tally.to_string(),
            "1 in 2: the lab's own at 2,000/s (9 too long); criteria present: 1, 2, 9 (in 1); \
             ‡ on 1 of 24 figures (service_time.max 1); † on 0 of 24 figures"
        );
    }
}
