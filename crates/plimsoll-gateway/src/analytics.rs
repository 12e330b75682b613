//! Analytics: one record per request, on its way from the shards to sinks without holding anything up.
//!
//! ```text
//! shard 0: Feed --batch--\                    /--> courier --> file, standard output
//!                         a bounded queue each ---> courier --> backlog (memory, disk) --> Redis, PostgreSQL, OTLP
//! shard 1: Feed --batch--/                    \______ empty batches back to their shards
//! ```
//!
//! A shard collects records in a batch of its own and hands it over when it is full or a moment old. Handing over never
//! waits: if a courier is behind by [`QUEUED_BATCHES`], the batch's records are lost to its sink, and counted. So are those that a sink does
//! not take, and those that there is no room for while it is away; of these the operator is told, too.
//!
//! Spans of traces go the same way, by a feed of their own, see [`crate::tracing`].

mod backlog;
mod courier;
mod entry;
mod form;
mod lines;
mod otlp;
mod record;
mod sink;
mod spool;

pub(crate) use courier::Counts;
pub(crate) use record::{Names, Part, Record, Words};

use crate::config::{AnalyticsConfig, TracingConfig};
use crate::controls::Output;
use crate::exchange::phases::Phases;
use crate::server::Log;
use backlog::Place;
use courier::{Courier, Returns};
use record::Batch;
use sink::Opened;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// Records in a batch.
const BATCH_RECORDS: usize = 256;
/// Bytes of words in a batch, beyond which it is handed over early.
const BATCH_TEXT_BYTES: usize = 64 * 1024;
/// Full batches that may wait for a courier, for each shard.
const QUEUED_BATCHES: usize = 64;
/// Bytes of batches that may, for each shard: detailed records make large ones.
const QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// One shard's end: records go in, batches leave.
#[derive(Debug)]
pub(crate) struct Feed {
    batch: Batch,
    outlets: Vec<Outlet>,
    /// Batches that couriers are done with. Each shard has its own, so none waits for another.
    empty: Receiver<Batch>,
    /// Records that were pushed.
    number: u64,
}

/// The way to one sink.
#[derive(Debug, Clone)]
struct Outlet {
    full: SyncSender<Arc<Batch>>,
    counts: Arc<Counts>,
    /// Bytes of batches that may be under way.
    most: usize,
}

impl Feed {
    /// Adds a record that refers to `names`, with its phases if they are to be shown; never waits.
    pub(crate) fn push(
        &mut self,
        record: Record,
        phases: Option<Phases>,
        words: &Words,
        names: &Arc<Names>,
    ) {
        if !Arc::ptr_eq(&self.batch.names, names) {
            self.hand_over();
            self.batch.names = Arc::clone(names);
        }
        if self.batch.len() == 0 {
            self.batch.first = self.number;
        }
        self.number += 1;
        self.batch.push(record, phases, words);
        if self.batch.len() >= BATCH_RECORDS || self.batch.text_bytes() >= BATCH_TEXT_BYTES {
            self.hand_over();
        }
    }

    /// Hands over what there is, full or not; never waits.
    pub(crate) fn hand_over(&mut self) {
        if self.batch.len() == 0 {
            return;
        }
        let batch = Arc::new(self.renew());
        for outlet in &self.outlets {
            outlet.offer(&batch);
        }
    }

    /// Hands over the last records. Waits for the couriers, for there are no requests left to hold up.
    pub(crate) fn finish(mut self) {
        if self.batch.len() == 0 {
            return;
        }
        let last = Arc::new(self.renew());
        for outlet in &self.outlets {
            (outlet.counts.queued).fetch_add(last.bytes(), Ordering::Relaxed);
            if outlet.full.send(Arc::clone(&last)).is_err() {
                outlet.lose(&last);
            }
        }
    }

    /// The batch that was filled; an empty one takes its place.
    fn renew(&mut self) -> Batch {
        let Batch { shard, names, .. } = &self.batch;
        let mut fresh =
            (self.empty.try_recv()).unwrap_or_else(|_| Batch::new(*shard, Arc::clone(names)));
        fresh.names = Arc::clone(names);
        std::mem::replace(&mut self.batch, fresh)
    }
}

impl Outlet {
    /// Sends a batch on its way, if there is room for it.
    fn offer(&self, batch: &Arc<Batch>) {
        let (queued, bytes) = (&self.counts.queued, batch.bytes());
        let before = queued.fetch_add(bytes, Ordering::Relaxed);
        let sent = (before == 0 || before + bytes <= self.most)
            .then(|| self.full.try_send(Arc::clone(batch)));
        match sent {
            Some(Ok(())) => return,
            None | Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) => {}
        }
        queued.fetch_sub(bytes, Ordering::Relaxed);
        self.lose(batch);
    }

    fn lose(&self, batch: &Batch) {
        let records = batch.len() as u64;
        self.counts.too_fast.fetch_add(records, Ordering::Relaxed);
    }
}

