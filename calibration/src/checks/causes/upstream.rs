//! The upstream has one processor and works 1 ms for each request; the proxy in front of it does next to nothing.

use super::{Injected, ONWARD, SECONDS, offered, through_subject};
use crate::bench::{Bench, Error, Outcome};
use crate::subject;
use serde_json::json;

pub const CAUSE: Injected = Injected {
    what: "CPU of the upstream",
    kind: "processor",
    component: Some("upstream"),
    inject,
};

fn inject(bench: &Bench) -> Result<Outcome, Error> {
    let here = std::env::current_exe().map_err(|e| Error::io("finding this program", e))?;
    let here = here.display().to_string();
    let command = json!([
        here,
        subject::WORD,
        "--port",
        "${self.port}",
        "--work-us",
        "1000"
    ]);
    let upstream = json!({ "command": command, "cpus": [1] });
    let experiment = through_subject(
        &ONWARD,
        &json!({ "cpus": [0] }),
        &upstream,
        offered("2000/s"),
    )?;
    bench.run(&experiment, SECONDS)
}
