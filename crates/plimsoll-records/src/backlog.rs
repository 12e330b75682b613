//! Records that wait for one sink: a few in memory, and on disk what has to wait for longer.
//!
//! In memory are the oldest, up to [`MEMORY_RECORDS`] and [`MEMORY_BYTES`]; what comes while they are as many, or while anything is on
//! disk, goes there. When the sink is away, everything goes to disk at once, so that a killed process loses no more than it must. Without a
//! spool the memory is all that there is.

use crate::counts::Counts;
use crate::record::Batch;
use crate::spool::{Portion, Spool};
use plimsoll_base::log::Log;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Records that wait in memory.
const MEMORY_RECORDS: usize = 64 * 1024;
/// Bytes of memory that they may have.
const MEMORY_BYTES: usize = 64 * 1024 * 1024;
/// Records that are delivered at a time.
const AT_ONCE: usize = 1024;
/// Bytes of such records, unless one alone has more.
const BYTES_AT_ONCE: usize = 8 * 1024 * 1024;

/// Where a spool is, and how large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpoolPlace {
    pub(crate) directory: PathBuf,
    pub(crate) bytes: u64,
}

/// Records that wait for a sink.
pub(crate) struct Backlog {
    /// Blocking: taken for moments by the thread that collects and by the one that delivers, of which one may write to disk.
    state: Mutex<State>,
    changed: Condvar,
    counts: Arc<Counts>,
    log: Log,
    /// The sink's name in messages.
    name: String,
}

#[derive(Default)]
struct State {
    memory: VecDeque<Arc<Batch>>,
    records: usize,
    /// Bytes in memory.
    bytes: usize,
    spool: Option<Spool>,
    /// A spool that could not be opened yet: another process has it.
    wanted: Option<SpoolPlace>,
    /// Nothing more comes.
    ended: bool,
    /// That the spool does not take records has been told.
    told: bool,
}

impl State {
    fn has_room_for(&self, batch: &Batch) -> bool {
        self.records + batch.len() <= MEMORY_RECORDS && self.bytes + batch.bytes() <= MEMORY_BYTES
    }

    /// A batch comes into memory.
    fn count(&mut self, batch: &Batch) {
        self.records += batch.len();
        self.bytes += batch.bytes();
    }

    /// The oldest in memory, as many as are delivered at a time.
    fn take(&mut self) -> Vec<Arc<Batch>> {
        let (mut batches, mut records, mut bytes, mut text) = (Vec::new(), 0, 0, 0);
        while let Some(batch) = self.memory.front() {
            records += batch.len();
            text += batch.text_bytes();
            if !batches.is_empty() && (records > AT_ONCE || text > BYTES_AT_ONCE) {
                records -= batch.len();
                break;
            }
            bytes += batch.bytes();
            batches.extend(self.memory.pop_front());
        }
        self.records -= records;
        self.bytes -= bytes;
        batches
    }

    /// Everything in memory.
    fn drain(&mut self) -> Vec<Arc<Batch>> {
        (self.records, self.bytes) = (0, 0);
        self.memory.drain(..).collect()
    }
}

/// Where records are put on disk.
#[derive(Clone, Copy)]
enum End {
    Front,
    Back,
}

/// Records to be delivered.
pub(crate) enum Load {
    Memory(Vec<Arc<Batch>>),
    Disk(Portion),
}

/// The next thing to do.
pub(crate) enum Next {
    Deliver(Load),
    /// Nothing, for now.
    Wait,
    /// Nothing, and nothing more comes.
    End,
}

