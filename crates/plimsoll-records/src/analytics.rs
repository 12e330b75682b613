//! Analytics: one record per request, on its way from the shards to sinks without holding anything up.
//!
//! ```text
//! shard 0: RecordSender --batch--\                    /--> sink_worker --> file, standard output
//!                         a bounded queue each ---> sink_worker --> backlog (memory, disk) --> Redis, PostgreSQL, OTLP
//! shard 1: RecordSender --batch--/                    \______ empty batches back to their shards
//! ```
//!
//! A shard collects records in a batch of its own and hands it over when it is full or a moment old. Handing over never
//! waits: if a sink_worker is behind by `QUEUED_BATCHES`, the batch's records are lost to its sink, and counted. So are those that a sink does
//! not take, and those that there is no room for while it is away; of these the operator is told, too. At the end what no sink has taken in
//! time is lost as well: the end of a process does not wait for a pipe that nobody reads.
//!
//! Spans of traces go the same way, by a feed of their own, see [`crate::tracing`].

use crate::backlog::SpoolPlace;
use crate::counts::Counts;
use crate::output::Output;
use crate::phases::Phases;
use crate::record::{BATCH_RECORDS, BATCH_TEXT_BYTES, Batch, Names, Record, Words};
use crate::settings::{AnalyticsConfig, TracingConfig};
use crate::sink::{self, Opened};
use crate::sink_worker::{Returns, SinkWorker};
use crate::sink_writer::{self, QUEUED_BATCHES, SinkWriter};
use plimsoll_base::log::Log;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use tokio::time::Instant;

/// One shard's end: records go in, batches leave.
#[derive(Debug)]
pub struct RecordSender {
    batch: Batch,
    outlets: Vec<SinkWriter>,
    /// Batches that sink_workers are done with. Each shard has its own, so none waits for another.
    empty: Receiver<Batch>,
    /// Records that were pushed.
    number: u64,
}

impl RecordSender {
    /// Adds a record that refers to `names`, with its phases if they are to be shown; never waits.
    pub fn push(
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
    pub fn hand_over(&mut self) {
        if self.batch.len() == 0 {
            return;
        }
        let batch = Arc::new(self.renew());
        for sink_writer in &self.outlets {
            sink_writer.offer(&batch);
        }
    }

    /// Hands over the last records, for which there is room; never waits.
    pub fn finish(mut self) {
        if self.batch.len() == 0 {
            return;
        }
        let last = Arc::new(self.renew());
        for sink_writer in &self.outlets {
            sink_writer.offer_last(&last);
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

/// The sink_workers to some sinks. They end when every [`RecordSender`] to them is gone.
#[derive(Debug)]
pub struct Analytics {
    sink_workers: Vec<SinkWorker>,
    counts: Vec<(&'static str, Arc<Counts>)>,
}

impl Analytics {
    /// Starts a sink_worker for each sink of `config`, with one feed per shard; records are those of the gateway `origin`. `log` is told when a
    /// sink takes no more records, and when it does again.
    ///
    /// # Errors
    /// The system's, when a file, a spool or a thread cannot be made.
    pub fn start(
        config: &AnalyticsConfig,
        output: Output,
        shards: usize,
        origin: &str,
        log: &Log,
    ) -> io::Result<(Self, Vec<RecordSender>)> {
        let mut output = Some(output);
        let opened = config.sinks.iter();
        let opened = opened.map(|sink| sink::open(sink, origin, &mut output));
        let opened = opened.collect::<io::Result<Vec<_>>>()?;
        let place = |kind: &str| {
            config.spool.as_ref().map(|spool| SpoolPlace {
                directory: spool.directory.join(kind),
                bytes: spool.bytes,
            })
        };
        Self::carry(opened, place, shards, log)
    }

    /// Starts the sink_worker of spans.
    ///
    /// # Errors
    /// The system's, when a thread cannot be made.
    pub fn start_spans(
        config: &TracingConfig,
        shards: usize,
        log: &Log,
    ) -> io::Result<(Self, Vec<RecordSender>)> {
        Self::carry(vec![sink::open_spans(config)?], |_| None, shards, log)
    }

    fn carry(
        sinks: Vec<Opened>,
        place: impl Fn(&str) -> Option<SpoolPlace>,
        shards: usize,
        log: &Log,
    ) -> io::Result<(Self, Vec<RecordSender>)> {
        let (back, empty): (Vec<_>, Vec<_>) =
            (0..shards).map(|_| sync_channel(QUEUED_BATCHES)).unzip();
        let returns = Returns::from(back);
        let (mut outlets, mut sink_workers, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for opened in sinks {
            let counted = Arc::new(Counts::default());
            counts.push((opened.kind, Arc::clone(&counted)));
            let place = place(opened.kind).filter(|_| opened.remote);
            let (sink_writer, queue) = sink_writer::way(shards, Arc::clone(&counted));
            outlets.push(sink_writer);
            let told = (counted, Arc::clone(log));
            let sink_worker = SinkWorker::start(opened, queue, Arc::clone(&returns), place, told)?;
            sink_workers.push(sink_worker);
        }
        let feeds = empty
            .into_iter()
            .enumerate()
            .map(|(shard, empty)| RecordSender {
                batch: Batch::new(shard, Arc::default()),
                outlets: outlets.clone(),
                empty,
                number: 0,
            });
        let feeds = feeds.collect();
        Ok((
            Self {
                sink_workers,
                counts,
            },
            feeds,
        ))
    }

    /// Outcomes of each sink's records; they go on being updated.
    pub fn counts(&self) -> Vec<(&'static str, Arc<Counts>)> {
        self.counts.clone()
    }

    /// Waits until everything is written or kept, as long as a sink_worker may take for that, and says what was lost. Every feed must be gone, by
    /// `begun` at the latest.
    ///
    /// # Panics
    /// When a sink_worker panicked.
    pub fn join(self, begun: Instant, log: &Log) {
        for sink_worker in self.sink_workers {
            sink_worker.join(begun, log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_courier_that_stands_still_costs_records_and_never_time() {
        let counts = Arc::new(Counts::default());
        let (sink_writer, _queue_of_a_courier_that_never_reads) =
            sink_writer::way(1, Arc::clone(&counts));
        let (_, empty) = sync_channel(1);
        let mut feed = RecordSender {
            batch: Batch::new(0, Arc::default()),
            outlets: vec![sink_writer],
            empty,
            number: 0,
        };
        let names = Arc::default();
        for _ in 0..BATCH_RECORDS * (QUEUED_BATCHES + 2) + 1 {
            feed.push(Record::default(), None, &Words::default(), &names);
        }
        feed.finish();
        let lost = counts.too_fast.load(Ordering::Relaxed);
        assert_eq!(lost, BATCH_RECORDS as u64 * 2);
        assert_eq!(
            counts.unsettled(),
            (BATCH_RECORDS * QUEUED_BATCHES) as u64 + 1
        );
    }
}
