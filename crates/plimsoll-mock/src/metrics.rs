//! What each stub did, for who watches: how often it was asked, how long it took, which delay was meant and how late that ended.
//!
//! Each shard writes rows of its own, so that a request costs a few plain additions and no lock; [`crate::admin`] adds them up. A stub gets its
//! row when it first answers. The first [`MOST_STUBS`] have one each, the rest share one.

use crate::stub::Stub;
use plimsoll_http::meters::{Buckets, Counter};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Stubs that have a row of their own.
const MOST_STUBS: usize = 1_000;
/// The row of all others.
const OTHERS: u32 = 0;

/// The rows of all stubs on all shards.
#[derive(Debug)]
pub(crate) struct Metrics {
    shards: Box<[ShardRows]>,
    /// A blocking lock: it is held for one look-up, when a stub first answers and when somebody reads.
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
    /// Ids and names, in the order of their places; the first is nobody's.
    labels: Vec<Label>,
}

/// How a row is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// What one stub did on one shard.
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

/// Where a stub's row is. The answers of one stub share it.
#[derive(Debug, Default)]
pub(crate) struct Place(AtomicU32);

/// A place that is known: 0 for the others, and one more than it for who has a row; `None` is for what no stub answers.
pub(crate) type Known = Option<u32>;

/// What `Place` holds before its stub has answered.
const UNKNOWN: u32 = 0;

impl Metrics {
    /// Nothing was counted yet, on so many shards.
    pub(crate) fn new(shards: usize) -> Self {
        let rows = |_| ShardRows((0..=MOST_STUBS).map(|_| OnceLock::new()).collect());
        Self {
            shards: (0..shards).map(rows).collect(),
            names: Mutex::new(Names {
                labels: vec![Label::default()],
                ..Names::default()
            }),
        }
    }

    /// Counts a request of a shard that this stub matched; where its row is.
    pub(crate) fn matched(&self, shard: usize, stub: &Stub) -> Known {
        let place = match stub.place.0.load(Ordering::Relaxed) {
            UNKNOWN => self.assign(stub),
            known => known - 1,
        };
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

    /// Every row that was ever used, by how it is called: one for each shard that has it.
    pub(crate) fn rows(&self) -> Vec<(Label, Vec<&Row>)> {
        let mut labels = self.lock().labels.clone();
        labels[OTHERS as usize].id = "other".to_owned();
        let rows = |place: usize| {
            let shards = self.shards.iter();
            shards
                .filter_map(|shard| shard.0[place].get().map(Box::as_ref))
                .collect::<Vec<_>>()
        };
        let all = labels.into_iter().enumerate();
        all.map(|(place, label)| (label, rows(place)))
            .filter(|(_, rows)| !rows.is_empty())
            .collect()
    }

    fn row(&self, shard: usize, place: u32) -> &Row {
        self.shards[shard].0[place as usize].get_or_init(Box::default)
    }

    /// Finds the row of a stub that answers for the first time.
    fn assign(&self, stub: &Stub) -> u32 {
        let mut names = self.lock();
        let id = stub.id.to_string();
        let next = names.labels.len();
        let place = match names.places.get(&id) {
            Some(place) => *place,
            None if next > MOST_STUBS => OTHERS,
            None => {
                let name = stub.document.get("name").and_then(|name| name.as_str());
                let place = u32::try_from(next).unwrap_or(OTHERS);
                names.labels.push(Label {
                    id: id.clone(),
                    name: name.unwrap_or_default().to_owned(),
                });
                names.places.insert(id, place);
                place
            }
        };
        stub.place.0.store(place + 1, Ordering::Relaxed);
        place
    }

    /// A change that panicked has left whole entries.
    fn lock(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stub::id::StubId;
    use crate::stub::read_mapping;
    use crate::stub::surroundings::Surroundings;
    use crate::stub_state::StateMachines;

    fn stub(number: u64) -> Stub {
        let mapping = read_mapping(r#"{"name": "n"}"#, &Surroundings::default()).unwrap();
        mapping.place(
            StubId::minted(0, number),
            number,
            &mut StateMachines::default(),
        )
    }

    #[test]
    fn who_comes_late_shares_a_row() {
        let metrics = Metrics::new(2);
        for number in 0..MOST_STUBS as u64 + 2 {
            metrics.matched(usize::from(number % 2 == 0), &stub(number));
        }
        let rows = metrics.rows();
        assert_eq!(rows.len(), MOST_STUBS + 1);
        assert_eq!(rows[0].0.id, "other");
        let of_others: u64 = rows[0].1.iter().map(|row| row.requests.get()).sum();
        assert_eq!((of_others, rows[0].1.len()), (2, 2));
        assert_eq!((rows[1].0.name.as_str(), rows[1].1.len()), ("n", 1));
    }

    #[test]
    fn an_edited_stub_keeps_its_row() {
        let metrics = Metrics::new(1);
        let first = metrics.matched(0, &stub(7));
        assert_eq!(metrics.matched(0, &stub(7)), first);
        metrics.served(0, first, Duration::from_millis(1));
        metrics.served(0, None, Duration::from_millis(1));
        let rows = metrics.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].1[0].requests.get(), 2);
        assert_eq!(rows[0].1[0].service_time.sum_micros(), 1000);
    }
}
