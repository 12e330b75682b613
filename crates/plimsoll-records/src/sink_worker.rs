//! Worker that carries records from the shards to one sink, on threads of its own.
//!
//! ```text
//! shards --batches--> bounded queue --> writes them                         a file, standard output
//!                                   \-> collects --> backlog --> delivers   a server, which may be away
//! ```
//!
//! A sink that is away is asked again every [`BETWEEN_TRIES`]; meanwhile its records wait in the [`Backlog`], and the shards know nothing of it.

use crate::backlog::{Backlog, Load, Next, SpoolPlace};
use crate::counts::Counts;
use crate::entry::Entry;
use crate::record::Batch;
use crate::sink::{Failed, Opened, Sink};
use crate::sink_writer::Queue;
use crate::thread::Thread;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::log::Log;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use tokio::time::Instant;

/// Between two tries of a sink that is away.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// Between two times that the operator is told of records that a server does not take.
const BETWEEN_REFUSALS: Duration = Duration::from_secs(60);
/// How long records are waited for at a time.
const LOOK: Duration = Duration::from_secs(1);
/// How long is written or delivered when nothing more comes; what then waits on disk is for the next start.
const LAST: Duration = Duration::from_secs(5);
/// How long a server may take for what is being delivered then, and the disk for what is to be kept.
const UNDER_WAY: Duration = Duration::from_secs(7);

/// The threads of one sink.
#[derive(Debug)]
pub(crate) struct SinkWorker {
    name: String,
    counts: Arc<Counts>,
    threads: Vec<Thread<u64>>,
    /// How long they may take when no shard can send any more.
    patience: Duration,
}

/// Batches that a shard may fill again, for each shard.
pub(crate) type Returns = Arc<[SyncSender<Batch>]>;

impl SinkWorker {
    /// Starts the threads. They end when no shard can send any more and everything is written, or kept at `place`.
    ///
    /// # Errors
    /// When a thread cannot be made, or the spool cannot be used.
    pub(crate) fn start(
        opened: Opened,
        queue: Queue,
        returns: Returns,
        place: Option<SpoolPlace>,
        (counts, log): (Arc<Counts>, Log),
    ) -> io::Result<Self> {
        let Opened {
            kind,
            name,
            sink,
            remote,
        } = opened;
        let mut carrying = Carrying {
            sink,
            counts: Arc::clone(&counts),
            outage: Outage {
                name: name.clone(),
                log: Arc::clone(&log),
                since: None,
                refused: None,
            },
        };
        let name_of = |what: &str| format!("{what}-{kind}");
        let mut threads = Vec::new();
        if remote {
            let backlog = Backlog::new(&name, place, Arc::clone(&counts), log)?;
            let backlog = Arc::new(backlog);
            let (collected, counted) = (Arc::clone(&backlog), Arc::clone(&counts));
            threads.push(Thread::start(name_of("collect"), move || {
                while let Some(batch) = queue.next() {
                    counted.leaves_queue(&batch);
                    collected.push(batch);
                }
                collected.end();
                0
            })?);
            let deliver = move || carrying.deliver(&backlog, &returns);
            threads.push(Thread::start(name_of("deliver"), deliver)?);
        } else {
            threads.push(Thread::start(name_of("write"), move || {
                while let Some(batch) = queue.next() {
                    carrying.counts.leaves_queue(&batch);
                    carrying.write(&batch);
                    give_back(batch, &returns);
                }
                0
            })?);
        }
        Ok(Self {
            name,
            counts,
            threads,
            patience: if remote { LAST + UNDER_WAY } else { LAST },
        })
    }

