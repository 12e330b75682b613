//! The thread that writes records to the file.

use super::lines::{Lines, Sink};
use super::record::{Batch, write_line};
use super::{Feed, QUEUED_BATCHES};
use crate::controls::Output;
use crate::metrics::ShardMetrics;
use crate::server::Log;
use std::io::{self, Write};
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

/// Where a writer writes.
pub(crate) struct To {
    /// What messages call it.
    name: String,
    lines: Lines<Sink>,
}

impl To {
    /// The file at `path`, appended to, and made if it is missing.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
        Ok(Self {
            name: path.display().to_string(),
            lines: Lines::open(path)?,
        })
    }

    /// What the operator reads.
    pub(crate) fn output(output: Output) -> Self {
        Self {
            name: "standard output".to_owned(),
            lines: Lines::of(output),
        }
    }
}

/// The writer thread. It ends when every [`Feed`] is gone and everything queued is written.
#[derive(Debug)]
pub(crate) struct Writer {
    thread: JoinHandle<()>,
    written: Arc<Written>,
}

impl Writer {
    /// Starts a writer with one feed per shard. `log` is told when the destination takes no more records, and when it does again.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub(crate) fn start(
        to: To,
        shards: &[Arc<ShardMetrics>],
        log: Log,
    ) -> io::Result<(Self, Vec<Feed>)> {
        let (full, queue) = sync_channel(QUEUED_BATCHES * shards.len());
        let mut returns = Vec::new();
        let mut feeds = Vec::new();
        for (shard, metrics) in shards.iter().enumerate() {
            let (back, empty) = sync_channel(QUEUED_BATCHES);
            returns.push(back);
            feeds.push(Feed {
                batch: Batch::new(shard, Arc::default()),
                full: full.clone(),
                empty,
                metrics: Arc::clone(metrics),
            });
        }
        let written = Arc::new(Written::default());
        let destination = Destination {
            path: to.name,
            lines: to.lines,
            log,
            counts: Arc::clone(&written),
            outage: None,
        };
        let thread = std::thread::Builder::new()
            .name("analytics".to_owned())
            .spawn(move || write_all(destination, &queue, &returns))?;
        Ok((Self { thread, written }, feeds))
    }

    /// The counts, which go on being updated.
    pub(crate) fn written(&self) -> Arc<Written> {
        Arc::clone(&self.written)
    }

    /// Waits until everything is written; returns how many records the file did not take. Every feed must be gone.
    ///
    /// # Panics
    /// When the writer panicked.
    pub(crate) fn join(self) -> u64 {
        self.thread.join().expect("the analytics writer panicked");
        self.written.failed.load(Ordering::Relaxed)
    }
}

fn write_all(
    mut destination: Destination<impl Write>,
    queue: &Receiver<Batch>,
    returns: &[SyncSender<Batch>],
) {
    let mut lines = Vec::new();
    while let Ok(mut batch) = queue.recv() {
        lines.clear();
        for (record, phases, text) in batch.iter() {
            write_line(&mut lines, &batch.names, record, phases, text);
        }
        destination.write(&lines, batch.len() as u64);
        batch.clear();
        if returns[batch.shard].try_send(batch).is_err() {
            // The shard has enough spare batches, or has ended: this one is freed.
        }
    }
}

/// Where records go, and who hears of it when they do not arrive.
struct Destination<W> {
    path: String,
    lines: Lines<W>,
    log: Log,
    counts: Arc<Written>,
    /// While the file takes no more: how many records that has cost so far.
    outage: Option<u64>,
}

impl<W: Write> Destination<W> {
    /// Writes `records` records, one a line, as far as they go.
    fn write(&mut self, lines: &[u8], records: u64) {
        let shortfall = self.lines.append(lines).err();
        let lost = (shortfall.as_ref()).map_or(0, |shortfall| records - shortfall.whole);
        (self.counts.records).fetch_add(records - lost, Ordering::Relaxed);
        self.counts.failed.fetch_add(lost, Ordering::Relaxed);
        let path = &self.path;
        let told = match (&shortfall, self.outage) {
            (Some(shortfall), None) => Some(format!(
                "{path}: analytics cannot be written and are lost until they can: {}",
                shortfall.error
            )),
            (None, Some(lost)) => Some(format!(
                "{path}: analytics are written again; {lost} records were lost"
            )),
            _ => None,
        };
        if let Some(told) = told {
            (self.log)(&told);
        }
        self.outage = shortfall.map(|_| self.outage.unwrap_or(0) + lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn an_outage_is_told_once_when_it_begins_and_once_when_it_ends() {
        let told = Arc::new(Mutex::new(String::new()));
        let hear = Arc::clone(&told);
        let mut destination = Destination {
            path: "analytics.jsonl".to_owned(),
            lines: Lines::on_disk(6),
            log: Arc::new(move |line| *hear.lock().unwrap() += &format!("{line}\n")),
            counts: Arc::default(),
            outage: None,
        };
        destination.write(b"1\n2\n", 2);
        destination.write(b"three\n4\n", 2);
        destination.write(b"five\n", 1);
        destination.lines.disk().room = 100;
        destination.write(b"6\n", 1);
        destination.write(b"7\n", 1);
        assert_eq!(destination.lines.disk().content, b"1\n2\n6\n7\n");
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = &destination.counts;
        assert_eq!((count(&counts.records), count(&counts.failed)), (4, 3));
        insta::assert_snapshot!(told.lock().unwrap(), @r"
        analytics.jsonl: analytics cannot be written and are lost until they can: no storage space
        analytics.jsonl: analytics are written again; 3 records were lost
        ");
    }
}
