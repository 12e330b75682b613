//! Half a millisecond that the mock adds in one arm must be found, and the interval must cover it.
//!
//! Both arms are delayed, one by half a millisecond more. Beside an arm without any delay the truth would not be half a millisecond: a
//! processor that slept through the delay takes some 30 µs to wake, at the mock and at the generator, and one that answers at once does not sleep.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome};
use crate::mock::Mock;
use serde_json::{Value, json};
use std::fmt;
use std::net::SocketAddr;

pub const CHECK: Check = Check {
    name: "added",
    about: "0.5 ms added by the mock's delay in one arm; found, and covered by the interval",
    run,
};

/// The delay of both arms, in milliseconds.
const BASE_MS: f64 = 1.0;
/// The delay that one arm adds, in milliseconds.
const ADDED_MS: f64 = 0.5;

/// Seconds of load of an arm in a block: 500 exchanges a second give a median far steadier than what it differs by between blocks, and
/// the shorter a block, the fewer are hit by a stall of the machine.
const LOAD_S: f64 = 1.5;
const WARMUP_S: f64 = 0.5;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (comparisons, blocks) = bench.pick((20, 6), (1, 2));
    let mock = Mock::start(
        bench,
        &[stub("fast", BASE_MS), stub("slow", BASE_MS + ADDED_MS)],
    )?;
    let experiment = experiment(mock.address, blocks);
    let seconds = f64::from(2 * blocks) * (WARMUP_S + LOAD_S + 1.0);
    let done = bench.repeat(
        "added",
        comparisons,
        || Ok(Interval::of(&bench.run(&experiment, seconds)?)),
        |interval| interval.map_or_else(|| "none".to_owned(), |i| i.to_string()),
    )?;
    mock.stop()?;
    let intervals: Vec<Interval> = done
        .iter()
        .filter_map(|one| one.found.as_ref().ok().copied().flatten())
        .collect();
    let found = intervals.iter().filter(|i| i.low_ms > 0.0).count();
    let covers = |i: &&Interval| i.low_ms <= ADDED_MS && ADDED_MS <= i.high_ms;
    let covered = intervals.iter().filter(covers).count();
    let words: Vec<String> = done
        .iter()
        .map(|one| format!("{}{}", one.words, one.seen.aside()))
        .collect();
    let needed = (comparisons * 9).div_ceil(10);
    Ok(vec![
        Bar::judged(
            format!("p50 found in {comparisons} comparisons of {blocks} blocks"),
            format!("≥ {needed}: the interval lies above zero"),
            format!("{found} of {comparisons}; ms: {}", words.join("; ")),
            found >= needed,
        ),
        Bar::judged(
            "0.5 ms covered by the interval",
            format!("≥ {needed}"),
            format!("{covered} of {comparisons}"),
            covered >= needed,
        ),
    ])
}

/// The added median as it was reported.
#[derive(Debug, Clone, Copy)]
struct Interval {
    value_ms: f64,
    low_ms: f64,
    high_ms: f64,
}

impl Interval {
    fn of(outcome: &Outcome) -> Option<Self> {
        let added = outcome.summary.pointer("/arms/slow/added/p50")?;
        let ms = |key: &str| Some(added[key].as_f64()? * 1e3);
        Some(Self {
            value_ms: ms("value")?,
            low_ms: ms("low")?,
            high_ms: ms("high")?,
        })
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            value_ms,
            low_ms,
            high_ms,
        } = self;
        write!(f, "{value_ms:.2} [{low_ms:.2}, {high_ms:.2}]")
    }
}

/// A log-normal delay without spread is a fixed one that need not be a whole number of milliseconds.
fn stub(arm: &str, delay_ms: f64) -> Value {
    json!({
        "request": { "url": "/json/valid", "method": "GET", "headers": { "X-Arm": { "equalTo": arm } } },
        "response": { "status": 200, "delayDistribution": { "type": "lognormal", "median": delay_ms, "sigma": 0 } },
    })
}

fn experiment(target: SocketAddr, blocks: u32) -> Value {
    json!({
        "version": 1,
        "name": "added",
        "components": { "target": { "external": format!("http://{target}"), "probe": "none" } },
        "scenario": [{ "name": "step", "get": "/json/valid" }],
        "load": { "rate": "500/s", "warmup": format!("{WARMUP_S}s"), "duration": format!("{LOAD_S}s") },
        "arms": {
            "fast": { "target": "target", "headers": { "X-Arm": "fast" } },
            "slow": { "target": "target", "headers": { "X-Arm": "slow" } },
        },
        "method": { "compare": { "baseline": "fast", "blocks": blocks } },
    })
}