    /// Waits for the end, which has begun at `begun`, and says what was lost and what is kept. Threads that something blocks are left.
    ///
    /// # Panics
    /// When one of its threads panicked.
    pub(crate) fn join(self, begun: Instant, log: &Log) {
        let deadline = begun + self.patience;
        let threads = self.threads.into_iter();
        let ends: Vec<Option<u64>> = threads.map(|thread| thread.join(deadline)).collect();
        let kept: u64 = ends.iter().flatten().sum();
        let name = self.name;
        if kept > 0 {
            log(&format!(
                "{name}: {kept} records wait in its spool for the next start"
            ));
        }
        let blocked = ends.contains(&None);
        if blocked {
            let seconds = self.patience.as_secs();
            log(&format!(
                "{name}: it has stalled for {seconds} s and is not waited for any longer"
            ));
        }
        let [(_, refused), (_, too_fast), (_, no_room)] = self.counts.lost();
        let left = if blocked { self.counts.unsettled() } else { 0 };
        let sum = refused + too_fast + no_room + left;
        let untaken = match left {
            0 => String::new(),
            left => format!(", {left} that it had not taken at the end"),
        };
        if sum > 0 {
            log(&format!(
                "{name}: {sum} records were lost: {refused} that it did not take, {too_fast} that came too fast, {no_room} that there was no room for while it was away{untaken}"
            ));
        }
    }
}

/// One sink, and what is known of it.
struct Carrying {
    sink: Box<dyn Sink>,
    counts: Arc<Counts>,
    outage: Outage,
}

impl Carrying {
    /// Writes a batch, now or never.
    fn write(&mut self, batch: &Batch) {
        let entries: Vec<Entry<'_>> = batch.entries().collect();
        let records = entries.len() as u64;
        let (lost, why) = match self.sink.deliver(&entries) {
            Ok(()) => (0, None),
            Err(Failed::Lost { records, why }) => (records, Some(why)),
            Err(Failed::Away(why)) => (records, Some(why)),
        };
        self.counts
            .written
            .fetch_add(records - lost, Ordering::Relaxed);
        self.counts.refused.fetch_add(lost, Ordering::Relaxed);
        self.counts.settled(records);
        self.outage.note_loss(lost, why);
    }

    /// Delivers what the backlog has until nothing more comes; how many records stay on disk.
    fn deliver(mut self, backlog: &Backlog, returns: &Returns) -> u64 {
        let mut last: Option<Instant> = None;
        loop {
            let load = match backlog.next(LOOK) {
                Next::Deliver(load) => load,
                Next::Wait => continue,
                Next::End => return backlog.settle(),
            };
            let ended = backlog.is_ended();
            let now = Instant::now();
            if ended && now >= *last.get_or_insert(now + LAST) {
                backlog.put_back(load);
                return backlog.settle();
            }
            if self.hand_over(&load) {
                backlog.done(&load);
                if let Load::Memory(batches) = load {
                    let batches = batches.into_iter();
                    batches.for_each(|batch| give_back(batch, returns));
                }
                continue;
            }
            backlog.put_back(load);
            if ended {
                return backlog.settle();
            }
            backlog.pause(BETWEEN_TRIES);
        }
    }

    /// Has the sink take these records; whether it did, or never will.
    fn hand_over(&mut self, load: &Load) -> bool {
        let entries: Vec<Entry<'_>> = match load {
            Load::Memory(batches) => batches.iter().flat_map(|batch| batch.entries()).collect(),
            Load::Disk(portion) => portion.entries(),
        };
        let records = match load {
            Load::Memory(_) => entries.len() as u64,
            Load::Disk(portion) => portion.records,
        };
        let unreadable = records - entries.len() as u64;
        let lost = match self.sink.deliver(&entries) {
            Ok(()) => unreadable,
            Err(Failed::Lost { records, why }) => {
                self.outage.refuses(records, &why);
                unreadable + records
            }
            Err(Failed::Away(why)) => {
                self.outage.begin(&why);
                return false;
            }
        };
        self.outage.end();
        self.counts
            .written
            .fetch_add(records - lost, Ordering::Relaxed);
        self.counts.refused.fetch_add(lost, Ordering::Relaxed);
        if let Load::Memory(_) = load {
            self.counts.settled(records);
        }
        true
    }
}

