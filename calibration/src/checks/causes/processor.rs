//! The proxy has one processor, and works 1 ms for each request.

use super::{Injected, ONWARD, SECONDS, offered, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "CPU of the proxy",
    kind: "processor",
    component: Some("proxy"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let arguments = [ONWARD[0], ONWARD[1], "--work-us", "1000"];
    let upstream = json!({ "mock": { "shards": 1 }, "cpus": [0] });
    let experiment = through_subject(
        &arguments,
        &json!({ "cpus": [1] }),
        &upstream,
        offered("2000/s"),
    )?;
    bench.run(&experiment, SECONDS)
}
