//! Which endpoint takes an exchange. One way of choosing a file, each a pure function from what is known of the endpoints to one of them.
//!
//! `load` is the number of exchanges that an endpoint has under way, or `None` where it may not be used.

mod consistent_hash;
mod least_pending;
mod peak_ewma;
mod round_robin;

use crate::config::Balance;
use consistent_hash::EndpointHashes;
use peak_ewma::Latencies;
use plimsoll_base::random::{Draw, Stream};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use tokio::time::Instant;

/// A way of choosing, with what it remembers. Each shard has its own.
#[derive(Debug)]
pub(super) enum Balancer {
    /// `next` is where it goes on.
    RoundRobin {
        next: Cell<usize>,
    },
    /// `next` is where it looks first.
    LeastPending {
        next: Cell<usize>,
    },
    PeakEwma {
        latencies: RefCell<Latencies>,
        draw: RefCell<Draw>,
    },
    ConsistentHash(EndpointHashes),
}

impl Balancer {
    /// Chooses among endpoints with these names; `shard` makes shards begin at different ones, so that few requests spread as well as
    /// many.
    pub(super) fn new(balance: &Balance, names: &[&str], shard: usize) -> Self {
        let next = Cell::new(shard % names.len());
        match balance {
            Balance::RoundRobin => Self::RoundRobin { next },
            Balance::LeastPending => Self::LeastPending { next },
            Balance::PeakEwma => Self::PeakEwma {
                latencies: RefCell::new(Latencies::new(names.len())),
                draw: RefCell::new(Draw::new(shard as u64, Stream::Endpoints, 0)),
            },
            Balance::ConsistentHash(_) => Self::ConsistentHash(EndpointHashes::new(names)),
        }
    }

    /// The endpoint for an exchange with this key (see [`hash_of`]), of so many.
    pub(super) fn choose(
        &self,
        count: usize,
        key: u64,
        now: Instant,
        load: impl Fn(usize) -> Option<u32>,
    ) -> Option<usize> {
        match self {
            Self::RoundRobin { next } => {
                let index = round_robin::choose(count, next.get(), load)?;
                next.set((index + 1) % count);
                Some(index)
            }
            Self::LeastPending { next } => {
                let index = least_pending::choose(count, next.get(), load)?;
                next.set((index + 1) % count);
                Some(index)
            }
            Self::PeakEwma { latencies, draw } => {
                let latencies = latencies.borrow();
                peak_ewma::choose(&latencies, &mut draw.borrow_mut(), now, load)
            }
            Self::ConsistentHash(places) => places.choose(key, load),
        }
    }

    /// Whether it wants to know how long endpoints take.
    pub(super) fn watches_latency(&self) -> bool {
        matches!(self, Self::PeakEwma { .. })
    }

    /// The endpoint took so long to begin its answer, at `now`.
    pub(super) fn answered(&self, index: usize, latency: Duration, now: Instant) {
        if let Self::PeakEwma { latencies, .. } = self {
            latencies.borrow_mut().observe(index, latency, now);
        }
    }

    /// The endpoint had not begun to answer after so long, at `now`, and nobody waits for it any more.
    pub(super) fn given_up(&self, index: usize, after: Duration, now: Instant) {
        if let Self::PeakEwma { latencies, .. } = self {
            latencies.borrow_mut().exceed(index, after, now);
        }
    }

    /// The endpoint failed after so long, at `now`.
    pub(super) fn failed(&self, index: usize, after: Duration, now: Instant) {
        if let Self::PeakEwma { latencies, .. } = self {
            latencies.borrow_mut().punish(index, after, now);
        }
    }
}

pub(super) use consistent_hash::hash_of;

/// The indexes from `from` on, going round.
fn around(count: usize, from: usize) -> impl Iterator<Item = usize> {
    (from..count).chain(0..from.min(count))
}
