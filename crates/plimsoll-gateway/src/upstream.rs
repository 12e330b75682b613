//! Upstreams as one shard sees them: endpoints, how many exchanges each has under way, and idle connections.
//!
//! Each shard counts and pools for itself, so nothing here is locked; only the endpoints' health is every shard's. When to retry is decided
//! in [`crate::exchange`], whether there are retries left in [`retry_budget`].

mod balance;
mod check;
pub(crate) mod dial;
pub(crate) mod health;
mod http2;
pub(crate) mod place;
mod retry_budget;

use crate::config::{Balance, Check, HashBy, Spoken, UpstreamConfig};
use balance::Balancer;
use check::Verdict;
use dial::{DialError, Way};
use health::Health;
use http2::Sessions;
use place::EndpointPlace;
use plimsoll_base::reason::Reason;
use plimsoll_http::{ConnectError, IdleConnections, Limits, PoolLimits, RequestHead, TcpClient};
use retry_budget::RetryBudget;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// An upstream of one shard.
#[derive(Debug)]
pub(crate) struct Upstream {
    endpoints: Vec<Endpoint>,
    balancer: Balancer,
    /// By what requests are told apart, where endpoints are chosen by that.
    hash_by: Option<HashBy>,
    /// Kept only where something looks after it.
    health: Option<Arc<Health>>,
    /// Statuses that speak against an endpoint's health.
    bad_statuses: Vec<u16>,
    check: Option<Check>,
    /// Which endpoints this shard checks: each so manieth from this one on.
    checks_from: usize,
    checks_step: usize,
    /// The checks, once begun; they end with the upstream.
    checks: RefCell<Option<JoinSet<()>>>,
    retries: RetryBudget,
    /// Where endpoints speak HTTP/2, or may.
    sessions: Option<Sessions>,
    max_pending: u32,
    connect_timeout: Duration,
    pub(crate) response_head_timeout: Duration,
    limits: Limits,
}

#[derive(Debug)]
struct Endpoint {
    way: Way,
    authority: String,
    pending: Cell<u32>,
    /// Of this endpoint alone: another of the same address may be known by another name.
    idle: RefCell<IdleConnections>,
}

/// An endpoint that was chosen for an exchange; counts as pending until it is dropped, unless it is for what goes beside the exchanges.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    upstream: &'a Upstream,
    index: usize,
    chosen: Instant,
    /// It counts as pending.
    counts: bool,
}

/// Inputs of the choice of an endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    /// Endpoints that were tried already.
    pub(crate) tried: &'a [usize],
    /// Key of the request: see [`Upstream::key_of`].
    pub(crate) key: u64,
    pub(crate) now: Instant,
}

/// Facts about the upstreams of every shard that choosing among them needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    /// Which shard this is.
    pub(crate) shard: usize,
    /// How many there are.
    pub(crate) shards: usize,
}

impl Upstream {
    /// An upstream over `addresses`, which are those of the configured endpoints in their order, as far as they have any; `health` is what [`Self::health_of`]
    /// made for all shards.
    pub(crate) fn new(
        config: &UpstreamConfig,
        addresses: &[Option<SocketAddr>],
        health: Option<Arc<Health>>,
        limits: Limits,
        placement: &Placement,
        now: Instant,
    ) -> Self {
        let shards = u32::try_from(placement.shards).unwrap_or(u32::MAX);
        let kept = PoolLimits {
            idle_per_endpoint: config.idle_connections().div_ceil(shards) as usize,
            idle_timeout: config.idle_timeout,
        };
        let endpoints = config.endpoints.iter().zip(addresses).enumerate();
        let endpoints: Vec<Endpoint> = endpoints
            .map(|(index, (endpoint, address))| Endpoint {
                way: Way {
                    place: EndpointPlace::new(*address, endpoint.name(), endpoint.port),
                    connector: config.tls.as_ref().map(|tls| tls.connector(index)),
                    spoken: config.spoken,
                },
                authority: endpoint.authority(),
                pending: Cell::new(0),
                idle: RefCell::new(IdleConnections::new(kept)),
            })
            .collect();
        let names: Vec<&str> = endpoints.iter().map(|e| e.authority.as_str()).collect();
        let ejection = config.ejection.as_ref();
        Self {
            balancer: Balancer::new(&config.balance, &names, placement.shard),
            endpoints,
            hash_by: match &config.balance {
                Balance::ConsistentHash(by) => Some(by.clone()),
                Balance::RoundRobin | Balance::LeastPending | Balance::PeakEwma => None,
            },
            health,
            bad_statuses: ejection.map_or(Vec::new(), |rules| rules.statuses.clone()),
            check: config.check.clone(),
            checks_from: placement.shard,
            checks_step: placement.shards,
            checks: RefCell::default(),
            sessions: (config.spoken != Spoken::Http1)
                .then(|| Sessions::new(config.endpoints.len(), limits, config.tls.is_some())),
            retries: RetryBudget::new(config.retry, placement.shards, now),
            max_pending: config.max_pending.div_ceil(shards),
            connect_timeout: config.connect_timeout,
            response_head_timeout: config.response_head_timeout,
            limits,
        }
    }

