//! The thread that writes records to the file.

use super::record::{Batch, Names, write_line};
use super::{Feed, QUEUED_BATCHES};
use crate::metrics::ShardMetrics;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Counts of the writer, read by the metrics page.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Records in the file.
    pub(crate) records: AtomicU64,
    /// Records that the file system refused.
    pub(crate) failed: AtomicU64,
}

/// The writer thread. It ends when every [`Feed`] is gone and everything queued is written.
#[derive(Debug)]
pub(crate) struct Writer {
    thread: JoinHandle<()>,
    written: Arc<Written>,
}

impl Writer {
    /// Opens `path` for appending and starts a writer with one feed per shard.
    ///
    /// # Errors
    /// When the file cannot be opened or the thread cannot be made.
    pub(crate) fn start(
        path: &Path,
        names: Names,
        shards: &[Arc<ShardMetrics>],
    ) -> io::Result<(Self, Vec<Feed>)> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let (full, queue) = sync_channel(QUEUED_BATCHES * shards.len());
        let mut returns = Vec::new();
        let mut feeds = Vec::new();
        for (shard, metrics) in shards.iter().enumerate() {
            let (back, empty) = sync_channel(QUEUED_BATCHES);
            returns.push(back);
            feeds.push(Feed {
                batch: Batch::new(shard),
                full: full.clone(),
                empty,
                metrics: Arc::clone(metrics),
            });
        }
        let written = Arc::new(Written::default());
        let counts = Arc::clone(&written);
        let thread = std::thread::Builder::new()
            .name("analytics".to_owned())
            .spawn(move || write_all(file, &names, &queue, &returns, &counts))?;
        Ok((Self { thread, written }, feeds))
    }

    /// The counts, which go on being updated.
    pub(crate) fn written(&self) -> Arc<Written> {
        Arc::clone(&self.written)
    }

    /// Waits until everything is written. Every feed must be gone.
    ///
    /// # Panics
    /// When the writer panicked.
    pub(crate) fn join(self) {
        self.thread.join().expect("the analytics writer panicked");
    }
}

fn write_all(
    mut file: File,
    names: &Names,
    queue: &Receiver<Batch>,
    returns: &[SyncSender<Batch>],
    counts: &Written,
) {
    let mut lines = Vec::new();
    while let Ok(mut batch) = queue.recv() {
        lines.clear();
        for (record, text) in batch.iter() {
            write_line(&mut lines, names, record, text);
        }
        let count = match file.write_all(&lines) {
            Ok(()) => &counts.records,
            Err(_) => &counts.failed,
        };
        count.fetch_add(batch.len() as u64, Ordering::Relaxed);
        batch.clear();
        if returns[batch.shard].try_send(batch).is_err() {
            // The shard has enough spare batches, or has ended: this one is freed.
        }
    }
}
