//! Sends webhooks, each in a task of its shard: so many at a time wait for their delay, a connection or their answer, in so much
//! memory. One for which there is no room is lost, which is counted and said.

use crate::journal::sub_event;
use crate::kept_body::Held;
use crate::outgoing::{Failure, Sending};
use crate::shard::Shard;
use crate::stub::webhook::Call;
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Webhooks under way at a time, over all shards.
const MOST: usize = 10_000;

/// What became of webhooks, over all shards.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    under_way: AtomicUsize,
    answered: AtomicU64,
    failed: AtomicU64,
    lost: AtomicU64,
}

/// The same when a mock has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Webhooks {
    /// Sent and answered, with any status.
    pub answered: u64,
    /// Not sent, because of a template or a URL, or not answered.
    pub failed: u64,
    /// Not sent for want of room, or because the mock ended first.
    pub lost: u64,
}

/// What follows one answer: its webhooks.
#[derive(Debug, Default)]
pub(crate) struct Afterwards {
    pub(crate) calls: Vec<Result<Call, String>>,
    /// The journal's number of the request that brought them.
    pub(crate) noted: Option<u64>,
    /// The room that another server's answer takes until it is sent.
    pub(crate) held: Option<Held>,
}

impl Afterwards {
    /// Whether nothing follows.
    pub(crate) fn are_none(&self) -> bool {
        self.calls.is_empty()
    }

    /// Has them sent.
    pub(crate) fn begin(self, shard: &Rc<Shard>) {
        for call in self.calls {
            Firing::fire(shard, call, self.noted);
        }
    }
}

/// The webhooks of one shard.
#[derive(Debug, Default)]
pub(crate) struct Firing(RefCell<JoinSet<()>>);

impl Tally {
    /// What became of all; those that are still under way are lost.
    pub(crate) fn total(&self) -> Webhooks {
        let lost = self.under_way.load(Ordering::Relaxed) as u64;
        Webhooks {
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed) + lost,
        }
    }
}

impl Firing {
    /// Sends a webhook after its delay. `noted` is the journal's number of the request that brought it.
    fn fire(shard: &Rc<Shard>, call: Result<Call, String>, noted: Option<u64>) {
        let tally = &shard.shared.webhooks;
        let call = match call {
            Ok(call) => call,
            Err(error) => {
                tally.failed.fetch_add(1, Ordering::Relaxed);
                let message = format!("Exception thrown while configuring webhook: {error}");
                return note(shard, noted, &sub_event::error(&message));
            }
        };
        let mut held = Held::new(Arc::clone(&shard.shared));
        let full = held.grow(call.head.len() + call.body.len()).is_err();
        if full || tally.under_way.fetch_add(1, Ordering::Relaxed) >= MOST {
            if !full {
                tally.under_way.fetch_sub(1, Ordering::Relaxed);
            }
            tally.lost.fetch_add(1, Ordering::Relaxed);
            let message = "The webhook is lost: too many are under way";
            return note(shard, noted, &sub_event::error(message));
        }
        let mut tasks = shard.webhooks.0.borrow_mut();
        tasks.spawn_local(send(Rc::clone(shard), call, held, noted));
        while let Some(ended) = tasks.try_join_next() {
            departed(ended);
        }
    }

    /// Waits for those that are under way. There must be no more to come.
    pub(crate) async fn finish(&self) {
        let mut tasks = self.0.take();
        while let Some(ended) = tasks.join_next().await {
            departed(ended);
        }
    }
}

async fn send(shard: Rc<Shard>, call: Call, mut held: Held, noted: Option<u64>) {
    tokio::time::sleep_until(Instant::now() + call.delay).await;
    if noted.is_some() {
        note(&shard, noted, &sub_event::webhook_request(&call));
    }
    let sending = Sending {
        url: &call.url,
        method: &call.method,
        head: &call.head,
        body: &call.body,
    };
    let received = shard.outgoing.exchange(&sending, |bytes| held.grow(bytes));
    let tally = &shard.shared.webhooks;
    match received.await {
        Ok(received) => {
            tally.answered.fetch_add(1, Ordering::Relaxed);
            if noted.is_some() {
                note(&shard, noted, &sub_event::webhook_response(&received));
            }
        }
        Err(failure) => {
            tally.failed.fetch_add(1, Ordering::Relaxed);
            let (method, url) = (&call.method, &call.url);
            let url = format!("{}{}", url.origin(), url.target);
            let message = match failure {
                Failure::Denied(_) => format!(
                    "The target webhook address {url} is denied in WireMock's configuration: {failure}"
                ),
                _ => format!("Failed to fire webhook {method} {url}: {failure}"),
            };
            note(&shard, noted, &sub_event::error(&message));
        }
    }
    tally.under_way.fetch_sub(1, Ordering::Relaxed);
}

fn note(shard: &Shard, noted: Option<u64>, event: &Value) {
    if let Some(number) = noted {
        let journal = &shard.shared.journal;
        journal.add_sub_event(shard.index, number, event);
    }
}

/// A webhook that fails has said so; one that panics is a defect and ends the shard.
fn departed(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}
