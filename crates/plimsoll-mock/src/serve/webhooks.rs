//! Sends webhooks, each in a task of its shard: so many at a time wait for their delay, a connection or their answer, in so much
//! memory. One for which there is no room is lost, which is counted and said.

use crate::kept_body::{BodyRoom, Held};
use crate::outgoing::{Client, Failure, Sending};
use crate::records::journal::{Journal, sub_event};
use plimsoll_wiremock::stub::webhook::Call;
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Webhooks under way at a time, over all shards.
const MOST: usize = 10_000;

/// Outcomes of webhooks, over all shards.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    under_way: AtomicUsize,
    answered: AtomicU64,
    failed: AtomicU64,
    lost: AtomicU64,
}

/// Outcomes of webhooks when a mock has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Webhooks {
    /// Sent and answered, with any status.
    pub answered: u64,
    /// Not sent, because of a template or a URL, or not answered.
    pub failed: u64,
    /// Not sent for want of room, or because the mock ended first.
    pub lost: u64,
}

/// Webhooks after one answer.
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
    pub(crate) fn begin(self, webhooks: &Firing) {
        for call in self.calls {
            webhooks.fire(call, self.noted);
        }
    }
}

/// The webhooks of one shard.
#[derive(Debug)]
pub(crate) struct Firing {
    sender: Rc<WebhookSender>,
    under_way: RefCell<JoinSet<()>>,
}

/// A shard's sender of webhooks, with where their outcomes are counted.
#[derive(Debug)]
pub(crate) struct WebhookSender {
    /// Which of the shards this is.
    pub(crate) shard: usize,
    pub(crate) client: Rc<Client>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) bodies: Arc<BodyRoom>,
}

impl Tally {
    /// Outcomes of all; those that are still under way are lost.
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
    /// None was sent yet.
    pub(crate) fn new(sender: WebhookSender) -> Self {
        Self {
            sender: Rc::new(sender),
            under_way: RefCell::default(),
        }
    }

    /// Sends a webhook after its delay. `noted` is the journal's number of the request that brought it.
    fn fire(&self, call: Result<Call, String>, noted: Option<u64>) {
        let sender = &self.sender;
        let tally = &sender.tally;
        let call = match call {
            Ok(call) => call,
            Err(error) => {
                tally.failed.fetch_add(1, Ordering::Relaxed);
                let message = format!("Exception thrown while configuring webhook: {error}");
                return sender.note(noted, &sub_event::error(&message));
            }
        };
        let mut held = Held::new(Arc::clone(&sender.bodies));
        let full = held.grow(call.head.len() + call.body.len()).is_err();
        if full || tally.under_way.fetch_add(1, Ordering::Relaxed) >= MOST {
            if !full {
                tally.under_way.fetch_sub(1, Ordering::Relaxed);
            }
            tally.lost.fetch_add(1, Ordering::Relaxed);
            let message = "The webhook is lost: too many are under way";
            return sender.note(noted, &sub_event::error(message));
        }
        let mut tasks = self.under_way.borrow_mut();
        tasks.spawn_local(Rc::clone(sender).send(call, held, noted));
        while let Some(ended) = tasks.try_join_next() {
            on_closed(ended);
        }
    }

    /// Waits for those that are under way. There must be no more to come.
    pub(crate) async fn finish(&self) {
        let mut tasks = self.under_way.take();
        while let Some(ended) = tasks.join_next().await {
            on_closed(ended);
        }
    }
}

impl WebhookSender {
    async fn send(self: Rc<Self>, call: Call, mut held: Held, noted: Option<u64>) {
        tokio::time::sleep_until(Instant::now() + call.delay).await;
        if noted.is_some() {
            self.note(noted, &sub_event::webhook_request(&call));
        }
        let sending = Sending {
            url: &call.url,
            method: &call.method,
            head: &call.head,
            body: &call.body,
        };
        let received = self.client.exchange(&sending, |bytes| held.grow(bytes));
        let tally = &self.tally;
        match received.await {
            Ok(received) => {
                tally.answered.fetch_add(1, Ordering::Relaxed);
                if noted.is_some() {
                    self.note(noted, &sub_event::webhook_response(&received));
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
                self.note(noted, &sub_event::error(&message));
            }
        }
        tally.under_way.fetch_sub(1, Ordering::Relaxed);
    }

    fn note(&self, noted: Option<u64>, event: &Value) {
        if let Some(number) = noted {
            self.journal.add_sub_event(self.shard, number, event);
        }
    }
}

/// A webhook that fails has said so; one that panics is a defect and ends the shard.
fn on_closed(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}
