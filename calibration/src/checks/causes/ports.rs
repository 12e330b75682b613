//! Forty usable ports, in a network namespace of the run's own, for a load that needs fifty connections at once.

use super::Injected;
use crate::bench::{Bench, Error, Outcome};
use crate::checks::provocation::{SETUP, isolated};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "tiny port range",
    kind: "ports",
    component: Some("generator"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let load = json!({ "rate": "400/s", "connections": 50, "duration": "5s" });
    isolated(bench, SETUP, "/delay/200ms", load)
}
