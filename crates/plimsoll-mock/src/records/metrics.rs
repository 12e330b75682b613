//! Metrics of each stub: how often it was asked, how long it took, which delay was meant and how late that ended.
//!
//! Each shard writes rows of its own, so that a request costs a few plain additions and no lock; [`crate::admin`] adds them up. A stub gets its
//! row when it first answers. So many as [`MOST_STUBS`] have one each, the rest share one. Where all are taken, that of a stub which is gone is given
//! on, and what it counted moves to the shared one: the sums over all rows never fall.

use plimsoll_http::meters::{Buckets, Counter};
use plimsoll_wiremock::stub::Stub;
use plimsoll_wiremock::stub::place::StubRow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

/// Stubs that have a row of their own.
const MOST_STUBS: usize = 1_000;
/// The row of all others.
const OTHERS: u32 = 0;

/// The rows of all stubs on all shards.
#[derive(Debug)]
pub(crate) struct Metrics {
    shards: Box<[ShardRows]>,
    /// By shard: times that a client waited to be accepted because no descriptor was left.
    exhausted: Box<[Arc<Counter>]>,
    /// A blocking lock: it is held when a stub first answers, for one look-up and perhaps to hand on a row, and while somebody adds up all rows.
    names: Mutex<Names>,
}

/// The rows of one shard, by their places; each is made when it is first needed.
#[derive(Debug)]
struct ShardRows(Box<[OnceLock<Box<Row>>]>);

/// Who has which row.
#[derive(Debug, Default)]
struct Names {
    /// By id, so that a stub that is edited keeps its row.
    places: HashMap<String, u32>,
    /// Who has them, in the order of their places; the first is nobody's.
    holders: Vec<Holder>,
}

/// Who has a row.
#[derive(Debug, Default)]
struct Holder {
    label: Label,
    /// Gone when the stub is: removed, answered with, and no longer in the journal.
    stub: Weak<StubRow>,
}

/// How a row is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// Counts of one stub on one shard, or on all.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Requests that it matched.
    pub(crate) requests: Counter,
    /// From a request's head to its answer handed to the system, of those that were answered.
    pub(crate) service_time: Buckets,
    /// Delays that were meant, where there was one.
    pub(crate) delay: Buckets,
    /// How much longer each of them took.
    pub(crate) lateness: Buckets,
}

/// A row that is known, 0 being that of the others; `None` is for what no stub answers.
pub(crate) type Known = Option<u32>;

impl Metrics {
    /// Nothing was counted yet, on so many shards.
    pub(crate) fn new(shards: usize) -> Self {
        let rows = |_| ShardRows((0..=MOST_STUBS).map(|_| OnceLock::new()).collect());
        Self {
            shards: (0..shards).map(rows).collect(),
            exhausted: (0..shards).map(|_| Arc::default()).collect(),
            names: Mutex::new(Names {
                holders: vec![Holder::of_others()],
                ..Names::default()
            }),
        }
    }

    /// Counts, for one shard, clients that wait to be accepted because no descriptor is left.
    pub(crate) fn exhausted(&self, shard: usize) -> Arc<Counter> {
        Arc::clone(&self.exhausted[shard])
    }

    /// Times that a client had to wait to be accepted because no descriptor was left, over all shards.
    pub(crate) fn times_exhausted(&self) -> u64 {
        self.exhausted.iter().map(|shard| shard.get()).sum()
    }

    /// Counts a request of a shard that this stub matched; where its row is.
    pub(crate) fn matched(&self, shard: usize, stub: &Stub) -> Known {
        let place = stub.place.row();
        let place = place.unwrap_or_else(|| self.assign(shard, stub));
        self.row(shard, place).requests.add(1);
        Some(place)
    }

    /// Notes how long an answer took.
    pub(crate) fn served(&self, shard: usize, place: Known, time: Duration) {
        if let Some(place) = place {
            self.row(shard, place).service_time.record(time);
        }
    }

    /// Notes a delay that was meant, and how much longer it took.
    pub(crate) fn delayed(&self, shard: usize, place: Known, meant: Duration, late: Duration) {
        if let Some(place) = place {
            let row = self.row(shard, place);
            row.delay.record(meant);
            row.lateness.record(late);
        }
    }

    /// Sums over all shards of every row that was ever used, by its label. No row changes hands meanwhile, so that nothing is missing
    /// or there twice.
    pub(crate) fn rows(&self) -> Vec<(Label, Row)> {
        let names = self.lock();
        let mut sums = Vec::with_capacity(names.holders.len());
        for (place, holder) in names.holders.iter().enumerate() {
            let shards = self.shards.iter();
            let mut rows = shards.filter_map(|shard| shard.0[place].get()).peekable();
            if rows.peek().is_some() {
                let sum = Row::default();
                rows.for_each(|row| sum.merge(row));
                sums.push((holder.label.clone(), sum));
            }
        }
        sums
    }

    fn row(&self, shard: usize, place: u32) -> &Row {
        self.shards[shard].0[place as usize].get_or_init(Box::default)
    }

    /// Finds the row of a stub that answers for the first time, on this shard.
    fn assign(&self, shard: usize, stub: &Stub) -> u32 {
        let mut names = self.lock();
        let id = stub.id.to_string();
        let found = names.places.get(&id).copied();
        let place = found.unwrap_or_else(|| match names.free() {
            None => OTHERS,
            Some(place) => {
                let former = std::mem::take(&mut names.holders[place as usize]);
                if names.places.remove(&former.label.id).is_some() {
                    self.hand_on(shard, place);
                }
                names.places.insert(id.clone(), place);
                place
            }
        });
        if place != OTHERS {
            let holder = &mut names.holders[place as usize];
            holder.stub = Arc::downgrade(&stub.place);
            if found.is_none() {
                let name = stub.document.get("name").and_then(|name| name.as_str());
                let name = name.unwrap_or_default().to_owned();
                holder.label = Label { id, name };
            }
        }
        stub.place.set(place);
        place
    }

