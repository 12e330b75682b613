//! The service of every shard: routes with their policies, limits and names. Made from one reading of the configuration, then only read.
//!
//! The one thing in it that changes is the atomic state of rate limits, see [`crate::policy::rate_limit`].

mod record_spec;

pub(crate) use record_spec::RecordSpec;

use crate::answering::error_format::ErrorFormat;
use crate::answering::overrides::Overrides;
use crate::clients::identity::Kind;
use crate::config::{
    CertificateField, ConnectionLimits, GatewayConfig, HalfClose, Http2, ListenerConfig,
    ListenerTls, RouteConfig, Serves, Sharding, Timeouts, Timings, Underscores,
};
use crate::keys::control::Control;
use crate::messages::expiry::Expiry;
use crate::messages::forwarded::Network;
use crate::messages::path::readings;
use crate::messages::secrecy;
use crate::origin::Origin;
use crate::policy::Policy;
use crate::policy::key::KeyPolicy;
use crate::policy::rate_limit::RateLimitPolicy;
use crate::policy::rules::Rules;
use crate::policy::session::SessionPolicy;
use crate::policy::token::TokenPolicy;
use crate::routing::router::Router;
use plimsoll_records::tracing::Sampling;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// The gateway's routes and rules.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) router: Router,
    /// The routes by their decoded paths.
    decoded_router: Router,
    pub(crate) routes: Vec<Route>,
    trusted_proxies: Vec<Network>,
    /// Of clients' fields.
    pub(crate) underscores: Underscores,
    /// Treatment of clients of HTTP/1.1 that close their sending side; [`crate::shard::client::Client::half_close`] says it of any.
    pub(crate) half_close: HalfClose,
    pub(crate) entrances: Vec<Entrance>,
    /// Fields about clients' certificates for upstreams.
    pub(crate) certificate_fields: Vec<CertificateField>,
    /// Properties that identify a client.
    pub(crate) identity_order: Arc<[Kind]>,
    /// Whose data is where.
    pub(crate) sharding: Option<Sharding>,
    /// Of each upstream, whether it gets the client's `Host`.
    pub(crate) preserve_host: Vec<bool>,
    pub(crate) timeouts: Timeouts,
    pub(crate) timings: Timings,
    /// Specification of records, if there are any.
    pub(crate) records: Option<RecordSpec>,
    /// Names whose values are not recorded, as [`secrecy::plain`] has them.
    pub(crate) redacted: Arc<[String]>,
    /// Which requests get spans, if any do.
    pub(crate) tracing: Option<Sampling>,
    /// Whether clients may speak HTTP/2, and within which limits.
    pub(crate) http2: Option<Http2>,
    pub(crate) limits: ConnectionLimits,
    /// Names this gateway in `Via`; differs from every other gateway's.
    pub(crate) pseudonym: String,
    started: Instant,
    /// In whose words it answers itself.
    pub(crate) error_format: ErrorFormat,
    /// Control API of routes of [`Serves::Control`].
    pub(crate) control: Option<Arc<Control>>,
}

/// A listener at run time.
#[derive(Debug)]
pub(crate) struct Entrance {
    name: String,
    pub(crate) tls: Option<ListenerTls>,
}

/// A route at run time.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) path: String,
    pub(crate) strip: bool,
    /// Put before the forwarded path.
    pub(crate) prepend: String,
    pub(crate) root: Option<String>,
    pub(crate) serves: Serves,
    /// Protocols that clients may switch to, lower case.
    pub(crate) upgrades: Vec<String>,
    pub(crate) rules: Option<Rules>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) key_field: Option<KeyField>,
    /// Words in the place of errors.
    pub(crate) overrides: Overrides,
    /// It takes several requests in one, at [`crate::answering::batch::PATH`] below its own.
    pub(crate) batches: bool,
    /// Named by its answers until then.
    pub(crate) expiry: Option<Expiry>,
    /// Its requests leave no records.
    pub(crate) unrecorded: bool,
    /// They are recorded in detail.
    pub(crate) detailed: bool,
}

/// The field in which a route's keys travel.
#[derive(Debug)]
pub(crate) struct KeyField {
    pub(crate) name: String,
    /// Not forwarded.
    pub(crate) hide: bool,
}

impl Service {
    /// The service that `config` describes. How far rate limits are used up is taken over from `before`.
    pub(crate) fn new(config: &GatewayConfig, origin: &Origin, before: Option<&Self>) -> Self {
        let route = |route: &RouteConfig| {
            let same = |known: &&Route| known.path == route.path;
            let before = before.and_then(|before| before.routes.iter().find(same));
            Route::new(route, config, origin, before)
        };
        let decoded = config.routes.iter().map(|r| readings::decode(&r.path));
        let decoded: Vec<_> = decoded.collect();
        Self {
            router: Router::new(config.routes.iter().map(|route| route.path.as_str())),
            decoded_router: Router::new(decoded.iter().map(|path| &**path)),
            routes: config.routes.iter().map(route).collect(),
            trusted_proxies: config.trusted_proxies.clone(),
            underscores: config.underscores,
            half_close: config.half_close,
            entrances: (config.listeners.iter())
                .map(|listener| Entrance::new(listener, before))
                .collect(),
            certificate_fields: config.certificate_fields.clone(),
            identity_order: Arc::clone(&config.identity_order),
            sharding: config.sharding.clone(),
            preserve_host: config.upstreams.iter().map(|u| u.preserve_host).collect(),
            timeouts: config.timeouts,
            timings: config.timings,
            records: config.analytics.as_ref().map(RecordSpec::of),
            redacted: (config.redacted.iter())
                .map(|name| secrecy::plain(name.as_bytes()))
                .collect(),
            tracing: config.tracing.as_ref().map(|tracing| Sampling {
                share: tracing.share,
                propagate: tracing.propagate,
            }),
            http2: config.http2,
            limits: config.limits,
            pseudonym: origin.pseudonym().to_owned(),
            started: origin.started,
            error_format: config.error_format,
            control: config.control.clone(),
        }
    }

