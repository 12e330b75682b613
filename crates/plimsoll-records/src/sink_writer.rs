//! The way from a shard to the sink_worker of one sink. It is bounded, and nobody who sends waits: a sink may stand still for ever.

use crate::counts::Counts;
use crate::record::Batch;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// Full batches that may wait for a sink_worker, for each shard.
pub(crate) const QUEUED_BATCHES: usize = 64;
/// Bytes of batches that may, for each shard: detailed records make large ones.
pub(crate) const QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// A shard's end.
#[derive(Debug, Clone)]
pub(crate) struct SinkWriter {
    full: SyncSender<Arc<Batch>>,
    /// Has room for the last batch of every shard, however full the other is.
    last: SyncSender<Arc<Batch>>,
    counts: Arc<Counts>,
    /// Bytes of batches that may be under way.
    most: usize,
}

/// The sink_worker's end.
#[derive(Debug)]
pub(crate) struct Queue {
    full: Receiver<Arc<Batch>>,
    last: Receiver<Arc<Batch>>,
}

/// Both ends of a way for so many shards, each of which gets a clone of the first.
pub(crate) fn way(shards: usize, counts: Arc<Counts>) -> (SinkWriter, Queue) {
    let (full, queue) = sync_channel(QUEUED_BATCHES * shards);
    let (last, lasts) = sync_channel(shards);
    let sink_writer = SinkWriter {
        full,
        last,
        counts,
        most: QUEUED_BYTES * shards,
    };
    let queue = Queue {
        full: queue,
        last: lasts,
    };
    (sink_writer, queue)
}

impl SinkWriter {
    /// Sends a batch on its way, if there is room for it.
    pub(crate) fn offer(&self, batch: &Arc<Batch>) {
        self.send(batch, &self.full, self.most);
    }

    /// Sends the last batch of a shard.
    pub(crate) fn offer_last(&self, batch: &Arc<Batch>) {
        self.send(batch, &self.last, usize::MAX);
    }

    fn send(&self, batch: &Arc<Batch>, on: &SyncSender<Arc<Batch>>, most: usize) {
        // The sink_worker may have it at once: it is counted before.
        let before = self.counts.enters_queue(batch);
        let has_room = before == 0 || before + batch.bytes() <= most;
        match has_room.then(|| on.try_send(Arc::clone(batch))) {
            Some(Ok(())) => return,
            None | Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) => {}
        }
        self.counts.leaves_queue(batch);
        let records = batch.len() as u64;
        self.counts.too_fast.fetch_add(records, Ordering::Relaxed);
        self.counts.settled(records);
    }
}

impl Queue {
    /// The next batch, when there is one; `None` when every shard's end is gone.
    pub(crate) fn next(&self) -> Option<Arc<Batch>> {
        let next = self.full.recv().or_else(|_| self.last.recv());
        next.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, RecordWord, Words};

    fn batch(bytes: usize) -> Arc<Batch> {
        let mut words = Words::default();
        words.put(RecordWord::Response, &"x".repeat(bytes));
        let mut batch = Batch::new(0, Arc::default());
        batch.push(Record::default(), None, &words);
        Arc::new(batch)
    }

    #[test]
    fn batches_of_large_records_are_bounded_by_their_bytes() {
        let counts = Arc::new(Counts::default());
        let (sink_writer, queue) = way(1, Arc::clone(&counts));
        let sink_writer = SinkWriter {
            most: 3 * 1024 * 1024,
            ..sink_writer
        };
        let large = batch(1 << 20);
        let lost = || counts.too_fast.load(Ordering::Relaxed);
        for _ in 0..4 {
            sink_writer.offer(&large);
        }
        assert_eq!((queue.full.try_iter().count(), lost()), (2, 2));
        assert_eq!(counts.queued.load(Ordering::Relaxed), 2 * large.bytes());
        assert_eq!(counts.unsettled(), 2);
        // One that is larger than all that there may be goes alone.
        counts.queued.store(0, Ordering::Relaxed);
        let alone = SinkWriter {
            most: 1,
            ..sink_writer
        };
        alone.offer(&large);
        alone.offer(&large);
        assert_eq!((queue.full.try_iter().count(), lost()), (1, 3));
    }

    #[test]
    fn there_is_room_for_the_last_batches_and_they_come_last() {
        let counts = Arc::new(Counts::default());
        let (first, queue) = way(2, Arc::clone(&counts));
        let second = first.clone();
        for _ in 0..QUEUED_BATCHES * 2 + 3 {
            first.offer(&batch(1));
        }
        assert_eq!(counts.too_fast.load(Ordering::Relaxed), 3);
        for sink_writer in [first, second] {
            sink_writer.offer_last(&batch(9));
        }
        assert_eq!(counts.too_fast.load(Ordering::Relaxed), 3);
        let sizes = std::iter::from_fn(|| queue.next()).map(|batch| batch.text_bytes());
        let sizes: Vec<usize> = sizes.collect();
        assert_eq!(sizes.len(), QUEUED_BATCHES * 2 + 2);
        assert!(sizes.ends_with(&[1, 9, 9]), "{sizes:?}");
    }
}
