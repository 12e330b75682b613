//! Idle client connections, kept for reuse: one pool per shard, so it needs no lock.

use crate::connection::TcpClient;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// How much a pool keeps.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Idle connections per peer; a further one is closed.
    pub idle_per_endpoint: usize,
    /// How long a connection may be idle and still be used; keep it below the peer's own idle timeout.
    pub idle_timeout: Duration,
}

/// Idle connections by where they lead: an address, or whatever else tells those apart that may not stand in for each other.
#[derive(Debug)]
pub struct Pool<K = SocketAddr> {
    limits: PoolLimits,
    idle: HashMap<K, Vec<Idle>>,
}

#[derive(Debug)]
struct Idle {
    connection: TcpClient,
    since: Instant,
}

impl<K: Eq + Hash> Pool<K> {
    /// An empty pool.
    #[must_use]
    pub fn new(limits: PoolLimits) -> Self {
        Self {
            limits,
            idle: HashMap::new(),
        }
    }

    /// The connection to `peer` that became idle last, if its peer has not closed it; dead and expired ones are dropped.
    pub fn take(&mut self, peer: &K, now: Instant) -> Option<TcpClient> {
        let idle = self.idle.get_mut(peer)?;
        while let Some(newest) = idle.pop() {
            if now.duration_since(newest.since) >= self.limits.idle_timeout {
                // Everything below it is older still.
                idle.clear();
                return None;
            }
            if newest.connection.is_reusable() {
                return Some(newest.connection);
            }
        }
        None
    }

    /// Keeps a connection if it may be used again and there is room, else closes it.
    pub fn put(&mut self, peer: K, connection: TcpClient, now: Instant) {
        if !connection.is_reusable() {
            return;
        }
        let idle = self.idle.entry(peer).or_default();
        if idle.len() < self.limits.idle_per_endpoint {
            idle.push(Idle {
                connection,
                since: now,
            });
        }
    }

    /// Closes what has been idle too long; to be called now and then.
    pub fn close_expired(&mut self, now: Instant) {
        for idle in self.idle.values_mut() {
            idle.retain(|kept| now.duration_since(kept.since) < self.limits.idle_timeout);
        }
        self.idle.retain(|_, idle| !idle.is_empty());
    }

    /// How many connections are idle.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.idle.values().map(Vec::len).sum()
    }
}
