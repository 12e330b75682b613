//! The generator against bad targets: each way to be bad is an outcome of its own, and none of them costs memory.

use super::descriptors::lower;
use super::part;
use super::server::peak_mib;
use crate::bar::Bar;
use crate::bench::{Bench, Error, measure};
use crate::clock;
use crate::mock::Mock;
use crate::target::misbehaving::{Manner, Misbehaving};
use rustix::process::{Resource, prlimit};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// Arrivals per second.
const RATE: u32 = 500;
/// The largest resident memory that the generator may have, in MiB.
const MOST_MIB: f64 = 32.0;
/// Too few descriptors for its connections.
const FEW: u64 = 24;

pub fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let manners = [
        ("resets inside the body", Manner::ResetsInBody, "reset"),
        ("never answers", Manner::Mute, "timed_out"),
        ("closes at once", Manner::Closes, "closed"),
        ("sends garbage", Manner::Garbage, "malformed"),
        ("drips", Manner::Drips, "unfinished"),
    ];
    let mut bars = Vec::new();
    for (what, manner, class) in manners {
        let name = format!("generator: a target that {what}");
        let work = || bad_target(bench, &name, manner, class);
        bars.extend(part(bench, &name, work));
    }
    let name = "generator: no descriptors left for a while";
    bars.extend(part(bench, name, || exhausted(bench, name)));
    Ok(bars)
}

fn bad_target(bench: &Bench, name: &str, manner: Manner, class: &str) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(5.0, 2.0);
    let target = Misbehaving::start(manner)?;
    let mut running = bench.start(&experiment(target.address(), seconds), seconds)?;
    let generator = running.generator()?;
    let mut memory: f64 = 0.0;
    while !running.has_ended()? {
        memory = memory.max(peak_mib(generator).unwrap_or(0.0));
        clock::pause(Duration::from_millis(100));
    }
    let outcome = running.finish()?;
    let of_class = outcome.main(&format!("outcomes/{class}"))?;
    let others = outcome.main("sent")? - of_class - outcome.main("in_flight")?;
    Ok(vec![
        Bar::judged(
            format!("{name}: outcome"),
            format!("every exchange `{class}`"),
            format!("{of_class} `{class}`, {others} anything else"),
            of_class > 0.5 && others.abs() < 0.5,
        ),
        Bar::judged(
            format!("{name}: memory"),
            format!("at most {MOST_MIB} MiB"),
            format!("{memory:.1} MiB"),
            memory > 0.0 && memory <= MOST_MIB,
        ),
    ])
}

fn experiment(target: SocketAddr, seconds: f64) -> Value {
    let load = json!({
        "rate": format!("{RATE}/s"), "connections": 200, "duration": format!("{seconds}s"), "timeout": "200ms",
    });
    measure(target, "/json/valid", load)
}

/// For a third of the run the generator may open no more descriptors than it has.
fn exhausted(bench: &Bench, name: &str) -> Result<Vec<Bar>, Error> {
    let seconds = 6.0;
    let mock = Mock::start(bench, &[])?;
    let load = json!({
        "rate": format!("{RATE}/s"), "connections": 50, "keep_alive": false, "duration": format!("{seconds}s"),
    });
    let running = bench.start(&measure(mock.address, "/delay/100ms", load), seconds)?;
    let generator = running.generator()?;
    clock::pause(Duration::from_secs(2));
    let before = lower(generator, FEW)?;
    clock::pause(Duration::from_secs(2));
    prlimit(Some(generator), Resource::Nofile, before)
        .map_err(|e| Error::at_process("restoring a limit", e.into()))?;
    let outcome = running.finish()?;
    mock.stop()?;
    let (exhausted, refused) = (
        outcome.main("outcomes/exhausted")?,
        outcome.main("outcomes/refused")?,
    );
    let answered = outcome.main("outcomes/answered/200")?;
    let alarms = outcome.alarms();
    // Fifty connections that each take 100 ms carry 500/s; without descriptors for two seconds of six, two thirds are left.
    let least = f64::from(RATE) * seconds / 2.0;
    Ok(vec![Bar::judged(
        format!("{name}: outcome"),
        format!("some `exhausted`, none `refused`, criterion 6 named, at least {least} answered"),
        format!(
            "{exhausted} `exhausted`, {refused} `refused`, {alarms:?} named, {answered} answered"
        ),
        exhausted > 0.5 && refused < 0.5 && alarms.contains(&6) && answered >= least,
    )])
}
