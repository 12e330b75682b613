//! What every shard serves: routes with their policies, limits and names. Made once from the configuration, then only read.
//!
//! The one thing in it that changes is the atomic state of rate limits, see [`crate::policy::rate_limit`].

use crate::config::{ConnectionLimits, GatewayConfig, RouteConfig, Timeouts};
use crate::forwarded::Network;
use crate::policy::Policy;
use crate::policy::key::KeyPolicy;
use crate::policy::rate_limit::RateLimitPolicy;
use crate::router::Router;
use std::net::IpAddr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tokio::time::Instant;

/// The gateway's routes and rules.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) routes: Vec<Route>,
    trusted_proxies: Vec<Network>,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: ConnectionLimits,
    /// Names this gateway in `Via`; differs from every other gateway's.
    pub(crate) pseudonym: String,
    /// Client connections open now, over all shards. Changed once per connection, never per request.
    pub(crate) connections: AtomicU32,
    pub(crate) started: Instant,
}

/// A route at run time.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) path: String,
    pub(crate) strip: bool,
    pub(crate) upstream: usize,
    pub(crate) preserve_host: bool,
    /// Protocols that clients may switch to, lower case.
    pub(crate) upgrades: Vec<String>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) key_field: Option<KeyField>,
}

/// The field in which a route's keys travel.
#[derive(Debug)]
pub(crate) struct KeyField {
    pub(crate) name: String,
    /// Not forwarded.
    pub(crate) hide: bool,
}

impl Service {
    /// The service that `config` describes. `since_epoch` makes its pseudonym its own.
    pub(crate) fn new(config: &GatewayConfig, started: Instant, since_epoch: Duration) -> Self {
        let identity = since_epoch.as_nanos() ^ (u128::from(std::process::id()) << 64);
        let identity = crate::policy::key::Digest::of(&identity.to_le_bytes()).to_hex();
        Self {
            router: Router::new(config.routes.iter().map(|route| route.path.as_str())),
            routes: config
                .routes
                .iter()
                .map(|route| Route::new(route, config.upstreams[route.upstream].preserve_host))
                .collect(),
            trusted_proxies: config.trusted_proxies.clone(),
            timeouts: config.timeouts,
            limits: config.limits,
            pseudonym: format!("plimsoll-{}", &identity[..8]),
            connections: AtomicU32::new(0),
            started,
        }
    }

    /// The same with at most this many clients at a time.
    pub(crate) fn within(mut self, connections: u32) -> Self {
        self.limits.connections = connections;
        self
    }

    /// Whether what `peer` says about where a request came from is believed.
    pub(crate) fn trusts(&self, peer: IpAddr) -> bool {
        self.trusted_proxies
            .iter()
            .any(|network| network.contains(peer))
    }

    /// Nanoseconds from the gateway's start to `now`: the time that rate limits count in.
    pub(crate) fn nanos(&self, now: Instant) -> u64 {
        u64::try_from(now.duration_since(self.started).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Route {
    fn new(config: &RouteConfig, preserve_host: bool) -> Self {
        let keys = config.key.as_ref();
        let key_policy = keys.map(|key| Policy::Key(KeyPolicy::new(&key.header, &key.digests)));
        let rate_limit = config.rate_limit.map(|limit| {
            let keys = keys.map_or(0, |key| key.digests.len());
            let rate = limit.rate.as_per_second();
            Policy::RateLimit(RateLimitPolicy::new(rate, limit.burst, limit.scope, keys))
        });
        Self {
            path: config.path.clone(),
            strip: config.strip,
            upstream: config.upstream,
            preserve_host,
            upgrades: config.upgrades.clone(),
            policies: key_policy.into_iter().chain(rate_limit).collect(),
            key_field: keys.map(|key| KeyField {
                name: key.header.clone(),
                hide: key.hide,
            }),
        }
    }
}
