//! Numbers that a server keeps for who watches it: one shard writes them, anybody may read them, and they are added up when somebody does.
//!
//! Counters that survive the process are in [`crate::counters_file`]; how all of them are printed, in [`crate::operations::exposition`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number that one shard writes and anybody reads.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `more`. Only the owning shard calls this, so a plain load and store suffice, without a locked instruction.
    pub fn add(&self, more: u64) {
        let sum = self.0.load(Ordering::Relaxed).wrapping_add(more);
        self.0.store(sum, Ordering::Relaxed);
    }

    /// Sets it to `value`, for quantities that rise and fall.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Adds what another has, which has nothing then. Nobody may write the other meanwhile.
    pub fn take(&self, other: &Self) {
        self.add(other.0.swap(0, Ordering::Relaxed));
    }

    /// The current value.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper edges of the histograms' buckets, in microseconds; a last bucket has none.
pub const BUCKET_MICROS: [u64; 18] = [
    20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000,
];

/// A histogram of times with fixed buckets.
#[derive(Debug, Default)]
pub struct Buckets {
    counts: [Counter; BUCKET_MICROS.len() + 1],
    sum_micros: Counter,
}

impl Buckets {
    /// Records one time.
    pub fn record(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKET_MICROS.partition_point(|edge| *edge < micros);
        self.counts[bucket].add(1);
        self.sum_micros.add(micros);
    }

    /// Adds what another has, which has nothing then. Nobody may write the other meanwhile.
    pub fn take(&self, other: &Self) {
        for (own, theirs) in self.counts.iter().zip(&other.counts) {
            own.take(theirs);
        }
        self.sum_micros.take(&other.sum_micros);
    }

    /// Adds what another has, which keeps it.
    pub fn merge(&self, other: &Self) {
        for (own, theirs) in self.counts.iter().zip(&other.counts) {
            own.add(theirs.get());
        }
        self.sum_micros.add(other.sum_micros());
    }

    /// The count of bucket `index`; the last one follows that of the last edge.
    ///
    /// # Panics
    /// When there is no such bucket.
    #[must_use]
    pub fn count(&self, index: usize) -> u64 {
        self.counts[index].get()
    }

    /// The sum of all times, in microseconds.
    #[must_use]
    pub fn sum_micros(&self) -> u64 {
        self.sum_micros.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_belongs_to_its_bucket() {
        let buckets = Buckets::default();
        for micros in [0, 20, 21, 2_000_000, 2_000_001, 10_000_000, 10_000_001] {
            buckets.record(Duration::from_micros(micros));
        }
        let counts: Vec<u64> = (0..=BUCKET_MICROS.len())
            .map(|i| buckets.count(i))
            .collect();
        assert_eq!((counts[0], counts[1]), (2, 1));
        assert_eq!(counts[15..], [1, 1, 1, 1]);
        assert_eq!(buckets.sum_micros(), 24_000_043);
        let all = Buckets::default();
        all.record(Duration::ZERO);
        all.merge(&buckets);
        assert_eq!((all.count(0), all.count(18)), (3, 1));
        assert_eq!((all.sum_micros(), buckets.count(0)), (24_000_043, 2));
        all.take(&buckets);
        assert_eq!((all.count(0), all.count(18)), (5, 2));
        assert_eq!((buckets.count(0), buckets.sum_micros()), (0, 0));
    }
}
