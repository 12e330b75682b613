//! The generator's process is stopped for 200 ms.

use super::{DISTURBANCE, Provocation, SECONDS, into_the_load};
use crate::bench::{Bench, Error, Outcome, measure};
use crate::child::send;
use crate::clock;
use crate::mock::Mock;
use rustix::process::Signal;
use serde_json::json;

pub const PROVOCATION: Provocation = Provocation {
    what: "generator stopped for 200 ms",
    criteria: &[3],
    provoke,
};

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": "500/s", "duration": format!("{SECONDS}s") });
    let running = bench.start(&measure(mock.address, "/json/valid", load), SECONDS)?;
    let generator = running.generator()?;
    into_the_load();
    send(generator, Signal::STOP)?;
    clock::until(clock::now() + DISTURBANCE);
    send(generator, Signal::CONT)?;
    let outcome = running.finish()?;
    mock.stop()?;
    Ok(outcome)
}