/// Has a shard fill a batch again, if nobody else holds it.
fn give_back(batch: Arc<Batch>, returns: &Returns) {
    if let Some(mut batch) = Arc::into_inner(batch) {
        batch.clear();
        let shard = batch.shard;
        returns[shard]
            .try_send(batch)
            .ignored("the shard has enough spare batches, or has ended: this one is freed");
    }
}

/// While a sink takes nothing: who hears of it, once when it begins and once when it ends.
struct Outage {
    name: String,
    log: Log,
    /// Records that it has cost so far.
    since: Option<u64>,
    /// When records that a server does not take were told of last.
    refused: Option<Instant>,
}

impl Outage {
    /// A sink without a backlog has lost so many of the records that it was given, or none.
    fn note_loss(&mut self, lost: u64, why: Option<String>) {
        let name = &self.name;
        match (why, self.since) {
            (Some(why), None) => (self.log)(&format!(
                "{name}: analytics cannot be written and are lost until they can: {why}"
            )),
            (None, Some(lost)) => (self.log)(&format!(
                "{name}: analytics are written again; {lost} records were lost"
            )),
            (Some(_), Some(_)) => {}
            (None, None) => return,
        }
        self.since = (lost > 0).then(|| self.since.unwrap_or(0) + lost);
    }

    /// A sink that is there does not take so many records.
    fn refuses(&mut self, records: u64, why: &str) {
        let now = Instant::now();
        let is_due = |told: Instant| now.duration_since(told) >= BETWEEN_REFUSALS;
        if self.refused.is_none_or(is_due) {
            self.refused = Some(now);
            let name = &self.name;
            (self.log)(&format!(
                "{name} did not take some records, which are lost: {records} at once ({why})"
            ));
        }
    }

    /// A sink is away.
    fn begin(&mut self, why: &str) {
        if self.since.is_none() {
            self.since = Some(0);
            let name = &self.name;
            (self.log)(&format!(
                "{name} takes no records: they wait until it does ({why})"
            ));
        }
    }

    /// It is back.
    fn end(&mut self) {
        if self.since.take().is_some() {
            (self.log)(&format!("{} takes records again", self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, Words};
    use std::collections::VecDeque;
    use std::sync::Mutex;

    /// Does with each batch what it is told to.
    struct Scripted(VecDeque<Result<(), Failed>>);

    impl Sink for Scripted {
        fn deliver(&mut self, _: &[Entry<'_>]) -> Result<(), Failed> {
            self.0.pop_front().unwrap()
        }
    }

    #[test]
    fn an_outage_is_told_once_when_it_begins_and_once_when_it_ends() {
        let full = |records| {
            Err(Failed::Lost {
                records,
                why: "no storage space".to_owned(),
            })
        };
        let told = Arc::new(Mutex::new(String::new()));
        let hear = Arc::clone(&told);
        let counts = Arc::new(Counts::default());
        let mut carrying = Carrying {
            sink: Box::new(Scripted(VecDeque::from([
                Ok(()),
                full(1),
                full(2),
                Ok(()),
                Ok(()),
            ]))),
            counts: Arc::clone(&counts),
            outage: Outage {
                name: "records.jsonl".to_owned(),
                log: Arc::new(move |line| *hear.lock().unwrap() += &format!("{line}\n")),
                since: None,
                refused: None,
            },
        };
        let mut batch = Batch::new(0, Arc::default());
        for _ in 0..2 {
            batch.push(Record::default(), None, &Words::default());
        }
        for _ in 0..5 {
            counts.enters_queue(&batch);
            carrying.write(&batch);
        }
        let written = counts.written.load(Ordering::Relaxed);
        assert_eq!((written, counts.lost()[0].1), (7, 3));
        assert_eq!(counts.unsettled(), 0);
        insta::assert_snapshot!(told.lock().unwrap(), @r"
        records.jsonl: analytics cannot be written and are lost until they can: no storage space
        records.jsonl: analytics are written again; 3 records were lost
        ");
    }
}
