//! The generator is disturbed on purpose; the criterion of validity that this is about must be named.
//!
//! One file per disturbance; a new one is its file and its line in [`PROVOCATIONS`].

mod busy_core;
mod descriptors;
mod loss;
mod ports;
mod quota;
mod stopped;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Outcome, Trouble};
use crate::clock;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "provocation",
    about: "the generator disturbed on purpose; which criterion was named",
    run,
};

/// One way to disturb it.
struct Provocation {
    what: &'static str,
    /// The criteria of which one must be named.
    criteria: &'static [u64],
    /// One disturbed run.
    provoke: fn(&Bench) -> Result<Outcome, Trouble>,
}

const PROVOCATIONS: [Provocation; 6] = [
    stopped::PROVOCATION,
    busy_core::PROVOCATION,
    quota::PROVOCATION,
    ports::PROVOCATION,
    descriptors::PROVOCATION,
    loss::PROVOCATION,
];

/// Seconds of load of each disturbed run.
const SECONDS: f64 = 5.0;

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let times = bench.pick(20, 1);
    let bar = |provocation: &Provocation| {
        provoked(bench, provocation, times)
            .unwrap_or_else(|trouble| Bar::not_measured(provocation.what, trouble.to_string()))
    };
    let mut bars: Vec<Bar> = PROVOCATIONS.iter().map(bar).collect();
    bars.push(Bar::not_measured(
        "a blocking call in a shard",
        "cannot be provoked from outside the process",
    ));
    Ok(bars)
}

fn provoked(bench: &Bench, provocation: &Provocation, times: usize) -> Result<Bar, Trouble> {
    let mut named = 0;
    let mut seen = Vec::new();
    for _ in 0..times {
        let alarms = (provocation.provoke)(bench)?.alarms();
        named += usize::from(alarms.iter().any(|a| provocation.criteria.contains(a)));
        seen.push(format!("{alarms:?}"));
    }
    Ok(Bar::judged(
        provocation.what,
        format!(
            "criterion {:?} named, {times} of {times}",
            provocation.criteria
        ),
        format!("{named} of {times}: {}", seen.join(" ")),
        named == times,
    ))
}

/// Waits until the load is well under way.
fn into_the_load() {
    clock::pause(Duration::from_secs(2));
}
