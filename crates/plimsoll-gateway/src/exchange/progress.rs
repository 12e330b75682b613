//! How far an exchange is: which deadline holds now, and who has been waited for how long.

use crate::config::Timeouts;
use plimsoll_http::{Pace, Patience};
use std::cell::Cell;
use std::time::Duration;
use tokio::time::Instant;

/// The state that both directions of an exchange share. They run in one task, so plain cells do.
#[derive(Debug)]
pub(super) struct Progress {
    received: Instant,
    idle: Duration,
    body_rate: u64,
    total: Instant,
    deadline: Cell<Instant>,
    /// Who holds up the upload right now.
    pub(super) upload_waits_for: Cell<Party>,
    /// Who holds up the answer right now.
    pub(super) answer_waits_for: Cell<Party>,
    /// What the upload has come to.
    pub(super) upload: Cell<Upload>,
    /// Status of the final response, once its head is on the way to the client.
    pub(super) answered: Cell<Option<u16>>,
    /// Status and arrival of the response's head.
    pub(super) head: Cell<Option<(u16, Instant)>>,
    upstream: Cell<Duration>,
    client: Cell<Duration>,
    /// When it was over, if its connection has a life after it.
    ended: Cell<Option<Instant>>,
    pub(super) bytes_in: Cell<u64>,
    pub(super) bytes_out: Cell<u64>,
}

/// One of the two that a proxy stands between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Party {
    Client,
    Upstream,
}

/// State of the way from the client to the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upload {
    UnderWay,
    /// The whole request was sent, at this moment.
    Complete(Instant),
    /// The upstream takes no more. It may have answered all the same.
    CutShort(Instant),
}

/// Where the time of an exchange went. The parts add up to `total`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) total: Duration,
    pub(super) gateway: Duration,
    pub(super) upstream: Duration,
    pub(super) client: Duration,
}

impl Progress {
    pub(super) fn new(received: Instant, timeouts: &Timeouts) -> Self {
        Self {
            received,
            idle: timeouts.idle,
            body_rate: timeouts.body_rate,
            total: received + timeouts.total,
            deadline: Cell::new(received + timeouts.idle),
            upload_waits_for: Cell::new(Party::Client),
            answer_waits_for: Cell::new(Party::Upstream),
            upload: Cell::new(Upload::UnderWay),
            answered: Cell::new(None),
            head: Cell::new(None),
            upstream: Cell::new(Duration::ZERO),
            client: Cell::new(Duration::ZERO),
            ended: Cell::new(None),
            bytes_in: Cell::new(0),
            bytes_out: Cell::new(0),
        }
    }

    /// When the request's head had arrived.
    pub(super) fn received(&self) -> Instant {
        self.received
    }

    /// When the exchange ends, whatever happens.
    pub(super) fn end(&self) -> Instant {
        self.total
    }

    /// When the exchange ends if nothing happens.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline.get().min(self.total)
    }

    /// Something moved at `now`: silence starts anew.
    pub(super) fn moved(&self, now: Instant) {
        self.deadline.set(now + self.idle);
    }

    /// From `now` on nothing may happen for so long.
    pub(super) fn waits(&self, now: Instant, allowance: Duration) {
        self.deadline.set(now + allowance);
    }

    /// How long the client is waited for in one direction.
    pub(super) fn patience(&self) -> Patience {
        Patience::new(Pace {
            silence: self.idle,
            bytes_per_second: self.body_rate,
        })
    }

    /// From `now` on the response's head may take `limit`.
    pub(super) fn awaits_head(&self, now: Instant, limit: Duration) {
        self.deadline.set(now + limit);
    }

    /// Counts time that was spent waiting for `party`.
    pub(super) fn waited(&self, party: Party, time: Duration) {
        let sum = match party {
            Party::Client => &self.client,
            Party::Upstream => &self.upstream,
        };
        sum.set(sum.get() + time);
    }

    /// The exchange is over at `now`, whatever else happens on its connection.
    pub(super) fn ends(&self, now: Instant) {
        self.ended.set(Some(now));
    }

    /// Where the time went, for an exchange that ended at `now` or before.
    pub(super) fn times(&self, now: Instant) -> Times {
        let end = self.ended.get().unwrap_or(now);
        let total = end.duration_since(self.received);
        if self.answered.get().is_none() {
            // It ended in the middle of a wait, which nobody has counted yet.
            match self.upload.get() {
                Upload::Complete(sent) | Upload::CutShort(sent) => {
                    self.waited(Party::Upstream, end.duration_since(sent));
                }
                Upload::UnderWay => {}
            }
        }
        let upstream = self.upstream.get().min(total);
        let client = self.client.get().min(total - upstream);
        Times {
            total,
            gateway: total - upstream - client,
            upstream,
            client,
        }
    }
}