/// The couriers to some sinks. They end when every [`Feed`] to them is gone.
#[derive(Debug)]
pub(crate) struct Analytics {
    couriers: Vec<Courier>,
    counts: Vec<(&'static str, Arc<Counts>)>,
}

impl Analytics {
    /// Starts a courier for each sink of `config`, with one feed per shard; records are those of the gateway `origin`. `log` is told when a
    /// sink takes no more records, and when it does again.
    ///
    /// # Errors
    /// The system's, when a file, a spool or a thread cannot be made.
    pub(crate) fn start(
        config: &AnalyticsConfig,
        output: Output,
        shards: usize,
        origin: &str,
        log: &Log,
    ) -> io::Result<(Self, Vec<Feed>)> {
        let mut output = Some(output);
        let opened = config.sinks.iter();
        let opened = opened.map(|sink| sink::open(sink, origin, &mut output));
        let opened = opened.collect::<io::Result<Vec<_>>>()?;
        let place = |kind: &str| {
            config.spool.as_ref().map(|spool| Place {
                directory: spool.directory.join(kind),
                bytes: spool.bytes,
            })
        };
        Self::carry(opened, place, shards, log)
    }

    /// Starts the courier of spans.
    ///
    /// # Errors
    /// The system's, when a thread cannot be made.
    pub(crate) fn start_spans(
        config: &TracingConfig,
        shards: usize,
        log: &Log,
    ) -> io::Result<(Self, Vec<Feed>)> {
        Self::carry(vec![sink::open_spans(config)?], |_| None, shards, log)
    }

    fn carry(
        sinks: Vec<Opened>,
        place: impl Fn(&str) -> Option<Place>,
        shards: usize,
        log: &Log,
    ) -> io::Result<(Self, Vec<Feed>)> {
        let (back, empty): (Vec<_>, Vec<_>) =
            (0..shards).map(|_| sync_channel(QUEUED_BATCHES)).unzip();
        let returns = Returns::from(back);
        let (mut outlets, mut couriers, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for opened in sinks {
            let (full, queue) = sync_channel(QUEUED_BATCHES * shards);
            let counted = Arc::new(Counts::default());
            counts.push((opened.kind, Arc::clone(&counted)));
            let place = place(opened.kind).filter(|_| opened.remote);
            let outlet = Outlet {
                full,
                counts: Arc::clone(&counted),
                most: QUEUED_BYTES * shards,
            };
            outlets.push(outlet);
            let told = (counted, Arc::clone(log));
            let courier = Courier::start(opened, queue, Arc::clone(&returns), place, told)?;
            couriers.push(courier);
        }
        let feeds = empty.into_iter().enumerate().map(|(shard, empty)| Feed {
            batch: Batch::new(shard, Arc::default()),
            outlets: outlets.clone(),
            empty,
            number: 0,
        });
        let feeds = feeds.collect();
        Ok((Self { couriers, counts }, feeds))
    }

    /// What becomes of each sink's records; goes on being updated.
    pub(crate) fn counts(&self) -> Vec<(&'static str, Arc<Counts>)> {
        self.counts.clone()
    }

    /// Waits until everything is written or kept, and says what was lost. Every feed must be gone.
    ///
    /// # Panics
    /// When a courier panicked.
    pub(crate) fn join(self, log: &Log) {
        for courier in self.couriers {
            courier.join(log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_courier_that_stands_still_costs_records_and_never_time() {
        let counts = Arc::new(Counts::default());
        let (full, _courier_that_never_reads) = sync_channel(1);
        let (_, empty) = sync_channel(1);
        let mut feed = Feed {
            batch: Batch::new(0, Arc::default()),
            outlets: vec![Outlet {
                full,
                counts: Arc::clone(&counts),
                most: QUEUED_BYTES,
            }],
            empty,
            number: 0,
        };
        let names = Arc::default();
        for _ in 0..BATCH_RECORDS * 3 {
            feed.push(Record::default(), None, &Words::default(), &names);
        }
        let lost = counts.too_fast.load(Ordering::Relaxed);
        assert_eq!(lost, BATCH_RECORDS as u64 * 2);
    }

    #[test]
    fn batches_of_large_records_are_bounded_by_their_bytes() {
        let counts = Arc::new(Counts::default());
        let (full, queue) = sync_channel(8);
        let outlet = Outlet {
            full,
            counts: Arc::clone(&counts),
            most: 3 * 1024 * 1024,
        };
        let mut words = Words::default();
        words.put(Part::Response, &"x".repeat(1 << 20));
        let mut batch = Batch::new(0, Arc::default());
        batch.push(Record::default(), None, &words);
        let batch = Arc::new(batch);
        let lost = || counts.too_fast.load(Ordering::Relaxed);
        for _ in 0..4 {
            outlet.offer(&batch);
        }
        assert_eq!((queue.try_iter().count(), lost()), (2, 2));
        assert_eq!(counts.queued.load(Ordering::Relaxed), 2 * batch.bytes());
        // One that is larger than all that there may be goes alone.
        counts.queued.store(0, Ordering::Relaxed);
        let alone = Outlet { most: 1, ..outlet };
        alone.offer(&batch);
        alone.offer(&batch);
        assert_eq!((queue.try_iter().count(), lost()), (1, 3));
    }
}
