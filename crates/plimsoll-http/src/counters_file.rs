//! A server's counters in a mapped file, so that they outlive the process: whatever kills it, the file holds the last value.
//!
//! The layout is [`plimsoll_base::counters`]. Each shard has its own row and is the only one that writes to it. This is the only file of
//! the project with `unsafe` code: views of mapped memory as atomic words. What is counted when is left to mock and gateway.
#![expect(
    unsafe_code,
    reason = "a file's memory can be shared with its readers only as mapped pages"
)]

use memmap2::{MmapMut, MmapOptions, MmapRaw};
use plimsoll_base::counters::{
    COUNTERS, Counter, HEADER_BYTES, ROW_BYTES, Totals, WORDS, bucket_of,
};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const _: () = assert!(
    cfg!(target_endian = "little"),
    "the file's words are little-endian"
);

/// The rows of all shards.
#[derive(Debug, Clone)]
pub struct CountersFile {
    map: Arc<MmapRaw>,
    shards: usize,
}

/// One shard's row.
#[derive(Debug, Clone)]
pub struct Row {
    file: CountersFile,
    shard: usize,
}

impl CountersFile {
    /// Makes the file anew with every counter at zero; without a path the counters live in memory only. Another server that still has
    /// a file of this name goes on with its own, which has no name any more.
    ///
    /// # Errors
    /// The system's, when the file cannot be made or mapped.
    pub fn create(path: Option<&Path>, shards: usize) -> io::Result<Self> {
        let empty = Totals::empty_file(shards);
        let map = if let Some(path) = path {
            let mut file = new_file(path)?;
            file.write_all(&empty)?;
            MmapOptions::new().len(empty.len()).map_raw(&file)?
        } else {
            let mut memory = MmapMut::map_anon(empty.len())?;
            memory.copy_from_slice(&empty);
            MmapRaw::from(memory)
        };
        Ok(Self {
            map: Arc::new(map),
            shards,
        })
    }

    /// The row of one shard. Only that shard's thread may write to it.
    ///
    /// # Panics
    /// When there is no such shard.
    #[must_use]
    pub fn row(&self, shard: usize) -> Row {
        assert!(shard < self.shards, "there is a row for every shard");
        Row {
            file: self.clone(),
            shard,
        }
    }

    /// The sum over all rows of one counter.
    #[must_use]
    pub fn total(&self, counter: Counter) -> u64 {
        (0..self.shards)
            .map(|shard| self.word(shard, counter as usize).load(Ordering::Relaxed))
            .sum()
    }

    fn word(&self, shard: usize, index: usize) -> &AtomicU64 {
        assert!(shard < self.shards && index < WORDS, "within the file");
        let offset = HEADER_BYTES + shard * ROW_BYTES + index * 8;
        // SAFETY: the offset lies within the map, whose length is that of a file with `shards` rows (asserted above), and is a
        // multiple of 8 from a page-aligned start. The map lives as long as `self`. All access within this process is atomic;
        // other processes only read copies of the file, which nobody but us opened for writing.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(offset).cast()) }
    }
}

/// A file that nobody else has mapped: one of that name is taken away first, not emptied under whoever uses it.
fn new_file(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
}

impl Row {
    /// Adds to a counter.
    pub fn add(&self, counter: Counter, amount: u64) {
        self.change(counter as usize, |count| count.wrapping_add(amount));
    }

    /// Takes back what was added too early.
    pub fn withdraw(&self, counter: Counter, amount: u64) {
        self.change(counter as usize, |count| count.wrapping_sub(amount));
    }

    /// Counts a time of the server's own.
    pub fn record(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.change(COUNTERS + bucket_of(nanos), |count| count.wrapping_add(1));
    }

    /// Nobody else writes to the row, so a plain load and store suffice, without a locked instruction.
    fn change(&self, index: usize, change: impl FnOnce(u64) -> u64) {
        let word = self.file.word(self.shard, index);
        word.store(change(word.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_in_the_file_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("counters");
        let counters = CountersFile::create(Some(&path), 2).unwrap();
        counters.row(0).add(Counter::Received, 3);
        counters.row(1).add(Counter::Received, 4);
        counters.row(1).add(Counter::Served, 2);
        counters.row(1).withdraw(Counter::Served, 1);
        counters.row(1).record(Duration::from_millis(3));
        let totals = Totals::read(&std::fs::read(&path).unwrap()).unwrap();
        let words = (totals.get(Counter::Received), totals.get(Counter::Served));
        assert_eq!(words, (7, 1));
        let times = totals.own_times();
        assert_eq!(times.count(), 1);
        assert!((times.max().unwrap() / 3e-3 - 1.0).abs() < 1.0 / 64.0);
        assert_eq!(counters.total(Counter::Received), 7);
    }

    #[test]
    fn a_second_server_on_the_same_file_leaves_the_first_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("counters");
        let [first, second] = [2, 1].map(|n| CountersFile::create(Some(&path), n).unwrap());
        first.row(1).add(Counter::Received, 3);
        second.row(0).add(Counter::Received, 4);
        assert_eq!(first.total(Counter::Received), 3);
        let totals = Totals::read(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(totals.get(Counter::Received), 4);
    }

    #[test]
    fn without_a_path_counters_still_count() {
        let counters = CountersFile::create(None, 1).unwrap();
        counters.row(0).add(Counter::Accepted, 1);
        assert_eq!(counters.total(Counter::Accepted), 1);
    }
}
