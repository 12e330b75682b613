//! The generator may open hardly any more descriptors than it has when its load begins.

use super::{Provocation, SECONDS};
use crate::bench::{Bench, Error, Outcome, measure};
use crate::mock::Mock;
use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::json;

pub const PROVOCATION: Provocation = Provocation {
    what: "descriptor limit",
    criteria: &[6],
    provoke,
};

/// Too few for fifty connections.
const LIMIT: Rlimit = Rlimit {
    current: Some(24),
    maximum: Some(24),
};

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    let delayed = json!({
        "request": { "url": "/slow", "method": "GET" },
        "response": { "status": 200, "fixedDelayMilliseconds": 100 },
    });
    let mock = Mock::start(bench, &[delayed])?;
    let load = json!({
        "rate": "400/s", "connections": 50, "keep_alive": false, "duration": format!("{SECONDS}s"),
    });
    let running = bench.start(&measure(mock.address, "/slow", load), SECONDS)?;
    prlimit(Some(running.generator()?), Resource::Nofile, LIMIT)
        .map_err(|e| Error::at_process("limiting descriptors", e.into()))?;
    let outcome = running.finish()?;
    mock.stop()?;
    Ok(outcome)
}
