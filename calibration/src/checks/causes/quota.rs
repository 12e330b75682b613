//! The proxy may use a quarter of a processor, and works 1 ms for each request.

use super::{Injected, ONWARD, SECONDS, offered, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "CPU quota",
    kind: "quota",
    component: Some("proxy"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let arguments = [ONWARD[0], ONWARD[1], "--work-us", "1000"];
    let upstream = json!({ "mock": { "shards": 1 } });
    let experiment = through_subject(
        &arguments,
        &json!({ "cpu_quota": 0.25 }),
        &upstream,
        offered("1000/s"),
    )?;
    bench.run(&experiment, SECONDS)
}
