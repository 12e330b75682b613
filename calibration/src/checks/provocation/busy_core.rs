//! The generator shares one processor with busy loops.

mod busy;

use super::{Provocation, SECONDS};
use crate::bench::{Bench, Error, Outcome, measure};
use crate::mock::Mock;
use busy::Core;
use serde_json::json;

pub const PROVOCATION: Provocation = Provocation {
    what: "busy loops on the generator's core",
    criteria: &[4],
    provoke,
};

/// Loops beside the generator: it gets a quarter of the processor when it wants more.
const LOOPS: usize = 3;
/// Arrivals a second, which take more than half of a processor. A generator that wants less than its share is woken at once, loops or no
/// loops, and is right not to complain.
const RATE: u32 = 30_000;

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": format!("{RATE}/s"), "duration": format!("{SECONDS}s") });
    let running = bench.start(&measure(mock.address, "/json/valid", load), SECONDS)?;
    let core = Core::last()?;
    core.pin(running.generator()?)?;
    let outcome = core.busy_while(LOOPS, || running.finish())?;
    mock.stop()?;
    Ok(outcome)
}
