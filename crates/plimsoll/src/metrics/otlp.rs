//! Pushes the totals by OTLP over HTTP: a request of protobuf every few seconds, and one at the end.
//!
//! The messages are OpenTelemetry's own (`opentelemetry-proto`), the way there is our codec. Why not its exporter:
//! `docs/decisions/0011-otlp.md`. Values are cumulative, so that a request that fails costs a reading and no count.

mod endpoint;
mod message;

pub use endpoint::Endpoint;

use super::read;
use crate::{clock, out};
use plimsoll_http::{Limits, encode};
use plimsoll_report::live::Totals;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two requests.
const INTERVAL: Duration = Duration::from_secs(5);
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(4);
/// What of an answer is read.
const MOST_ANSWER_BYTES: u64 = 64 * 1024;

/// Metrics on their way to one collector.
#[derive(Debug)]
pub(super) struct Push {
    to: Endpoint,
    experiment: String,
    started_ns: u64,
    /// Whether a failure was told; one is enough.
    told: AtomicBool,
}

impl Push {
    /// Of a run of that experiment, from now on.
    pub(super) fn new(to: Endpoint, experiment: &str) -> Self {
        Self {
            to,
            experiment: experiment.to_owned(),
            started_ns: now_ns(),
            told: AtomicBool::new(false),
        }
    }

    /// Pushes every few seconds until dropped.
    pub(super) async fn every_interval(&self, totals: &Mutex<Totals>) -> Infallible {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            self.last(totals).await;
        }
    }

    /// Pushes once. A failure is told the first time; the run does not depend on it.
    pub(super) async fn last(&self, totals: &Mutex<Totals>) {
        let families = read(totals, Totals::families);
        let times = (self.started_ns, now_ns());
        let body = message::encode(&families, &self.experiment, times);
        let sent = tokio::time::timeout(PATIENCE, self.send(&body)).await;
        let failed = match sent {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why,
            Err(_) => format!("no answer within {} s", PATIENCE.as_secs()),
        };
        if !self.told.swap(true, Ordering::Relaxed) {
            out::note(&format!("warning: --otlp {}: {failed}", self.to));
        }
    }

    async fn send(&self, body: &[u8]) -> Result<(), String> {
        let addresses = tokio::net::lookup_host(self.to.authority()).await;
        let address = addresses.map_err(|e| e.to_string())?.next();
        let address = address.ok_or("the name resolves to nothing")?;
        let limits = Limits {
            body_bytes: MOST_ANSWER_BYTES,
            ..Limits::default()
        };
        let connected = plimsoll_http::connect(address, PATIENCE, limits).await;
        let mut connection = connected.map_err(|e| e.to_string())?;
        let out = connection.output.buffer();
        encode::request_line(out, "POST", self.to.path());
        encode::field(out, "Host", self.to.authority());
        encode::field(out, "Content-Type", "application/x-protobuf");
        encode::field(
            out,
            "User-Agent",
            concat!("plimsoll/", env!("CARGO_PKG_VERSION")),
        );
        encode::content_length(out, body.len() as u64);
        encode::field(out, "Connection", "close");
        encode::end_head(out);
        out.extend_from_slice(body);
        connection.output.flush().await.map_err(|e| e.to_string())?;
        connection.responses.expect(false);
        loop {
            let answered = connection.responses.next_head().await;
            answered.map_err(|e| format!("no answer: {e}"))?;
            match connection.responses.head().status() {
                100..=199 => {}
                200..=299 => return Ok(()),
                status => return Err(format!("answered with status {status}")),
            }
        }
    }
}

fn now_ns() -> u64 {
    u64::try_from(clock::unix_nanos()).unwrap_or(u64::MAX)
}
