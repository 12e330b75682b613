//! The way of one body: how it is framed, where its bytes are counted, and who is waited for.

use crate::exchange::party::Party;
use crate::exchange::progress::Progress;
use crate::routing::outgoing::withheld::Withheld;
use crate::shard::mirror::Mirror;
use plimsoll_http::Patience;
use std::cell::Cell;
use std::future::Future;
use tokio::time::Instant;

/// How a body is framed on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::exchange) enum Coding {
    /// As it is: by a length that was stated, or until the connection ends.
    Identity,
    Chunked,
}

/// Where a body comes from and what its movement is counted as.
pub(in crate::exchange) struct Flow<'a> {
    pub(in crate::exchange) coding: Coding,
    /// Whose body it is, and so who is waited for when nothing comes.
    pub(in crate::exchange) source: Party,
    /// Where its bytes are counted.
    pub(in crate::exchange) bytes: &'a Cell<u64>,
    /// Mirror that gets a copy of it.
    pub(in crate::exchange) copy: Option<&'a Mirror>,
    /// Which of its trailers are left out.
    pub(in crate::exchange) withheld: Withheld<'a>,
    /// How long the client is waited for, whichever end of the flow it is.
    pub(in crate::exchange) patience: Cell<Patience>,
    pub(in crate::exchange) progress: &'a Progress,
}

impl Flow<'_> {
    /// Whether somebody wants to see its bytes, or they do not go as they came.
    pub(super) fn is_looked_at(&self) -> bool {
        self.coding != Coding::Identity || self.copy.is_some() || self.progress.is_detailed()
    }

    pub(super) fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
    }

    /// So many bytes have come from `party`, or gone to it, which earns a client time.
    pub(super) fn credit(&self, party: Party, bytes: u64) {
        if party == Party::Client {
            let mut patience = self.patience.get();
            patience.earn(bytes);
            self.patience.set(patience);
        }
    }

    /// Awaits `what` of `party`, and counts the time.
    pub(super) async fn wait_for<T>(&self, party: Party, what: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let waits_for = match self.source {
            Party::Client => &self.progress.upload_waits_for,
            Party::Upstream => &self.progress.answer_waits_for,
        };
        waits_for.set(Some(party));
        self.progress.settle(start);
        match party {
            Party::Client => self.progress.waits(start, self.patience.get().left()),
            Party::Upstream => self.progress.moved(start),
        }
        let output = what.await;
        let now = Instant::now();
        let time = now.duration_since(start);
        if party == Party::Client {
            let mut patience = self.patience.get();
            patience.waited(time);
            self.patience.set(patience);
        }
        self.progress.moved(now);
        waits_for.set(None);
        self.progress.settle(now);
        output
    }
}
