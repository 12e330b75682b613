//! The requests of the strictness table through our gateway, in front of six upstreams: where one ends is the same to both.
//!
//! A tap between gateway and upstream keeps what passes. Behind each case the requests that went out, taken apart by their own framing, must be
//! those that the upstream answers, one by one, and says it saw unless it refuses them; and another client must get the answer to what it asked. Each upstream is a file.

mod go;
mod haproxy;
mod hyper;
mod nginx;
mod node;
mod python;
mod tap;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::clock;
use crate::foreign::Foreign;
use crate::gateway::Gateway;
use crate::interrupt;
use crate::nginx::Nginx;
use case::{Case, load};
use exchange::{CANARY, Delivery, send};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tap::Tap;

#[path = "../../../crates/plimsoll/tests/strictness/case.rs"]
#[expect(clippy::unwrap_used, reason = "made for tests, which end with a panic")]
mod case;
#[path = "../../../crates/plimsoll/tests/strictness/exchange.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "made for tests, which need all of it"
)]
mod exchange;

pub const CHECK: Check = Check {
    name: "upstreams",
    about: "the strictness table through the gateway, in front of six upstreams",
    run,
};

/// A server that stands behind the gateway: it answers every request with `X-Seen: METHOD TARGET`.
struct Upstream {
    name: &'static str,
    start: fn(&Bench) -> Result<Running, Error>,
}

/// One that runs until this is dropped.
struct Running {
    address: SocketAddr,
    _process: Process,
}

/// The program of an upstream.
enum Process {
    #[expect(dead_code, reason = "held, so that it ends with this")]
    Foreign(Foreign),
    #[expect(dead_code, reason = "held, so that it ends with this")]
    Nginx(Box<Nginx>),
    /// A thread, which runs as long as this process.
    Thread,
}

impl From<Foreign> for Running {
    fn from(server: Foreign) -> Self {
        Self {
            address: server.address,
            _process: Process::Foreign(server),
        }
    }
}

static UPSTREAMS: [Upstream; 6] = [
    nginx::UPSTREAM,
    haproxy::UPSTREAM,
    node::UPSTREAM,
    go::UPSTREAM,
    python::UPSTREAM,
    hyper::UPSTREAM,
];

/// Longer than the gateway waits for a client.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what was sent may take to be answered.
const SETTLING: Duration = Duration::from_secs(3);
/// How often that is looked for.
const LOOK: Duration = Duration::from_millis(2);

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let cases = cases();
    // In the short form every eighth case.
    let step = bench.pick(1, 8);
    let cases: Vec<&Case> = cases.iter().step_by(step).collect();
    let mut bars = Vec::new();
    for upstream in &UPSTREAMS {
        bench.progress(upstream.name);
        let seen = bench.witnessed(|| behind(bench, upstream, &cases).map(|bar| vec![bar]));
        bars.extend(Bar::part(upstream.name, seen));
    }
    Ok(bars)
}

fn cases() -> Vec<Case> {
    let table = repository().join("crates/plimsoll/tests/strictness/cases/requests");
    load(&table)
        .into_iter()
        .flat_map(|topic| topic.cases)
        .collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn behind(bench: &Bench, upstream: &Upstream, cases: &[&Case]) -> Result<Bar, Error> {
    let running = (upstream.start)(bench)?;
    let tap = Tap::start(running.address)?;
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\n\
         upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}\nroutes: [{{ path: /, upstream: up }}]\n\
         timeouts: {{ request_head: 1s, idle: 1s }}\n",
        tap.address()
    );
    let gateway = Gateway::start(bench, &[("gateway.yaml", config)], &[])?;
    let address = gateway.main()?;
    let mut disagreements = Vec::new();
    for case in cases {
        interrupt::check()?;
        let mut bytes = case.message.clone();
        if !case.cut {
            bytes.extend_from_slice(CANARY.as_bytes());
        }
        // What the client gets is the strictness table's.
        send(address, &bytes, case.cut, Delivery::Whole, PATIENCE);
        if let Err(what) = settle(&tap) {
            disagreements.push(format!("{}: {what}", case.name));
        }
        if !is_in_step(address) {
            disagreements.push(format!("{}: another client gets another answer", case.name));
        }
    }
    let (sent, seen, refused) = tap.counts();
    gateway.child.terminate()?;
    let mut measured = format!(
        "{} cases: {sent} requests sent, {seen} seen, {refused} refused, {} disagreements",
        cases.len(),
        disagreements.len()
    );
    if !disagreements.is_empty() {
        measured = format!("{measured}: {}", disagreements.join("; "));
    }
    let held = disagreements.is_empty() && sent >= cases.len();
    let limit = "0 disagreements about where a request ends";
    Ok(Bar::judged(upstream.name, limit, measured, held))
}

/// Waits until the upstream has answered what it was sent; what is not as it should be, if it does not come to that.
fn settle(tap: &Tap) -> Result<(), String> {
    let deadline = clock::now() + SETTLING;
    loop {
        match tap.agrees() {
            Ok(()) => return Ok(()),
            Err(what) if clock::now() > deadline => {
                tap.forget();
                return Err(what);
            }
            Err(_) => clock::pause(LOOK),
        }
    }
}

/// Whether a client with a connection of its own gets the answer to its own request.
fn is_in_step(gateway: SocketAddr) -> bool {
    let received = send(gateway, CANARY.as_bytes(), false, Delivery::Whole, PATIENCE);
    let received = received.unwrap_or_default();
    let text = String::from_utf8_lossy(&received).to_ascii_lowercase();
    text.starts_with("http/1.1 200") && text.contains("x-seen: get /canary\r\n")
}
