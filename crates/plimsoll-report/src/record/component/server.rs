//! A server's own statistics, beside the resources of its processes: PostgreSQL's and Redis's.
//!
//! `None` is not stated by the server. A field is a level, a mean or a count, and merges as such.

use crate::record::figures::merging_record;

merging_record! {
    /// Of one sample of a server, or of several merged.
    pub struct ServerStatistics {
        /// Connections of clients that were open; over all samples their mean.
        connections: f64, Count, mean;
        /// How many it admits of ordinary clients: PostgreSQL's `max_connections` without those that are reserved, Redis's `maxclients`.
        connections_limit: u64, Count, highest;
        /// Of these, the share that was open, the probe's own among them; over all samples the largest.
        connections_share: f64, Share, highest;
        /// Connections that it refused because there were too many.
        connections_rejected: u64, Count, sum;
        /// PostgreSQL: sessions that carried out a statement; over all samples their mean.
        active: f64, Count, mean;
        /// PostgreSQL: sessions that were within a transaction and waited for their client; over all samples their mean.
        idle_in_transaction: f64, Count, mean;
        /// PostgreSQL: sessions that waited for a lock that another held; over all samples their mean.
        lock_waiters: f64, Count, mean;
        /// PostgreSQL: sessions that waited for a lock of the server's own (`LWLock`); over all samples their mean.
        latch_waiters: f64, Count, mean;
        /// PostgreSQL: sessions that waited for a disk; over all samples their mean.
        io_waiters: f64, Count, mean;
        /// Redis: clients that waited in a blocking command; over all samples their mean.
        blocked_clients: f64, Count, mean;
        /// Redis: CPU of the thread that carries out all commands, in cores; over all samples its mean.
        main_thread_cores: f64, Cores, mean;
        /// Redis: how long a round of its event loop took, in seconds; over all samples the mean.
        loop_s: f64, Seconds, mean;
        /// Redis: the share of `maxmemory` that was used; over all samples the largest.
        data_memory_share: f64, Share, highest;
        /// Commands that Redis carried out, or transactions that PostgreSQL ended.
        operations: u64, Count, sum;
        /// PostgreSQL: of these, rolled back.
        rollbacks: u64, Count, sum;
        /// PostgreSQL: deadlocks that it found and broke.
        deadlocks: u64, Count, sum;
        /// PostgreSQL: blocks that were found in its cache; Redis: keys that were found.
        hits: u64, Count, sum;
        /// PostgreSQL: blocks that were not; Redis: keys that were not found.
        misses: u64, Count, sum;
        /// PostgreSQL: bytes of temporary files that queries wrote.
        temporary_bytes: u64, Bytes, sum;
        /// PostgreSQL: checkpoints that were due by time.
        checkpoints_timed: u64, Count, sum;
        /// PostgreSQL: checkpoints that were asked for, as when so much was written that one was needed at once.
        checkpoints_requested: u64, Count, sum;
        /// Redis: keys that were thrown out because `maxmemory` was reached.
        evicted_keys: u64, Count, sum;
    }
}

impl ServerStatistics {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The share of what it looked for that it found in its memory; `None` where it looked for nothing.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn hit_share(&self) -> Option<f64> {
        let (hits, misses) = (self.hits?, self.misses?);
        (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_merge_by_what_each_field_is() {
        let mut own = ServerStatistics {
            connections: Some(10.0),
            connections_share: Some(0.1),
            deadlocks: Some(1),
            ..ServerStatistics::default()
        };
        let other = ServerStatistics {
            connections: Some(20.0),
            connections_share: Some(0.2),
            deadlocks: Some(2),
            lock_waiters: Some(4.0),
            ..ServerStatistics::default()
        };
        own.merge(&other, (3.0, 1.0));
        let expected = ServerStatistics {
            connections: Some(12.5),
            connections_share: Some(0.2),
            deadlocks: Some(3),
            lock_waiters: Some(4.0),
            ..ServerStatistics::default()
        };
        assert_eq!(own, expected);
        assert!(!own.is_empty() && ServerStatistics::default().is_empty());
    }

    #[test]
    fn hits_are_a_share_of_what_was_looked_for() {
        let of = |hits, misses| ServerStatistics {
            hits,
            misses,
            ..ServerStatistics::default()
        };
        assert_eq!(of(Some(9), Some(1)).hit_share(), Some(0.9));
        assert_eq!(of(Some(0), Some(0)).hit_share(), None);
        assert_eq!(of(Some(3), None).hit_share(), None);
    }
}
