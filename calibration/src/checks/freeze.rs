//! The target stands still for a while; the tail that the report shows must be the one that its arrivals met.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, measure};
use crate::clock;
use crate::mock::Mock;
use crate::queueing::Freeze;
use crate::witness::Seen;
use rustix::process::Signal;
use serde_json::json;
use std::fmt;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "freeze",
    about: "the mock is stopped while it gets load; p95 and p99 against theory",
    run,
};

/// Allowed difference from theory.
pub const SHARE: f64 = 0.03;
/// Connections, in the frozen run and in the one that finds the capacity of the drain.
const CONNECTIONS: u32 = 50;

/// Figures of the response time that are looked at.
const FIGURES: [(&str, f64); 2] = [("p95", 0.95), ("p99", 0.99)];
/// Criteria that a machine which stands still breaks as well as a generator that does.
const OF_STALLS: [u64; 5] = [2, 3, 4, 5, 7];

/// One combination: seconds frozen, seconds measured, arrivals per second.
struct Combination {
    freeze_s: f64,
    run_s: f64,
    rate: u32,
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            freeze_s,
            run_s,
            rate,
        } = self;
        write!(f, "{freeze_s} s in {run_s} s at {rate}/s")
    }
}

const fn combination(freeze_s: f64, run_s: f64, rate: u32) -> Combination {
    Combination {
        freeze_s,
        run_s,
        rate,
    }
}

/// The freeze is more than a twentieth of each run, so that its p95 lies within it.
const LONG: [Combination; 3] = [
    combination(2.0, 20.0, 2000),
    combination(1.0, 10.0, 1000),
    combination(3.0, 30.0, 500),
];
const SHORT: [Combination; 1] = [combination(0.5, 5.0, 500)];

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    bench.progress("how fast the mock drains a backlog");
    let capacity = capacity(bench)?;
    let bars = bench.pick(&LONG[..], &SHORT[..]).iter().flat_map(|with| {
        bench.progress(&with.to_string());
        let bars = || frozen(bench, with, capacity);
        Bar::part(&with.to_string(), bench.witnessed(bars))
    });
    Ok(bars.collect())
}

/// Answers per second when every connection sends as soon as it is answered: the rate at which a backlog drains.
pub fn capacity(bench: &Bench) -> Result<f64, Error> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "users": CONNECTIONS, "warmup": "1s", "duration": "2s" });
    let outcome = bench.run(&measure(mock.address, "/json/valid", load), 3.0)?;
    mock.stop()?;
    outcome.main("achieved_per_s")
}

fn frozen(bench: &Bench, with: &Combination, capacity: f64) -> Result<Vec<Bar>, Error> {
    let mark = bench.witness.mark();
    let mock = Mock::start(bench, &[])?;
    let load = json!({
        "rate": format!("{}/s", with.rate), "connections": CONNECTIONS,
        "warmup": "1s", "duration": format!("{}s", with.run_s),
    });
    let running = bench.start(
        &measure(mock.address, "/json/valid", load),
        with.run_s + 1.0,
    )?;
    running.generator()?;
    clock::pause(Duration::from_secs_f64(1.0 + with.run_s / 3.0));
    let length = stand_still(&mock, with.freeze_s)?;
    let outcome = running.finish()?;
    mock.stop()?;
    let expected = Freeze {
        length,
        run: with.run_s,
        load: f64::from(with.rate) / capacity,
    };
    let name = with.to_string();
    let mut bars = vec![valid(&name, &outcome, bench.witness.since(&mark))];
    for (figure, q) in FIGURES {
        let theory = expected
            .quantile(q)
            .expect("invariant: the freeze covers the figure");
        let measured = outcome.main(&format!("response_time/{figure}"))?;
        bars.push(Bar::within(
            format!("{name}: {figure}"),
            measured,
            theory,
            SHARE,
        ));
    }
    Ok(bars)
}

/// Nothing forbids conclusions from the tail. What does because the generator stood still is excused where the witness saw the machine
/// stand still, and the bar is not measured then.
fn valid(name: &str, outcome: &Outcome, seen: Seen) -> Bar {
    let what = format!("{name}: valid");
    let marks = FIGURES.map(|(figure, _)| {
        let criteria = outcome.invalidating(&format!("response_time.{figure}"));
        (figure, criteria)
    });
    let against: Vec<String> = marks
        .iter()
        .filter(|(_, criteria)| !criteria.is_empty())
        .map(|(figure, criteria)| format!("{figure} invalid by {criteria:?}"))
        .collect();
    let is_held = against.is_empty() && !outcome.is_invalid();
    let measured = format!(
        "{}; {}; alarms {:?}",
        outcome.verdict(),
        if against.is_empty() {
            "p95 and p99 without ‡".to_owned()
        } else {
            against.join(", ")
        },
        outcome.alarms()
    );
    let mut reasons = marks.iter().flat_map(|(_, criteria)| criteria);
    let is_stall = reasons.all(|criterion| OF_STALLS.contains(criterion));
    if !against.is_empty() && is_stall && seen.excuses() {
        return Bar::not_measured(
            what,
            format!("excused, for the machine stood still ({seen}): {measured}"),
        );
    }
    Bar::judged(
        what,
        "p95 and p99 without ‡: the target stalled, not the generator",
        measured,
        is_held,
    )
}

/// Stops the mock for some seconds; how many they were by the clock.
pub fn stand_still(mock: &Mock, seconds: f64) -> Result<f64, Error> {
    let before = clock::now();
    mock.signal(Signal::STOP)?;
    clock::until(before + Duration::from_secs_f64(seconds));
    mock.signal(Signal::CONT)?;
    Ok((clock::now() - before).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn a_tail_that_is_invalid_is_excused_by_the_machine_only() {
        let check = |figure: &str, criterion: u64, longest_s: f64, expected: Verdict| {
            let row = json!({ "criterion": criterion, "arm": "main", "effect": "invalid", "affects": [figure] });
            let outcome = Outcome {
                summary: json!({ "verdict": { "result": "passed" }, "validity": [row] }),
                log: String::new(),
            };
            let seen = Seen {
                longest_s,
                ..Seen::default()
            };
            let bar = valid("a freeze", &outcome, seen);
            assert_eq!(bar.verdict, expected, "{bar:?}");
        };
        check("response_time.max", 3, 0.0, Verdict::Held);
        check("response_time.p99", 3, 0.0, Verdict::Failed);
        check("response_time.p99", 3, 0.06, Verdict::NotMeasured);
        check("response_time.p95", 6, 0.06, Verdict::Failed);
    }
}
