//! Upstreams as one shard sees them: endpoints, how many exchanges each has under way, and idle connections.
//!
//! Each shard counts and pools for itself, so nothing here is locked. Whether to retry is decided in [`crate::exchange`].

pub(crate) mod balance;

use crate::config::{Balance, UpstreamConfig};
use plimsoll_http::{ConnectError, Limits, Pool, PoolLimits, TcpClient, connect};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// An upstream of one shard.
#[derive(Debug)]
pub(crate) struct Upstream {
    endpoints: Vec<Endpoint>,
    balance: Balance,
    /// Where round robin goes on.
    next: Cell<usize>,
    max_pending: u32,
    connect_timeout: Duration,
    pub(crate) response_head_timeout: Duration,
    limits: Limits,
    pool: RefCell<Pool>,
}

#[derive(Debug)]
struct Endpoint {
    address: SocketAddr,
    authority: String,
    pending: Cell<u32>,
}

/// An endpoint that was chosen for an exchange; counts as pending until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    upstream: &'a Upstream,
    index: usize,
}

/// What choosing among upstreams of every shard needs to know about them.
pub(crate) struct Placement {
    /// Which shard this is.
    pub(crate) shard: usize,
    /// How many there are.
    pub(crate) shards: usize,
}

impl Upstream {
    /// An upstream over `addresses`, which are those of the configured endpoints in their order.
    pub(crate) fn new(
        config: &UpstreamConfig,
        addresses: &[SocketAddr],
        limits: Limits,
        placement: &Placement,
    ) -> Self {
        let endpoints = config.endpoints.iter().zip(addresses);
        let shards = u32::try_from(placement.shards).unwrap_or(u32::MAX);
        Self {
            endpoints: endpoints
                .map(|(endpoint, address)| Endpoint {
                    address: *address,
                    authority: endpoint.authority(),
                    pending: Cell::new(0),
                })
                .collect(),
            balance: config.balance,
            // Shards begin at different endpoints, so that few requests spread as well as many.
            next: Cell::new(placement.shard % config.endpoints.len()),
            max_pending: config.max_pending.div_ceil(shards),
            connect_timeout: config.connect_timeout,
            response_head_timeout: config.response_head_timeout,
            limits,
            pool: RefCell::new(Pool::new(PoolLimits {
                idle_per_endpoint: config.idle_connections.div_ceil(shards) as usize,
                idle_timeout: config.idle_timeout,
            })),
        }
    }

    /// Chooses an endpoint that is below its limit and not in `tried`.
    pub(crate) fn choose(&self, tried: &[usize]) -> Option<Slot<'_>> {
        let load = |index: usize| {
            let pending = self.endpoints[index].pending.get();
            (pending < self.max_pending && !tried.contains(&index)).then_some(pending)
        };
        let from = self.next.get();
        let index = match self.balance {
            Balance::RoundRobin => balance::round_robin(self.endpoints.len(), from, load),
            Balance::LeastPending => balance::least_pending(self.endpoints.len(), from, load),
        }?;
        self.next.set((index + 1) % self.endpoints.len());
        let pending = &self.endpoints[index].pending;
        pending.set(pending.get() + 1);
        Some(Slot {
            upstream: self,
            index,
        })
    }

    /// How many connections are idle.
    pub(crate) fn idle(&self) -> usize {
        self.pool.borrow().idle()
    }

    /// Closes connections that have been idle too long.
    pub(crate) fn close_expired(&self, now: Instant) {
        self.pool.borrow_mut().close_expired(now);
    }
}

impl Slot<'_> {
    /// Which endpoint it is.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The endpoint's `Host`.
    pub(crate) fn authority(&self) -> &str {
        &self.endpoint().authority
    }

    /// An idle connection that its peer has not closed.
    pub(crate) fn pooled(&self, now: Instant) -> Option<TcpClient> {
        let address = self.endpoint().address;
        self.upstream.pool.borrow_mut().take(&address, now)
    }

    /// A new connection.
    pub(crate) async fn connect(&self) -> Result<TcpClient, ConnectError> {
        let upstream = self.upstream;
        connect(
            self.endpoint().address,
            upstream.connect_timeout,
            upstream.limits,
        )
        .await
    }

    /// Gives a connection back for reuse, if it is fit for it.
    pub(crate) fn give_back(&self, connection: TcpClient, now: Instant) {
        let address = self.endpoint().address;
        self.upstream
            .pool
            .borrow_mut()
            .put(address, connection, now);
    }

    fn endpoint(&self) -> &Endpoint {
        &self.upstream.endpoints[self.index]
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let pending = &self.endpoint().pending;
        pending.set(pending.get() - 1);
    }
}
