//! Generator and mock share one processor with busy loops: an answer takes the mock no time and the generator long.

use super::{Provocation, SECONDS};
use crate::bench::{Bench, Outcome, Trouble, measure_own_mock};
use crate::busy::Core;
use serde_json::json;

pub const PROVOCATION: Provocation = Provocation {
    what: "generator and mock on a core with busy loops",
    criteria: &[10],
    provoke,
};

/// Loops beside the two: each of them gets a seventh of the processor when it wants more.
const LOOPS: usize = 5;
/// Arrivals a second for which generator and mock want more than a seventh each, and which the mock alone could answer.
const RATE: u32 = 15_000;

fn provoke(bench: &Bench) -> Result<Outcome, Trouble> {
    let core = Core::last()?;
    let load = json!({ "rate": format!("{RATE}/s"), "duration": format!("{SECONDS}s") });
    // A mock of the lab's own, for its times are the other end.
    let mut experiment = measure_own_mock("/json/valid", load);
    experiment["components"]["target"]["cpus"] = json!([core.number()]);
    experiment["generator"] = json!({ "cpus": [core.number()] });
    let running = bench.start(&experiment, SECONDS)?;
    running.generator()?;
    core.busy_while(LOOPS, || running.finish())
}
