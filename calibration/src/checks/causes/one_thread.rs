//! One thread of the proxy does the work of all, 2 ms for each request, while it may use two processors.

use super::{Injected, SECONDS, offered, through_subject};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "one hot thread",
    kind: "hot_thread",
    component: Some("proxy"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let arguments = ["--work-us", "2000", "--one-thread"];
    let upstream = json!({ "mock": { "shards": 1 } });
    let experiment = through_subject(&arguments, &json!({}), &upstream, offered("1000/s"))?;
    bench.run(&experiment, SECONDS)
}
