//! The generator is disturbed on purpose; the criterion of validity that this is about must be named.
//!
//! One file per disturbance; a new one is its file and its line in [`PROVOCATIONS`].

mod blocked;
mod busy_core;
mod descriptors;
mod loss;
mod ports;
mod quota;
mod stopped;

pub use ports::{SETUP, isolated};
pub use quota::Group;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Repetition};
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
    provoke: fn(&Bench) -> Result<Outcome, Error>,
}

const PROVOCATIONS: [Provocation; 7] = [
    stopped::PROVOCATION,
    blocked::PROVOCATION,
    busy_core::PROVOCATION,
    quota::PROVOCATION,
    ports::PROVOCATION,
    descriptors::PROVOCATION,
    loss::PROVOCATION,
];

/// Seconds of load of each disturbed run: three fragments, of which a stop of 200 ms is a fifteenth and a machine's stall a fiftieth.
const SECONDS: f64 = 3.0;
/// How long what stops is stopped.
const DISTURBANCE: Duration = Duration::from_millis(200);

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let times = bench.pick(20, 1);
    let bars = PROVOCATIONS.iter().flat_map(|provocation| {
        let bar = || provoked(bench, provocation, times).map(|bar| vec![bar]);
        Bar::part(provocation.what, bench.witnessed(bar))
    });
    Ok(bars.collect())
}

fn provoked(bench: &Bench, provocation: &Provocation, times: usize) -> Result<Bar, Error> {
    let once = || Ok((provocation.provoke)(bench)?.alarms());
    let done = bench.repeat(provocation.what, times, once, |a| format!("{a:?}"))?;
    let is_named = |repetition: &&Repetition<Vec<u64>>| {
        let alarms = repetition.found.iter().flatten();
        alarms.into_iter().any(|a| provocation.criteria.contains(a))
    };
    let named = done.iter().filter(is_named).count();
    let quiet: Vec<_> = done.iter().filter(|one| one.seen.quiet()).collect();
    let named_quiet = quiet.iter().copied().filter(is_named).count();
    let words: Vec<&str> = done.iter().map(|one| one.words.as_str()).collect();
    Ok(Bar::judged(
        provocation.what,
        format!(
            "criterion {:?} named, {times} of {times}",
            provocation.criteria
        ),
        format!(
            "{named} of {times}; in quiet runs {named_quiet} of {}: {}",
            quiet.len(),
            words.join(" ")
        ),
        named == times,
    ))
}

/// Waits until the load is well under way.
fn into_the_load() {
    clock::pause(Duration::from_secs(1));
}
