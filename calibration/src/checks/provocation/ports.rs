//! Forty usable ports, in a network namespace of the run's own, for a load that needs fifty connections at once.

use super::{Provocation, SECONDS};
use crate::bench::{Bench, Error, Outcome, measure_own_mock};
use serde_json::{Value, json};

pub const PROVOCATION: Provocation = Provocation {
    what: "40 usable ports",
    criteria: &[6],
    provoke,
};

/// Forty ports.
pub const SETUP: &str =
    "ip link set lo up && echo 40000 40039 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"";

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    let load = json!({ "rate": "400/s", "connections": 50, "duration": format!("{SECONDS}s") });
    isolated(bench, SETUP, "/delay/200ms", load)
}

/// Runs load against a mock of the lab's own, both in a fresh network namespace that `setup` prepares before it gives way to `"$@"`.
pub fn isolated(bench: &Bench, setup: &str, path: &str, load: Value) -> Result<Outcome, Error> {
    let experiment = measure_own_mock(path, load);
    let wrapper = ["unshare", "--net", "sh", "-c", setup, "sh"];
    bench.start_under(&wrapper, &experiment, SECONDS)?.finish()
}