    /// This service with at most this many clients at a time.
    pub(crate) fn within(mut self, connections: u32) -> Self {
        self.limits.connections = connections;
        self
    }

    /// Whether some upstream may take a normalised path, which this route has, for one that another route has or none. A route whose own path
    /// can be read in several ways says itself what it means.
    pub(crate) fn is_torn(&self, path: &str, route: usize) -> bool {
        let is_single = |path: &str| readings::others(path).is_ok_and(|others| others.is_empty());
        if readings::is_plain(path) || !is_single(&self.routes[route].path) {
            return false;
        }
        match readings::others(path) {
            Ok(others) => {
                let strays = |other: &String| self.decoded_router.find(other) != Some(route);
                others.iter().any(strays)
            }
            Err(readings::TooMany) => true,
        }
    }

    /// Version of the shard map, if there is one.
    pub(crate) fn map_version(&self) -> Option<u64> {
        self.sharding.as_ref().map(|sharding| sharding.map.version)
    }

    /// The listener of this name.
    pub(crate) fn entrance(&self, name: &str) -> Option<&Entrance> {
        self.entrances.iter().find(|entrance| entrance.name == name)
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

impl Entrance {
    /// A listener; its sessions may be resumed across a reload as long as the same clients are accepted.
    fn new(config: &ListenerConfig, before: Option<&Service>) -> Self {
        let known = before.and_then(|before| before.entrance(&config.name)?.tls.as_ref());
        let tls = config.tls.as_ref().map(|tls| match known {
            Some(known) if known.accepts_the_same(tls) => ListenerTls {
                tls: tls.tls.clone().resuming(&known.tls),
                trust: tls.trust.clone(),
            },
            _ => tls.clone(),
        });
        Self {
            name: config.name.clone(),
            tls,
        }
    }
}

impl ListenerTls {
    fn accepts_the_same(&self, other: &Self) -> bool {
        let everything = |tls: &Self| tls.trust.as_ref().map(|trust| trust.everything);
        everything(self) == everything(other)
    }
}

impl Route {
    fn new(
        config: &RouteConfig,
        gateway: &GatewayConfig,
        origin: &Origin,
        before: Option<&Self>,
    ) -> Self {
        let session = config.session.as_ref().zip(gateway.control.as_ref());
        let session_policy = session.map(|(session, control)| {
            let policy = SessionPolicy {
                header: session.header.clone(),
                api: session.api.clone().into_boxed_str(),
                organisation: session.organisation.clone().into_boxed_str(),
                shortest: session.shortest,
                keys: Arc::clone(&control.keys),
                counts: session.counts,
                started: u64::try_from(origin.since_epoch.as_nanos()).unwrap_or(u64::MAX),
            };
            match &session.token {
                None => Policy::Session(policy),
                Some(rules) => Policy::Token(TokenPolicy {
                    session: policy,
                    rules: Arc::clone(rules),
                }),
            }
        });
        let keys = config.key.as_ref();
        let key_policy = keys.map(|key| Policy::Key(KeyPolicy::new(&key.header, &key.keys)));
        let rate_limit = config.rate_limit.map(|limit| {
            let accepted = keys.map_or(&[][..], |key| &key.keys);
            let rate = limit.rate.as_per_second();
            let mut policy = RateLimitPolicy::new(rate, limit.burst, limit.scope, accepted.len());
            if let Some(control) = &gateway.control {
                policy = policy.shared_among(control.keys.watch_gateways());
            }
            if let Some((known, keys)) = before.and_then(Self::limited) {
                policy.follow(known, |index| keys?.place(accepted.get(index)?));
            }
            Policy::RateLimit(policy)
        });
        Self {
            path: config.path.clone(),
            strip: config.strip,
            prepend: config.prepend.clone(),
            root: config.root.clone(),
            rules: config.rules.clone(),
            serves: config.serves,
            upgrades: config.upgrades.clone(),
            policies: key_policy
                .into_iter()
                .chain(session_policy)
                .chain(rate_limit)
                .collect(),
            key_field: (keys.map(|key| (&key.header, key.hide)))
                .or(session.map(|(session, _)| (&session.header, session.hide)))
                .map(|(name, hide)| KeyField {
                    name: name.clone(),
                    hide,
                }),
            overrides: config.overrides.clone(),
            batches: config.batches,
            expiry: config.expiry.clone(),
            unrecorded: config.recording.off,
            detailed: config.recording.detailed,
        }
    }
    /// Its rate limit, and the keys that this counts by.
    fn limited(&self) -> Option<(&RateLimitPolicy, Option<&KeyPolicy>)> {
        let mut policies = self.policies.iter();
        let limit = policies.find_map(|policy| match policy {
            Policy::RateLimit(limit) => Some(limit),
            Policy::Key(_) | Policy::Session(_) | Policy::Token(_) => None,
        })?;
        let keys = self.policies.iter().find_map(|policy| match policy {
            Policy::Key(keys) => Some(keys),
            Policy::RateLimit(_) | Policy::Session(_) | Policy::Token(_) => None,
        });
        Some((limit, keys))
    }
}
