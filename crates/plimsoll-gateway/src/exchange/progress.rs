//! How far an exchange is: which deadline holds now, and who has been waited for how long.

use super::detail::Detail;
use super::party::Party;
use crate::config::Timeouts;
use plimsoll_http::{Pace, Patience};
use plimsoll_records::{Phase, Phases, Stopwatch};
use std::cell::{Cell, OnceCell};
use std::time::Duration;
use tokio::time::Instant;

/// The state that both directions of an exchange share. They run in one task, so plain cells do.
#[derive(Debug)]
pub(crate) struct Progress {
    received: Instant,
    idle: Duration,
    body_rate: u64,
    total: Instant,
    deadline: Cell<Instant>,
    /// Who holds up the upload right now, if anybody does.
    pub(super) upload_waits_for: Cell<Option<Party>>,
    /// Who holds up the answer right now, if anybody does.
    pub(super) answer_waits_for: Cell<Option<Party>>,
    /// State of the upload.
    pub(super) upload: Cell<Upload>,
    /// Status of the final response, once its head is on the way to the client and it is counted as served.
    pub(super) answered: Cell<Option<u16>>,
    /// Status of an error before another was put in its place.
    pub(super) outcome: Cell<Option<u16>>,
    /// Status and arrival of the response's head.
    pub(super) head: Cell<Option<(u16, Instant)>>,
    watch: Stopwatch,
    /// When it was over, if its connection has a life after it.
    ended: Cell<Option<Instant>>,
    pub(super) bytes_in: Cell<u64>,
    pub(super) bytes_out: Cell<u64>,
    /// Bytes that have passed, where they are recorded.
    pub(super) detail: OnceCell<Box<Detail>>,
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

impl Upload {
    /// When it ended.
    pub(super) fn end(self) -> Option<Instant> {
        match self {
            Self::UnderWay => None,
            Self::Complete(at) | Self::CutShort(at) => Some(at),
        }
    }
}

/// Where the time of an exchange went. The parts add up to `total`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) total: Duration,
    pub(super) gateway: Duration,
    pub(super) upstream: Duration,
    pub(super) client: Duration,
    pub(super) phases: Phases,
}

impl Progress {
    pub(super) fn new(received: Instant, timeouts: &Timeouts) -> Self {
        Self {
            received,
            idle: timeouts.idle,
            body_rate: timeouts.body_rate,
            total: received + timeouts.total,
            deadline: Cell::new(received + timeouts.idle),
            upload_waits_for: Cell::new(None),
            answer_waits_for: Cell::new(None),
            upload: Cell::new(Upload::UnderWay),
            answered: Cell::new(None),
            outcome: Cell::new(None),
            head: Cell::new(None),
            watch: Stopwatch::new(received),
            ended: Cell::new(None),
            bytes_in: Cell::new(0),
            bytes_out: Cell::new(0),
            detail: OnceCell::new(),
        }
    }

    /// When the request's head had arrived.
    pub(super) fn received(&self) -> Instant {
        self.received
    }

    /// So much of a body has passed.
    pub(super) fn passed(&self, source: Party, data: &[u8]) {
        if let Some(detail) = self.detail.get() {
            detail.body(source, data);
        }
    }

    /// Whether what passes is recorded.
    pub(super) fn is_detailed(&self) -> bool {
        self.detail.get().is_some()
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

    /// How far the exchange is, or whom it waits for, may have changed at `now`.
    pub(super) fn settle(&self, now: Instant) {
        let phase = match (self.head.get(), self.upload.get()) {
            (Some(_), _) => match self.answer_waits_for.get() {
                Some(Party::Upstream) => Phase::Body,
                Some(Party::Client) => Phase::ClientWrite,
                None => Phase::Gateway,
            },
            (None, Upload::UnderWay) => match self.upload_waits_for.get() {
                Some(Party::Client) => Phase::RequestBody,
                Some(Party::Upstream) => Phase::RequestWrite,
                None => Phase::Gateway,
            },
            (None, Upload::Complete(_) | Upload::CutShort(_)) => Phase::FirstByte,
        };
        self.watch.enter(phase, now);
    }

    /// A phase begins at `now` in which nothing is under way on a connection.
    pub(super) fn enter(&self, phase: Phase, now: Instant) {
        self.watch.enter(phase, now);
    }

    /// The stopwatch, for who measures more closely.
    pub(crate) fn watch(&self) -> &Stopwatch {
        &self.watch
    }

    /// How long each phase took until now.
    pub(super) fn phases(&self, now: Instant) -> Phases {
        self.settle(now);
        self.watch.read()
    }

    /// The exchange is over at `now`, whatever else happens on its connection.
    pub(super) fn ends(&self, now: Instant) {
        self.ended.set(Some(now));
    }

    /// Where the time went, for an exchange that ended at `now` or before.
    pub(super) fn times(&self, now: Instant) -> Times {
        let end = self.ended.get().unwrap_or(now);
        let phases = self.phases(end);
        let upstream = phases.sum(&[
            Phase::PoolWait,
            Phase::Connect,
            Phase::UpstreamTls,
            Phase::RequestWrite,
            Phase::FirstByte,
            Phase::Body,
        ]);
        let client = phases.sum(&[Phase::RequestBody, Phase::ClientWrite]);
        let gateway = phases.sum(&[Phase::Authentication, Phase::Limit, Phase::Gateway]);
        Times {
            total: end.duration_since(self.received),
            gateway,
            upstream,
            client,
            phases,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// An exchange in virtual time: each step takes place so many milliseconds after the one before.
    #[test]
    fn every_moment_is_counted_once() {
        let start = Instant::now();
        let progress = Progress::new(start, &Timeouts::of(1000 * MS));
        let at = |ms: u32| start + ms * MS;
        progress.enter(Phase::Connect, at(1));
        progress.settle(at(3));
        progress.upload_waits_for.set(Some(Party::Client));
        progress.settle(at(6));
        progress.upload_waits_for.set(Some(Party::Upstream));
        progress.settle(at(10));
        progress.upload_waits_for.set(None);
        progress.settle(at(15));
        progress.upload.set(Upload::Complete(at(21)));
        progress.settle(at(21));
        progress.head.set(Some((200, at(28))));
        progress.settle(at(28));
        // Whatever the upload still waits for, the answer is what counts now.
        progress.upload_waits_for.set(Some(Party::Client));
        progress.answer_waits_for.set(Some(Party::Upstream));
        progress.settle(at(36));
        progress.answer_waits_for.set(Some(Party::Client));
        progress.settle(at(45));
        progress.answer_waits_for.set(None);
        progress.settle(at(55));
        let times = progress.times(at(66));
        let shown: Vec<_> = times
            .phases
            .micros()
            .filter(|(_, micros)| *micros > 0)
            .collect();
        let expected = [
            (Phase::Gateway, 1 + 3 + 6 + 8 + 11),
            (Phase::Connect, 2),
            (Phase::RequestBody, 4),
            (Phase::RequestWrite, 5),
            (Phase::FirstByte, 7),
            (Phase::Body, 9),
            (Phase::ClientWrite, 10),
        ];
        assert_eq!(shown, expected.map(|(phase, ms)| (phase, ms * 1000)));
        assert_eq!(times.total, 66 * MS);
        assert_eq!(times.gateway + times.upstream + times.client, times.total);
    }
}
