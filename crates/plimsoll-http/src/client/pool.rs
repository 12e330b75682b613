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
    peers: HashMap<K, IdleConnections>,
}

/// Idle connections to one peer.
#[derive(Debug)]
pub struct IdleConnections {
    limits: PoolLimits,
    idle: Vec<Idle>,
}

#[derive(Debug)]
struct Idle {
    /// Boxed: it goes in and out with every exchange.
    connection: Box<TcpClient>,
    since: Instant,
}

impl IdleConnections {
    /// None yet.
    #[must_use]
    pub fn new(limits: PoolLimits) -> Self {
        let idle = Vec::new();
        Self { limits, idle }
    }

    /// The connection that became idle last, if its peer has not closed it; dead and expired ones are dropped.
    pub fn take(&mut self, now: Instant) -> Option<Box<TcpClient>> {
        while let Some(newest) = self.idle.pop() {
            if now.duration_since(newest.since) >= self.limits.idle_timeout {
                // Everything below it is older still.
                self.idle.clear();
                return None;
            }
            if newest.connection.is_idle() {
                return Some(newest.connection);
            }
        }
        None
    }

    /// Keeps a connection if it may be used again and there is room, else closes it.
    pub fn put(&mut self, mut connection: Box<TcpClient>, now: Instant) {
        if connection.is_reusable() && self.idle.len() < self.limits.idle_per_endpoint {
            connection.rest();
            self.idle.push(Idle {
                connection,
                since: now,
            });
        }
    }

    /// Closes what has been idle too long; to be called now and then.
    pub fn close_expired(&mut self, now: Instant) {
        let timeout = self.limits.idle_timeout;
        self.idle
            .retain(|kept| now.duration_since(kept.since) < timeout);
    }

    /// How many connections are idle.
    #[must_use]
    pub fn len(&self) -> usize {
        self.idle.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.idle.is_empty()
    }
}

impl<K: Eq + Hash> Pool<K> {
    /// An empty pool.
    #[must_use]
    pub fn new(limits: PoolLimits) -> Self {
        Self {
            limits,
            peers: HashMap::new(),
        }
    }

    /// As [`IdleConnections::take`], of those to `peer`.
    pub fn take(&mut self, peer: &K, now: Instant) -> Option<Box<TcpClient>> {
        self.peers.get_mut(peer)?.take(now)
    }

    /// As [`IdleConnections::put`], beside those to `peer`.
    pub fn put(&mut self, peer: K, connection: Box<TcpClient>, now: Instant) {
        let idle = self.peers.entry(peer);
        let idle = idle.or_insert_with(|| IdleConnections::new(self.limits));
        idle.put(connection, now);
    }

    /// Closes what has been idle too long; to be called now and then.
    pub fn close_expired(&mut self, now: Instant) {
        self.peers.retain(|_, idle| {
            idle.close_expired(now);
            !idle.is_empty()
        });
    }

    /// How many connections are idle.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.peers.values().map(IdleConnections::len).sum()
    }
}
