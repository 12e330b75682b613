//! Sixty callers come at once, every second, each with a new connection; two of them may wait to be accepted.

use super::{Injected, ONWARD, SECONDS, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "small backlog",
    kind: "backlog",
    component: Some("proxy"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let arguments = [
        ONWARD[0],
        ONWARD[1],
        "--backlog",
        "2",
        "--accept-gap-ms",
        "2",
    ];
    let upstream = json!({ "mock": { "shards": 1 } });
    let burst = [json!({ "at_once": 60 }), json!({ "nothing": "1s" })];
    let stages: Vec<_> = (0..7).flat_map(|_| burst.clone()).collect();
    let load = json!({ "stages": stages, "connections": 100, "keep_alive": false, "warmup": "1s" });
    let experiment = through_subject(&arguments, &json!({}), &upstream, load)?;
    bench.run(&experiment, SECONDS)
}
