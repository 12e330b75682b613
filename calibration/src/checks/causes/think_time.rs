//! Twenty users who think 200 ms each.

use super::{Injected, ONWARD, SECONDS, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "think time",
    kind: "think_time",
    component: None,
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let upstream = json!({ "mock": { "shards": 1 } });
    let load = json!({ "users": 20, "think": "200ms", "warmup": "1s", "duration": "6s" });
    let experiment = through_subject(&ONWARD, &json!({}), &upstream, load)?;
    bench.run(&experiment, SECONDS)
}