    /// Moves what was counted in a row to the others, whose row on this shard is this thread's to write. An answer that is still on its way
    /// from who had the row is counted for who has it now.
    fn hand_on(&self, shard: usize, place: u32) {
        let others = self.row(shard, OTHERS);
        let rows = self.shards.iter();
        for row in rows.filter_map(|rows| rows.0[place as usize].get()) {
            others.take(row);
        }
    }

    /// A change that panicked has left whole entries.
    fn lock(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    /// Adds what another has.
    fn merge(&self, other: &Self) {
        self.requests.add(other.requests.get());
        self.service_time.merge(&other.service_time);
        self.delay.merge(&other.delay);
        self.lateness.merge(&other.lateness);
    }

    /// Adds what another has, which has nothing then. Nobody may write the other meanwhile.
    fn take(&self, other: &Self) {
        self.requests.take(&other.requests);
        self.service_time.take(&other.service_time);
        self.delay.take(&other.delay);
        self.lateness.take(&other.lateness);
    }
}

impl Holder {
    /// Who stands for all that have no row of their own.
    fn of_others() -> Self {
        let label = Label {
            id: "other".to_owned(),
            name: String::new(),
        };
        Self {
            label,
            stub: Weak::new(),
        }
    }
}

impl Names {
    /// A place for one more: a new one, or that of a stub which is gone.
    fn free(&mut self) -> Option<u32> {
        let next = self.holders.len();
        let is_gone = |holder: &Holder| holder.stub.strong_count() == 0;
        let place = match next {
            ..=MOST_STUBS => {
                self.holders.push(Holder::default());
                next
            }
            _ => 1 + self.holders.iter().skip(1).position(is_gone)?,
        };
        u32::try_from(place).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_wiremock::reader::surroundings::Surroundings;
    use plimsoll_wiremock::stub::read_mapping;
    use plimsoll_wiremock::stub::state::StateMachines;
    use plimsoll_wiremock::stub_id::StubId;

    fn stub(number: u64) -> Stub {
        let mapping = read_mapping(r#"{"name": "n"}"#, &Surroundings::default()).unwrap();
        mapping.place(
            StubId::minted(0, number),
            number,
            &mut StateMachines::default(),
        )
    }

    #[test]
    fn who_comes_late_shares_a_row_or_has_that_of_one_that_is_gone() {
        let metrics = Metrics::new(2);
        let mut stubs: Vec<Stub> = (0..MOST_STUBS as u64 + 2).map(stub).collect();
        for (number, stub) in stubs.iter().enumerate() {
            metrics.matched(number % 2, stub);
        }
        let rows = metrics.rows();
        assert_eq!(rows.len(), MOST_STUBS + 1);
        let counts = |(label, row): &(Label, Row)| (label.id.clone(), row.requests.get());
        // On both shards.
        assert_eq!(counts(&rows[0]), ("other".to_owned(), 2));
        assert_eq!((&*rows[1].0.name, rows[1].1.requests.get()), ("n", 1));
        let gone = stubs.remove(4);
        let place = metrics.matched(1, &gone);
        metrics.served(1, place, Duration::from_millis(1));
        drop(gone);
        let late = stub(5_000);
        assert_eq!(metrics.matched(0, &late), place);
        let rows = metrics.rows();
        let its = &rows[place.unwrap() as usize];
        assert_eq!(counts(its), (late.id.to_string(), 1));
        assert_eq!(its.1.service_time.sum_micros(), 0);
        // What the one before it had is not lost.
        assert_eq!(counts(&rows[0]), ("other".to_owned(), 4));
        assert_eq!(rows[0].1.service_time.sum_micros(), 1_000);
        assert_eq!(metrics.matched(0, &stub(5_001)), Some(OTHERS));
    }

    #[test]
    fn an_edited_stub_keeps_its_row() {
        let metrics = Metrics::new(1);
        let before = stub(7);
        let first = metrics.matched(0, &before);
        assert_eq!(metrics.matched(0, &stub(7)), first);
        metrics.served(0, first, Duration::from_millis(1));
        metrics.served(0, None, Duration::from_millis(1));
        let rows = metrics.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].1.requests.get(), 2);
        assert_eq!(rows[0].1.service_time.sum_micros(), 1000);
    }

    #[test]
    fn sums_never_fall_while_rows_are_handed_on() {
        let metrics = Metrics::new(1);
        let others: Vec<Stub> = (1..MOST_STUBS as u64).map(stub).collect();
        for stub in &others {
            metrics.matched(0, stub);
        }
        // Each has the row of the one before it, and for about as long as a reading takes.
        let come_and_go = || {
            for number in 5_000..5_100 {
                let stub = stub(number);
                for _ in 0..20_000 {
                    metrics.matched(0, &stub);
                }
            }
        };
        std::thread::scope(|scope| {
            let shard = scope.spawn(come_and_go);
            let mut before = 0;
            while !shard.is_finished() {
                let rows = metrics.rows();
                let sum: u64 = rows.iter().map(|(_, row)| row.requests.get()).sum();
                assert!(sum >= before, "{sum} after {before}");
                before = sum;
            }
        });
    }
}
