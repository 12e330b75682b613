//! Ten thousand requests that wait at once in a mock of one shard: a delay of a second, asked for ten thousand times a second.
//!
//! By Little's law so many are under way as come in a second. What is added to the delay is read from the seconds that no stall reaches, as in `lognormal`.

use super::{Check, lognormal::undisturbed};
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, measure};
use crate::interval_log::service_times;
use crate::memory_of::Memory;
use crate::mock::Mock;
use plimsoll_base::histogram::TimeHistogram;
use serde_json::json;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "in-flight",
    about: "10,000 requests under way at a delay of 1 s, in a mock of one shard",
    run,
};

/// Arrivals a second, and so how many are under way.
const RATE: u32 = 10_000;
/// The delay, in seconds.
const DELAY: f64 = 1.0;
/// How long the longest answers are under way, in seconds: what is sent during a stall waits for its delay after that.
const UNDER_WAY_S: f64 = DELAY + 0.3;
/// Connections: what is late for a moment must not wait for one.
const CONNECTIONS: u32 = 12_000;
/// Of ten thousand under way, so many are enough: some are a little early or late.
const ENOUGH: f64 = 9_900.0;
/// The time by which the p99 may exceed the delay.
const ADDED: f64 = 0.005;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(30, 5);
    let stub = json!({
        "request": { "url": "/wait", "method": "GET" },
        "response": { "fixedDelayMilliseconds": 1000 },
    });
    let mock = Mock::start_with(bench, &[stub], &["--shards=1"])?;
    bench.progress(&format!("in-flight: one run of {seconds} s"));
    let load = json!({
        "rate": format!("{RATE}/s"),
        "connections": CONNECTIONS,
        "warmup": "5s",
        "duration": format!("{seconds}s"),
    });
    let seconds = f64::from(seconds);
    let mark = bench.witness.mark();
    let running = bench.start(&measure(mock.address, "/wait", load), seconds + 5.0)?;
    // The connections are made during the warm-up, which the log leaves out.
    let first = mock.first_request(Duration::from_secs(30))? + Duration::from_secs(5);
    let outcome = running.finish()?;
    let memory = mock.memory(Memory::LargestResident)?;
    mock.stop()?;
    let stalls = bench.witness.stalls_since(&mark);
    let intervals = service_times(&outcome.log)?;
    let times = undisturbed(&intervals, seconds, first, UNDER_WAY_S, &stalls);
    let mut bars = vec![under_way(&outcome, seconds)?, failures(&outcome)?];
    bars.push(added(&times, &outcome)?);
    bars.push(Bar::shown(
        "the mock's largest resident memory",
        "",
        format!("{:.1} MiB", memory / 1024.0),
    ));
    Ok(bars)
}

/// How many were under way on the average: what came in a second, times how long each took.
fn under_way(outcome: &Outcome, seconds: f64) -> Result<Bar, Error> {
    let count =
        outcome.main("service_time/count")? / seconds * outcome.main("service_time/mean")?;
    Ok(Bar::judged(
        "under way, on the average",
        format!("at least {ENOUGH}"),
        format!("{count:.0}; {}", outcome.verdict()),
        count >= ENOUGH,
    ))
}

fn failures(outcome: &Outcome) -> Result<Bar, Error> {
    let (intended, dropped) = (outcome.main("intended")?, outcome.main("dropped")?);
    let answered = outcome.main("outcomes/answered/200")?;
    Ok(Bar::judged(
        "failures",
        "every arrival answered with 200",
        format!("{answered} of {intended}, {dropped} dropped"),
        intended > 0.0 && (intended - answered).abs() < 0.5,
    ))
}

fn added(times: &TimeHistogram, outcome: &Outcome) -> Result<Bar, Error> {
    let what = "added to the delay, p99";
    let quantile = |share| times.quantile(share).map(|time| (time - DELAY) * 1e3);
    let (Some(p50), Some(p99)) = (quantile(0.5), quantile(0.99)) else {
        return Ok(Bar::not_measured(what, "a stall in every second"));
    };
    let whole = (outcome.main("service_time/p99")? - DELAY) * 1e3;
    Ok(Bar::judged(
        what,
        format!("less than {:.1} ms", ADDED * 1e3),
        format!(
            "{p99:.3} ms (p50 {p50:.3} ms) of {} answers; of the whole run {whole:.3} ms",
            times.count()
        ),
        p99 < ADDED * 1e3,
    ))
}
