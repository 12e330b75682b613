//! What a server says of itself, beside what its processes use: PostgreSQL's statistics and Redis's.
//!
//! What is `None` it does not say. A field is a level, a mean or a count, and merges as such.

use super::strain::{Weights, highest, mean, sum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of one sample of a server, or of several merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ServerStatistics {
    /// Connections of clients that were open; over all samples their mean.
    pub connections: Option<f64>,
    /// How many it admits of ordinary clients: PostgreSQL's `max_connections` without those that are reserved, Redis's `maxclients`.
    pub connections_limit: Option<u64>,
    /// Of these, the share that was open, the probe's own among them; over all samples the largest.
    pub connections_share: Option<f64>,
    /// Connections that it refused because there were too many.
    pub connections_rejected: Option<u64>,
    /// PostgreSQL: sessions that carried out a statement; over all samples their mean.
    pub active: Option<f64>,
    /// PostgreSQL: sessions that were within a transaction and waited for their client; over all samples their mean.
    pub idle_in_transaction: Option<f64>,
    /// PostgreSQL: sessions that waited for a lock that another held; over all samples their mean.
    pub lock_waiters: Option<f64>,
    /// PostgreSQL: sessions that waited for a lock of the server's own (`LWLock`); over all samples their mean.
    pub latch_waiters: Option<f64>,
    /// PostgreSQL: sessions that waited for a disk; over all samples their mean.
    pub io_waiters: Option<f64>,
    /// Redis: clients that waited in a blocking command; over all samples their mean.
    pub blocked_clients: Option<f64>,
    /// Redis: CPU of the thread that carries out all commands, in cores; over all samples its mean.
    pub main_thread_cores: Option<f64>,
    /// Redis: how long a round of its event loop took, in seconds; over all samples the mean.
    pub loop_s: Option<f64>,
    /// Redis: the share of `maxmemory` that was used; over all samples the largest.
    pub data_memory_share: Option<f64>,
    /// Commands that Redis carried out, or transactions that PostgreSQL ended.
    pub operations: Option<u64>,
    /// PostgreSQL: of these, rolled back.
    pub rollbacks: Option<u64>,
    /// PostgreSQL: deadlocks that it found and broke.
    pub deadlocks: Option<u64>,
    /// PostgreSQL: blocks that were found in its cache; Redis: keys that were found.
    pub hits: Option<u64>,
    /// PostgreSQL: blocks that were not; Redis: keys that were not found.
    pub misses: Option<u64>,
    /// PostgreSQL: bytes of temporary files that queries wrote.
    pub temporary_bytes: Option<u64>,
    /// PostgreSQL: checkpoints that were due by time.
    pub checkpoints_timed: Option<u64>,
    /// PostgreSQL: checkpoints that were asked for, as when so much was written that one was needed at once.
    pub checkpoints_requested: Option<u64>,
    /// Redis: keys that were thrown out because `maxmemory` was reached.
    pub evicted_keys: Option<u64>,
}

impl ServerStatistics {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds another part's. Counts add up, levels keep the highest, means are weighted by `seconds`.
    pub(super) fn merge(&mut self, other: &Self, seconds: Weights) {
        highest(&mut self.connections_limit, other.connections_limit);
        highest(&mut self.connections_share, other.connections_share);
        highest(&mut self.data_memory_share, other.data_memory_share);
        for (own, added) in [
            (&mut self.connections, other.connections),
            (&mut self.active, other.active),
            (&mut self.idle_in_transaction, other.idle_in_transaction),
            (&mut self.lock_waiters, other.lock_waiters),
            (&mut self.latch_waiters, other.latch_waiters),
            (&mut self.io_waiters, other.io_waiters),
            (&mut self.blocked_clients, other.blocked_clients),
            (&mut self.main_thread_cores, other.main_thread_cores),
            (&mut self.loop_s, other.loop_s),
        ] {
            mean(own, added, seconds);
        }
        for (own, added) in [
            (&mut self.connections_rejected, other.connections_rejected),
            (&mut self.operations, other.operations),
            (&mut self.rollbacks, other.rollbacks),
            (&mut self.deadlocks, other.deadlocks),
            (&mut self.hits, other.hits),
            (&mut self.misses, other.misses),
            (&mut self.temporary_bytes, other.temporary_bytes),
            (&mut self.checkpoints_timed, other.checkpoints_timed),
            (&mut self.checkpoints_requested, other.checkpoints_requested),
            (&mut self.evicted_keys, other.evicted_keys),
        ] {
            sum(own, added);
        }
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
