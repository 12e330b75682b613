//! The upstream takes 100 ms for each request, however many there are.

use super::{Injected, ONWARD, SECONDS, offered, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "slow dependency",
    kind: "dependency",
    component: Some("upstream"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let arguments = [ONWARD[0], ONWARD[1], "--path", "/delay/100ms"];
    let upstream = json!({ "mock": { "shards": 1 } });
    let experiment = through_subject(&arguments, &json!({}), &upstream, offered("1000/s"))?;
    bench.run(&experiment, SECONDS)
}
