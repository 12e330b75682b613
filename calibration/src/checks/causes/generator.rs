//! The generator is moved into a control group with a small CPU quota.

use super::{Injected, SECONDS, offered};
use crate::bench::{Bench, Error, Outcome, measure_own_mock};
use crate::checks::provocation::Group;

pub const CAUSE: Injected = Injected {
    what: "the generator",
    kind: "generator",
    component: Some("generator"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let group = Group::create()?;
    let running = bench.start(&measure_own_mock("/json/valid", offered("5000/s")), SECONDS)?;
    group.take(running.generator()?)?;
    running.finish()
}