impl Backlog {
    /// The backlog of the sink `name`, beginning with the records that an earlier process left at `place`.
    ///
    /// # Errors
    /// The system's, when the spool cannot be used; one that another process has is waited for.
    pub(crate) fn new(
        name: &str,
        place: Option<SpoolPlace>,
        counts: Arc<Counts>,
        log: Log,
    ) -> io::Result<Self> {
        let backlog = Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            counts,
            log,
            name: name.to_owned(),
        };
        if let Some(place) = place {
            let mut state = backlog.state();
            state.wanted = Some(place);
            backlog.open_spool(&mut state)?;
            if let Some(place) = &state.wanted {
                let directory = place.directory.display();
                (backlog.log)(&format!(
                    "{name}: another process has the spool {directory}: until it ends, records wait in memory"
                ));
            }
        }
        Ok(backlog)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_spool(&self, state: &mut State) -> io::Result<()> {
        let Some(SpoolPlace { directory, bytes }) = &state.wanted else {
            return Ok(());
        };
        let (spool, found) = match Spool::open(directory, *bytes) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => {
                let named = format!("the spool {}: {error}", directory.display());
                return Err(io::Error::new(error.kind(), named));
            }
        };
        let (name, directory) = (&self.name, directory.display());
        if found.torn > 0 {
            let torn = found.torn;
            (self.log)(&format!(
                "{name}: {directory}: {torn} bytes at the end were no whole record, and were cut off"
            ));
        }
        if found.foreign > 0 {
            let foreign = found.foreign;
            (self.log)(&format!(
                "{name}: {foreign} files in {directory} are another version's: they stay, and take their part of the spool's bytes"
            ));
        }
        if found.records > 0 {
            let records = found.records;
            (self.log)(&format!(
                "{name}: {records} records of an earlier process wait in {directory}"
            ));
        }
        (state.spool, state.wanted) = (Some(spool), None);
        self.note(state);
        Ok(())
    }

    /// Keeps records until the sink takes them; what there is no room for is lost, and counted.
    pub(crate) fn push(&self, batch: Arc<Batch>) {
        let mut state = self.state();
        let on_disk = state.spool.as_ref().is_some_and(|spool| !spool.is_empty());
        // What has to wait does not hold memory that it does not need.
        let batch = if state.memory.is_empty() {
            batch
        } else {
            Batch::compact(batch)
        };
        if !on_disk && state.has_room_for(&batch) {
            state.count(&batch);
            state.memory.push_back(batch);
        } else {
            self.keep(&mut state, &[batch], End::Back);
        }
        self.note(&state);
        drop(state);
        self.changed.notify_one();
    }

    /// Nothing more comes.
    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_one();
    }

    /// Whether nothing more comes.
    pub(crate) fn is_ended(&self) -> bool {
        self.state().ended
    }

    /// Waits so long, or until nothing more comes.
    pub(crate) fn pause(&self, time: Duration) {
        let state = self.state();
        let waited = (self.changed).wait_timeout_while(state, time, |state| !state.ended);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// The next records to deliver; waits for them so long at most.
    pub(crate) fn next(&self, patience: Duration) -> Next {
        let mut state = self.state();
        if state.wanted.is_some() && self.open_spool(&mut state).is_err() {
            state.wanted = None;
        }
        if let Some(load) = self.load(&mut state) {
            return Next::Deliver(load);
        }
        if state.ended {
            return Next::End;
        }
        let waited = self.changed.wait_timeout(state, patience);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        match self.load(&mut state) {
            Some(load) => Next::Deliver(load),
            None => Next::Wait,
        }
    }

    fn load(&self, state: &mut State) -> Option<Load> {
        let batches = state.take();
        if !batches.is_empty() {
            return Some(Load::Memory(batches));
        }
        let next = state.spool.as_mut()?.next(AT_ONCE, BYTES_AT_ONCE);
        match next {
            Ok(portion) => portion.map(Load::Disk),
            Err(error) => {
                self.tell(state, &error);
                None
            }
        }
    }

    /// The sink has taken these, or never will.
    pub(crate) fn done(&self, load: &Load) {
        let mut state = self.state();
        if let (Load::Disk(portion), Some(spool)) = (load, &mut state.spool)
            && let Err(error) = spool.delivered(portion)
        {
            self.tell(&mut state, &error);
        }
        self.note(&state);
    }

    /// The sink is away: these wait again, before all others, and everything else that can waits on disk.
    pub(crate) fn put_back(&self, load: Load) {
        let mut state = self.state();
        if let Load::Memory(mut batches) = load {
            let kept = state.spool.is_some().then(|| {
                batches.extend(state.drain());
                self.store(&mut state, &batches, End::Front)
            });
            match kept.flatten() {
                Some(kept) => self.settle_of(&batches, kept),
                // A disk that is full costs nothing that there is memory for.
                None => {
                    for batch in batches.into_iter().rev().map(Batch::compact) {
                        state.count(&batch);
                        state.memory.push_front(batch);
                    }
                }
            }
        }
        self.note(&state);
    }

    /// Nothing is delivered any more: what is left is kept on disk, or lost and counted. How many records were kept.
    pub(crate) fn settle(&self) -> u64 {
        let mut state = self.state();
        let batches = state.drain();
        self.keep(&mut state, &batches, End::Front);
        self.note(&state);
        state.spool.as_ref().map_or(0, Spool::records)
    }

    /// Puts records on disk; what there is no room for is lost.
    fn keep(&self, state: &mut State, batches: &[Arc<Batch>], end: End) {
        let kept = self.store(state, batches, end).unwrap_or(0);
        self.settle_of(batches, kept);
    }

    /// Puts records on disk; how many there was room for, and `None` if the disk takes none.
    fn store(&self, state: &mut State, batches: &[Arc<Batch>], end: End) -> Option<u64> {
        let entries = batches.iter().flat_map(|batch| batch.entries());
        let kept = match (state.spool.as_mut()?, end) {
            (spool, End::Front) => spool.prepend(entries),
            (spool, End::Back) => spool.append(entries),
        };
        match kept {
            Ok(kept) => {
                if kept > 0 && std::mem::take(&mut state.told) {
                    (self.log)(&format!("{}: its spool can be used again", self.name));
                }
                Some(kept)
            }
            Err(error) => {
                self.tell(state, &error);
                None
            }
        }
    }

    /// So many of these records are on disk, and the others are lost.
    fn settle_of(&self, batches: &[Arc<Batch>], kept: u64) {
        let records: usize = batches.iter().map(|batch| batch.len()).sum();
        let records = records as u64;
        (self.counts.no_room).fetch_add(records - kept, Ordering::Relaxed);
        self.counts.settled(records);
    }

    fn tell(&self, state: &mut State, error: &io::Error) {
        if !state.told {
            state.told = true;
            (self.log)(&format!("{}: its spool cannot be used: {error}", self.name));
        }
    }

    /// Says how many wait.
    fn note(&self, state: &State) {
        let on_disk = state.spool.as_ref().map_or(0, Spool::records);
        let waiting = state.records as u64 + on_disk;
        self.counts.waiting.store(waiting, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, RecordWord, Words};

    fn batch(records: usize, bytes: usize) -> Arc<Batch> {
        let mut words = Words::default();
        words.put(RecordWord::Response, &"x".repeat(bytes));
        let mut batch = Batch::new(0, Arc::default());
        for _ in 0..records {
            batch.push(Record::default(), None, &words);
        }
        Arc::new(batch)
    }

    fn backlog() -> Backlog {
        let counts = Arc::new(Counts::default());
        Backlog::new("sink", None, counts, Arc::new(|_| ())).unwrap()
    }

    fn lost(backlog: &Backlog) -> u64 {
        backlog.counts.no_room.load(Ordering::Relaxed)
    }

    #[test]
    fn what_waits_in_memory_is_bounded_by_bytes() {
        let backlog = backlog();
        for _ in 0..100 {
            backlog.push(batch(1, 1 << 20));
        }
        // Each has room for records beside its words.
        let waiting = backlog.state().records;
        assert!((56..64).contains(&waiting), "{waiting}");
        assert_eq!(lost(&backlog), 100 - waiting as u64);
    }

    #[test]
    fn a_load_is_bounded_by_bytes_and_has_one_batch_at_least() {
        let backlog = backlog();
        for bytes in [1 << 20, 5 << 20, 5 << 20, 20 << 20, 1] {
            backlog.push(batch(1, bytes));
        }
        let mut loads = Vec::new();
        while let Some(load) = backlog.load(&mut backlog.state()) {
            let Load::Memory(batches) = load else {
                panic!("there is no disk");
            };
            loads.push(batches.len());
        }
        assert_eq!(loads, [2, 1, 1, 1]);
        let state = backlog.state();
        assert_eq!((state.records, state.bytes), (0, 0));
    }

    #[test]
    fn small_batches_hold_little_memory_while_they_wait() {
        let backlog = backlog();
        for _ in 0..4096 {
            backlog.push(batch(1, 100));
        }
        assert_eq!((backlog.state().records, lost(&backlog)), (4096, 0));
        assert!(backlog.state().bytes < 4096 * 1024);
    }

    #[test]
    fn a_full_disk_costs_nothing_that_there_is_memory_for() {
        let dir = tempfile::tempdir().unwrap();
        let place = SpoolPlace {
            directory: dir.path().join("sink"),
            bytes: 1 << 20,
        };
        let told = Arc::new(Mutex::new(String::new()));
        let hear = Arc::clone(&told);
        let log = Arc::new(move |line: &str| *hear.lock().unwrap() += &format!("{line}\n"));
        let backlog = Backlog::new("sink", Some(place), Arc::default(), log).unwrap();
        let spool = |change: fn(&mut Spool)| change(backlog.state().spool.as_mut().unwrap());
        let is_away = || {
            let Next::Deliver(load) = backlog.next(Duration::ZERO) else {
                panic!("records wait");
            };
            backlog.put_back(load);
            let state = backlog.state();
            let on_disk = state.spool.as_ref().map_or(0, Spool::records);
            (state.records, on_disk, lost(&backlog))
        };
        spool(Spool::disk_is_full);
        for _ in 0..3 {
            backlog.push(batch(10, 100));
        }
        assert_eq!(is_away(), (30, 0, 0));
        assert_eq!(is_away(), (30, 0, 0));
        spool(Spool::disk_has_room);
        assert_eq!(is_away(), (0, 30, 0));
        // What comes while others are on disk belongs behind them.
        spool(Spool::disk_is_full);
        backlog.push(batch(10, 100));
        assert_eq!(is_away(), (0, 30, 10));
        assert_eq!(backlog.settle(), 30);
        insta::assert_snapshot!(told.lock().unwrap(), @r"
        sink: its spool cannot be used: no storage space
        sink: its spool can be used again
        sink: its spool cannot be used: no storage space
        ");
    }
}