    /// The health of the endpoints of `config`, for all shards; `None` where nothing looks after it.
    pub(crate) fn health_of(config: &UpstreamConfig, now: Instant) -> Option<Arc<Health>> {
        let watched = config.ejection.is_some() || config.check.is_some();
        let health = || Health::new(config.endpoints.len(), config.ejection.clone(), now);
        watched.then(|| Arc::new(health()))
    }

    /// Key of a request where endpoints are chosen by it: a field, else its client's address. Otherwise anything.
    pub(crate) fn key_of(&self, head: &RequestHead, peer: &str) -> u64 {
        match &self.hash_by {
            None => 0,
            Some(HashBy::Client) => balance::hash_of(peer.as_bytes()),
            Some(HashBy::Header(name)) => {
                balance::hash_of(head.fields().get(name).unwrap_or(peer.as_bytes()))
            }
        }
    }

    /// Chooses an endpoint that is below its limit, in use and not tried already.
    pub(crate) fn choose(&self, wish: Wish<'_>) -> Option<Slot<'_>> {
        let in_use = |index| {
            let health = self.health.as_ref();
            health.is_none_or(|health| health.in_use(index, wish.now))
        };
        let load = |index: usize| {
            let pending = self.endpoints[index].pending.get();
            let usable = pending < self.max_pending && !wish.tried.contains(&index);
            (usable && in_use(index)).then_some(pending)
        };
        let count = self.endpoints.len();
        let index = self.balancer.choose(count, wish.key, wish.now, load)?;
        let pending = &self.endpoints[index].pending;
        pending.set(pending.get() + 1);
        Some(Slot {
            upstream: self,
            index,
            chosen: wish.now,
            counts: true,
        })
    }

    /// Chooses an endpoint for a request that takes nothing from the exchanges: it is not pending.
    pub(crate) fn choose_beside(&self, wish: Wish<'_>) -> Option<Slot<'_>> {
        let mut slot = self.choose(wish)?;
        slot.uncount();
        Some(slot)
    }

    /// A request came that may be sent again if need be.
    pub(crate) fn earn_retry(&self) {
        self.retries.request();
    }

    /// Whether a request may be sent again.
    pub(crate) fn take_retry(&self, now: Instant) -> bool {
        self.retries.take(now)
    }

    /// The endpoints' health, if something looks after it.
    pub(crate) fn health(&self) -> Option<&Health> {
        self.health.as_deref()
    }

    /// Begins the checks of the endpoints that are this shard's, unless that has been done. To be called in the shard's runtime.
    pub(crate) fn start_checks(&self) {
        let (Some(rules), Some(health)) = (&self.check, &self.health) else {
            return;
        };
        self.checks.borrow_mut().get_or_insert_with(|| {
            let mut checks = JoinSet::new();
            let count = self.endpoints.len();
            for index in (self.checks_from..count).step_by(self.checks_step) {
                let endpoint = &self.endpoints[index];
                let watched = Watched {
                    way: endpoint.way.clone(),
                    authority: endpoint.authority.clone(),
                    index,
                    rules: rules.clone(),
                    health: Arc::clone(health),
                };
                checks.spawn_local(watched.watch(check::offset(index, count, rules.every)));
            }
            checks
        });
    }

    /// How many connections are idle.
    pub(crate) fn idle(&self) -> usize {
        let idle = self.endpoints.iter().map(|each| each.idle.borrow().len());
        idle.sum()
    }

    /// Closes connections that have been idle too long.
    pub(crate) fn close_expired(&self, now: Instant) {
        for endpoint in &self.endpoints {
            endpoint.idle.borrow_mut().close_expired(now);
        }
    }
}

impl Slot<'_> {
    /// It is not pending any more.
    fn uncount(&mut self) {
        if std::mem::take(&mut self.counts) {
            let pending = &self.endpoint().pending;
            pending.set(pending.get() - 1);
        }
    }

    /// Which endpoint it is.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The endpoint's `Host`.
    pub(crate) fn authority(&self) -> &str {
        &self.endpoint().authority
    }

    /// An idle connection that its peer has not closed.
    pub(crate) fn pooled(&self, now: Instant) -> Option<Box<TcpClient>> {
        let sessions = self.upstream.sessions.as_ref();
        let carried = sessions.and_then(|sessions| sessions.stream(self.index));
        let idle = || self.endpoint().idle.borrow_mut().take(now);
        carried.map(Box::new).or_else(idle)
    }

    /// A new connection; `connected` is told when only TLS is left to do.
    pub(crate) async fn connect(
        &self,
        connected: impl FnOnce(),
    ) -> Result<Box<TcpClient>, DialError> {
        let upstream = self.upstream;
        let connecting = async {
            let way = &self.endpoint().way;
            let stream = way.dial(connected).await?;
            let sessions = upstream.sessions.as_ref();
            match sessions.filter(|_| way.speaks_http2(&stream)) {
                Some(sessions) => sessions.connect(self.index, stream).await,
                None => Ok(TcpClient::from_stream(stream, upstream.limits)),
            }
        };
        let made = tokio::time::timeout(upstream.connect_timeout, connecting).await;
        made.unwrap_or_else(|_| Err(ConnectError::TimedOut.into()))
            .map(Box::new)
    }

    /// The endpoint's objection, if its connection of HTTP/2 has just ended for it.
    pub(crate) fn objection(&self) -> Option<Reason> {
        self.upstream.sessions.as_ref()?.objection(self.index)
    }

    /// The endpoint began to answer at `now`, with this status.
    pub(crate) fn answered(&self, status: u16, now: Instant) {
        let upstream = self.upstream;
        if upstream.balancer.watches_latency() {
            let latency = now.saturating_duration_since(self.chosen);
            upstream.balancer.answered(self.index, latency, now);
        }
        if let Some(health) = &upstream.health {
            match upstream.bad_statuses.contains(&status) {
                true => _ = health.failed(self.index, now),
                false => health.succeeded(self.index, now),
            }
        }
    }

    /// The endpoint failed.
    pub(crate) fn failed(&self) {
        let upstream = self.upstream;
        if upstream.health.is_none() && !upstream.balancer.watches_latency() {
            return;
        }
        let now = Instant::now();
        let after = now.saturating_duration_since(self.chosen);
        upstream.balancer.failed(self.index, after, now);
        if let Some(health) = &upstream.health {
            health.failed(self.index, now);
        }
    }

    /// The endpoint was not waited for any longer, before it began to answer.
    pub(crate) fn given_up(&self) {
        let balancer = &self.upstream.balancer;
        if balancer.watches_latency() {
            let now = Instant::now();
            balancer.given_up(self.index, now.saturating_duration_since(self.chosen), now);
        }
    }

    /// Gives a connection back for reuse, if it is fit for it.
    pub(crate) fn give_back(&self, connection: Box<TcpClient>, now: Instant) {
        self.endpoint().idle.borrow_mut().put(connection, now);
    }

    fn endpoint(&self) -> &Endpoint {
        &self.upstream.endpoints[self.index]
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.uncount();
    }
}

/// An endpoint that is checked.
struct Watched {
    way: Way,
    authority: String,
    index: usize,
    rules: Check,
    health: Arc<Health>,
}

impl Watched {
    /// Checks it again and again, the first time after `offset`.
    async fn watch(self, offset: Duration) {
        let mut verdict = Verdict::default();
        let mut ticks = interval_at(Instant::now() + offset, self.rules.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let passed = check::passes(&self.way, &self.authority, &self.rules).await;
            self.health.checked(passed);
            self.health
                .set_down(self.index, verdict.hear(passed, &self.rules));
        }
    }
}
