//! The proxy has four places for requests to an upstream that takes 20 ms.

use super::{Injected, ONWARD, SECONDS, offered, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "small pool",
    kind: "pool",
    component: Some("proxy"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let arguments = [ONWARD[0], ONWARD[1], "--pool", "4", "--path", "/delay/20ms"];
    let upstream = json!({ "mock": { "shards": 1 } });
    let experiment = through_subject(&arguments, &json!({}), &upstream, offered("1000/s"))?;
    bench.run(&experiment, SECONDS)
}
