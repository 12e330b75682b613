//! Pushes the totals by OTLP over HTTP: a request of protobuf every few seconds, and one at the end.
//!
//! The messages are OpenTelemetry's own (`opentelemetry-proto`), the way there is our codec. Why not its exporter:
//! `docs/decisions/0011-otlp.md`. Values are cumulative, so that a request that fails costs a reading and no count.

mod message;

use super::read;
use crate::{clock, out};
use plimsoll_http::otlp::{Endpoint, Rejected};
use plimsoll_report::live::Totals;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two requests.
const INTERVAL: Duration = Duration::from_secs(5);
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(4);

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
        let sent = self.to.send(&body, PATIENCE);
        let failed = match sent.await {
            Ok(answer) if !answer.is_taken() => format!("answered with status {}", answer.status),
            Ok(answer) => match answer.rejected() {
                None => return,
                Some(Rejected { items, why }) => {
                    format!("{items} data points were not taken: {why}")
                }
            },
            Err(why) => why,
        };
        if !self.told.swap(true, Ordering::Relaxed) {
            out::note(&format!("warning: --otlp {}: {failed}", self.to));
        }
    }
}

fn now_ns() -> u64 {
    u64::try_from(clock::unix_nanos()).unwrap_or(u64::MAX)
}
