//! Analytics: one record per request, on its way from the shards to a JSON Lines file without holding anything up.
//!
//! ```text
//! shard 0: Feed --batch--\
//!                         bounded queue --> writer thread --> file
//! shard 1: Feed --batch--/        \______ empty batches back ______/
//! ```
//!
//! A shard collects records in a batch of its own and hands it over when it is full or a moment old. Handing over never
//! waits: if the writer is behind by [`QUEUED_BATCHES`], the batch's records are lost, and counted. So are those that the file
//! does not take; of these the operator is told, too.

mod lines;
mod record;
mod writer;

pub(crate) use record::{Names, Record, Text};
pub(crate) use writer::{To, Writer, Written};

use crate::exchange::phases::Phases;
use crate::metrics::ShardMetrics;
use record::Batch;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

/// Records in a batch.
const BATCH_RECORDS: usize = 256;
/// Bytes of methods and paths in a batch, beyond which it is handed over early.
const BATCH_TEXT_BYTES: usize = 64 * 1024;
/// Full batches that may wait for the writer, for each shard.
const QUEUED_BATCHES: usize = 64;

/// One shard's end: records go in, batches leave.
#[derive(Debug)]
pub(crate) struct Feed {
    batch: Batch,
    full: SyncSender<Batch>,
    /// Batches that the writer is done with. Each shard has its own, so none waits for another.
    empty: Receiver<Batch>,
    metrics: Arc<ShardMetrics>,
}

impl Feed {
    /// Adds a record that refers to `names`, with its phases if they are to be shown; never waits.
    pub(crate) fn push(
        &mut self,
        record: Record,
        phases: Option<Phases>,
        text: Text<'_>,
        names: &Arc<Names>,
    ) {
        if !Arc::ptr_eq(&self.batch.names, names) {
            self.hand_over();
            self.batch.names = Arc::clone(names);
        }
        self.batch.push(record, phases, text);
        if self.batch.len() >= BATCH_RECORDS || self.batch.text_bytes() >= BATCH_TEXT_BYTES {
            self.hand_over();
        }
    }

    /// Hands over what there is, full or not; never waits.
    pub(crate) fn hand_over(&mut self) {
        if self.batch.len() == 0 {
            return;
        }
        let Batch { shard, names, .. } = &self.batch;
        let mut fresh =
            (self.empty.try_recv()).unwrap_or_else(|_| Batch::new(*shard, Arc::clone(names)));
        fresh.names = Arc::clone(names);
        let batch = std::mem::replace(&mut self.batch, fresh);
        if let Err(TrySendError::Full(mut batch) | TrySendError::Disconnected(mut batch)) =
            self.full.try_send(batch)
        {
            self.metrics.analytics_lost.add(batch.len() as u64);
            batch.clear();
            self.batch = batch;
        }
    }

    /// Hands over the last records. Waits for the writer, for there are no requests left to hold up.
    pub(crate) fn finish(mut self) {
        let lost = self.batch.len() as u64;
        if lost == 0 {
            return;
        }
        let last = std::mem::replace(&mut self.batch, Batch::new(0, Arc::default()));
        if self.full.send(last).is_err() {
            self.metrics.analytics_lost.add(lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_writer_that_stands_still_costs_records_and_never_time() {
        let metrics = Arc::new(ShardMetrics::default());
        let (full, _writer_that_never_reads) = mpsc::sync_channel(1);
        let (_, empty) = mpsc::sync_channel(1);
        let mut feed = Feed {
            batch: Batch::new(0, Arc::default()),
            full,
            empty,
            metrics: Arc::clone(&metrics),
        };
        let text = Text {
            method: "GET",
            path: "/",
        };
        let names = Arc::default();
        for _ in 0..BATCH_RECORDS * 3 {
            feed.push(Record::default(), None, text, &names);
        }
        assert_eq!(metrics.analytics_lost.get(), BATCH_RECORDS as u64 * 2);
    }
}
