//! Outcomes of a sink's records, counted where they are decided.

use crate::record::Batch;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Outcomes of a sink's records. Read by the metrics page.
#[derive(Debug, Default)]
pub struct Counts {
    /// Records that the sink has taken.
    pub written: AtomicU64,
    /// Records that the sink does not take.
    pub refused: AtomicU64,
    /// Records that came faster than they were collected.
    pub too_fast: AtomicU64,
    /// Records that there was no room for while the sink was away.
    pub no_room: AtomicU64,
    /// Records that wait for the sink now.
    pub waiting: AtomicU64,
    /// Bytes of batches between the shards and the sink_worker.
    pub(crate) queued: AtomicUsize,
    /// Records that were pushed and are neither written, nor lost, nor on disk.
    unsettled: AtomicU64,
}

impl Counts {
    /// A shard sends a batch; bytes of those before it.
    pub(crate) fn enters_queue(&self, batch: &Batch) -> usize {
        let records = batch.len() as u64;
        self.unsettled.fetch_add(records, Ordering::Relaxed);
        self.queued.fetch_add(batch.bytes(), Ordering::Relaxed)
    }

    /// The sink_worker has taken it.
    pub(crate) fn leaves_queue(&self, batch: &Batch) {
        self.queued.fetch_sub(batch.bytes(), Ordering::Relaxed);
    }

    /// The outcome of so many records is known and counted.
    pub(crate) fn settled(&self, records: u64) {
        self.unsettled.fetch_sub(records, Ordering::Relaxed);
    }

    /// Records of which it is not.
    pub(crate) fn unsettled(&self) -> u64 {
        self.unsettled.load(Ordering::Relaxed)
    }

    /// Records that are lost, by why.
    pub fn lost(&self) -> [(&'static str, u64); 3] {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        [
            ("refused", read(&self.refused)),
            ("too_fast", read(&self.too_fast)),
            ("no_room", read(&self.no_room)),
        ]
    }
}
