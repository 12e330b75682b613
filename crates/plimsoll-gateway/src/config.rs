//! The gateway's configuration, checked: values of these types need no further validation.
//!
//! `gateway.yaml` goes through [`wire`] (what is written) and [`check`] (what it means); all of its problems are
//! reported at once. Policies get their run-time state only when the gateway starts, see [`crate::policy`].

mod check;
mod limit;
mod recording;
mod schema;
mod surroundings;
mod upstream;
mod upstream_tls;
mod wire;

pub(crate) use check::endpoint;
pub(crate) use check::secrets::of_another as secrets_of;
pub use limit::Limit;
pub(crate) use recording::Recording;
pub use schema::{SCHEMA, SHARD_MAP_SCHEMA};
pub(crate) use wire::secrets::{ElsewhereBlock, SecretText};

pub(crate) use plimsoll_secrets::Purpose;
pub use surroundings::{ReadFile, ReadVariable, Surroundings};
pub(crate) use upstream::{
    Balance, Check, Ejection, EndpointConfig, HashBy, Nameless, RetryConfig, Spoken, UpstreamConfig,
};
pub(crate) use upstream_tls::UpstreamTls;

use crate::answering::error_format::ErrorFormat;
use crate::answering::overrides::Overrides;
use crate::clients::identity::Kind;
use crate::clients::shard_map::ShardMap;
use crate::clients::trust::Trust;
use crate::keys::control::Control;
use crate::listening::listener_id::ListenerId;
use crate::messages::expiry::Expiry;
use crate::messages::forwarded::Network;
use crate::policy::key::Accepted;
use crate::policy::rate_limit::Scope;
use crate::policy::rules::Rules;
use crate::policy::session::Counts;
use crate::policy::token::TokenRules;
use plimsoll_base::document::{self, Allowance, Counted, Document, Nulls, Problem, Problems};
use plimsoll_base::units::Rate;
use plimsoll_http::Limits;
use plimsoll_http::tls::ServerTls;
use plimsoll_records::{
    AnalyticsConfig, LineForm, SPOOLED, SinkConfig, SpoolConfig, TracingConfig,
};
use plimsoll_secrets::Keeping;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A valid `gateway.yaml`.
#[derive(Debug)]
pub struct GatewayConfig {
    pub(crate) listeners: Vec<ListenerConfig>,
    pub(crate) admin: Option<AdminConfig>,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) underscores: Underscores,
    pub(crate) half_close: HalfClose,
    pub(crate) certificate_fields: Vec<CertificateField>,
    /// Properties that identify a client, the first that there is.
    pub(crate) identity_order: Arc<[Kind]>,
    pub(crate) sharding: Option<Sharding>,
    pub(crate) upstreams: Vec<UpstreamConfig>,
    pub(crate) routes: Vec<RouteConfig>,
    pub(crate) analytics: Option<AnalyticsConfig>,
    pub(crate) tracing: Option<TracingConfig>,
    /// Names, or words of names, of fields and parameters whose values are not recorded besides those that never are.
    pub(crate) redacted: Vec<String>,
    pub(crate) timings: Timings,
    /// Whether clients may speak HTTP/2, and within which limits.
    pub(crate) http2: Option<Http2>,
    /// Not from the file: see [`GatewayConfig::keep_counters`].
    pub(crate) counters: Option<PathBuf>,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: ConnectionLimits,
    /// In whose words it answers itself.
    pub(crate) error_format: ErrorFormat,
    /// Control API of routes of [`Serves::Control`].
    pub(crate) control: Option<Arc<Control>>,
    /// Secrets that are asked for beside the requests, if there are any.
    pub(crate) keeping: Option<Keeping>,
    /// Notes for its operator when it is served.
    pub(crate) notes: Vec<String>,
    pub(crate) places: DeferredPlaces,
}

/// Where things are said that may be refused only later; the problems have no message yet.
#[derive(Debug)]
pub(crate) struct DeferredPlaces {
    pub(crate) admin: Problem,
    pub(crate) analytics: Problem,
    pub(crate) tracing: Problem,
    pub(crate) identity_order: Problem,
}

impl DeferredPlaces {
    /// Of a configuration in which none of them can change.
    pub(crate) fn nowhere() -> Self {
        Self {
            admin: Problem::of_file("", ""),
            analytics: Problem::of_file("", ""),
            tracing: Problem::of_file("", ""),
            identity_order: Problem::of_file("", ""),
        }
    }
}

/// Routes, upstreams and the like: one of a few bytes takes some thousand.
const RECORDS: Allowance = Allowance {
    any: 6_000,
    bytes_each: 70,
};

/// How `gateway.yaml` is decoded.
const RULES: document::Rules<'static> = document::Rules {
    later: &[],
    renamed: &[
        ("leave", "shutdown_delay"),
        ("rest", "open_for"),
        ("share", "failure_ratio"),
        ("weaker", "allow_weaker_auth"),
    ],
    nulls: Nulls::Refused,
};

impl GatewayConfig {
    /// Reads a configuration that names no files; `file` is the name that messages carry.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        Self::read(file, text, Surroundings::none())
    }

    /// Reads a configuration and the files that it names.
    ///
    /// # Errors
    /// Every problem of the text and of those files, each as `file:line:column: path: message`.
    pub fn read(file: &str, text: &str, around: Surroundings<'_>) -> Result<Self, Problems> {
        Self::of(&Document::parse_yaml(file, text)?, around)
    }

    /// Reads a configuration that is parsed already, and the files that it names.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of(document: &Document, around: Surroundings<'_>) -> Result<Self, Problems> {
        document.bound(Counted::Records, RECORDS)?;
        check::check(document, document.decode_with(RULES)?, around)
    }

    /// Replaces the port of the first listener; 0 asks for any free one.
    pub fn set_port(&mut self, port: u16) {
        if let Some(first) = self.listeners.first_mut() {
            first.address.set_port(port);
        }
    }

    /// Whether the listener of this name wants TLS.
    #[must_use]
    pub fn is_secured(&self, listener: &str) -> bool {
        let mut listeners = self.listeners.iter();
        listeners.any(|known| known.name == listener && known.tls.is_some())
    }

    /// Keeps the counters in this file, so that they survive the process; otherwise they live in memory.
    pub fn keep_counters(&mut self, file: PathBuf) {
        self.counters = Some(file);
    }

    /// How long a program may take to be ready that is to take this one's place.
    #[must_use]
    pub fn swap_timeout(&self) -> Duration {
        self.timeouts.swap
    }

    /// Keeps records that wait for their sinks in this directory, so that they survive the process; otherwise they wait in memory.
    pub fn spool_records(&mut self, directory: PathBuf) {
        if let Some(analytics) = &mut self.analytics {
            analytics.spool = Some(SpoolConfig {
                directory,
                bytes: SPOOLED,
            });
        }
    }

    /// Has `/metrics` and what else its own endpoints are be served here, unless a file says where.
    ///
    /// # Errors
    /// An address that others can reach.
    pub fn serve_admin(&mut self, address: SocketAddr) -> Result<(), &'static str> {
        if !address.ip().is_loopback() {
            return Err("the admin listener binds loopback only: write `127.0.0.1:…`");
        }
        self.admin.get_or_insert(AdminConfig {
            address,
            hosts: Vec::new(),
        });
        Ok(())
    }

    /// Has a line of our own form be written for every request that leaves a record, to this file, or to standard output without one.
    pub fn log_requests(&mut self, file: Option<PathBuf>) {
        let form = LineForm::Own;
        let sink = match file {
            Some(path) => SinkConfig::File { path, form },
            None => SinkConfig::Output { form },
        };
        let analytics = self.analytics.get_or_insert_with(AnalyticsConfig::empty);
        analytics.sinks.push(sink);
    }

    /// Leaves values of fields and parameters out of records whose names are these, or have one of these for a word, besides those that never are
    /// recorded.
    pub fn redact(&mut self, names: &[String]) {
        self.redacted.extend_from_slice(names);
    }

    /// How many routes there are to upstreams.
    #[must_use]
    pub fn route_count(&self) -> usize {
        let lead_on = |route: &&RouteConfig| matches!(route.serves, Serves::Upstream(_));
        self.routes.iter().filter(lead_on).count()
    }
}

/// Treatment of clients' fields whose names have a `_`, which servers may take for fields with a `-` there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Underscores {
    Drop,
    #[default]
    Pass,
}

/// Treatment of a client of HTTP/1.1 that closes its sending side while its request is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HalfClose {
    /// It is answered, as it may still read.
    Answer,
    /// It has left.
    Abort,
}

/// Limits of a client on a connection of HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Http2 {
    /// Streams at a time, at least 1.
    pub(crate) streams: u32,
    /// Streams that it may cut off at once, at least 1.
    pub(crate) resets: u32,
}

/// Where it is shown how the time of a request splits up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timings {
    /// In `Server-Timing` of responses, as far as it is known then.
    pub(crate) header: bool,
    /// In the records of analytics.
    pub(crate) records: bool,
    /// In `/metrics`.
    pub(crate) metrics: bool,
}

impl Timings {
    /// Whether anybody looks.
    pub(crate) fn any(self) -> bool {
        self.header || self.records || self.metrics
    }
}

/// A listener for clients.
#[derive(Debug)]
pub(crate) struct ListenerConfig {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<ListenerTls>,
}

/// TLS of a listener, ready.
#[derive(Debug, Clone)]
pub(crate) struct ListenerTls {
    pub(crate) tls: ServerTls,
    /// Trust in clients' certificates; none where none is asked for.
    pub(crate) trust: Option<Arc<Trust>>,
}

/// A header field about a client's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CertificateField {
    ClientCert,
    ClientCertChain,
    Xfcc,
}

/// Routing by whose data is where.
#[derive(Debug, Clone)]
pub(crate) struct Sharding {
    /// Properties that identify a client, the first that there is.
    pub(crate) order: Arc<[Kind]>,
    pub(crate) map: Arc<ShardMap>,
    /// File that the map was read from, for messages.
    pub(crate) file: String,
    /// Answers say where they came from.
    pub(crate) debug: bool,
    /// How long what changes data waits while it is frozen.
    pub(crate) hold: Duration,
    pub(crate) mirror: MirrorLimits,
}

/// How much is copied for a shard that data moves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MirrorLimits {
    /// Bytes of a request's body.
    pub(crate) body: usize,
    /// Copies that were begun and are not done in one gateway shard, at least 1.
    pub(crate) queue: u32,
}

impl ListenerConfig {
    /// Identity of the listener.
    pub(crate) fn listener_id(&self) -> ListenerId {
        ListenerId {
            name: self.name.clone(),
            address: self.address,
        }
    }
}

/// The listener for `/metrics` and `/healthz`.
#[derive(Debug)]
pub(crate) struct AdminConfig {
    /// On loopback.
    pub(crate) address: SocketAddr,
    /// Names accepted in `Host` besides the loopback ones, lower case.
    pub(crate) hosts: Vec<String>,
}

/// A route; prefixes are distinct, normalised and without a trailing slash.
#[derive(Debug)]
pub(crate) struct RouteConfig {
    pub(crate) path: String,
    pub(crate) strip: bool,
    /// Put before the forwarded path; empty, or absolute and without a trailing slash.
    pub(crate) prepend: String,
    /// Path forwarded where nothing but a slash is left of it; `None`: that slash behind `prepend`.
    pub(crate) root: Option<String>,
    pub(crate) serves: Serves,
    pub(crate) rules: Option<Rules>,
    /// Protocols that clients may switch to, lower case; none of them HTTP.
    pub(crate) upgrades: Vec<String>,
    pub(crate) key: Option<KeyConfig>,
    pub(crate) session: Option<SessionConfig>,
    pub(crate) rate_limit: Option<RateLimitConfig>,
    /// Words in the place of errors.
    pub(crate) overrides: Overrides,
    /// It takes several requests in one.
    pub(crate) batches: bool,
    /// Expiry that its answers name.
    pub(crate) expiry: Option<Expiry>,
    pub(crate) recording: Recording,
}

/// Target of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serves {
    /// Index into [`GatewayConfig::upstreams`].
    Upstream(usize),
    /// The shard of who the client is.
    Shard,
    /// The control API.
    Control,
}

/// Authentication of a route by keys that come and go: those of the control API, or those that tokens stand for.
#[derive(Debug)]
pub(crate) struct SessionConfig {
    pub(crate) header: String,
    pub(crate) hide: bool,
    /// Under which name keys open it.
    pub(crate) api: String,
    pub(crate) organisation: String,
    /// Shortest text that is a key.
    pub(crate) shortest: usize,
    pub(crate) counts: Counts,
    /// The field carries a token, and no key.
    pub(crate) token: Option<Arc<TokenRules>>,
}

/// Key authentication of a route.
#[derive(Debug)]
pub(crate) struct KeyConfig {
    pub(crate) header: String,
    pub(crate) hide: bool,
    /// Distinct.
    pub(crate) keys: Vec<Accepted>,
}

/// Rate limit of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateLimitConfig {
    pub(crate) rate: Rate,
    /// At least 1.
    pub(crate) burst: u32,
    /// [`Scope::Key`] only on a route with keys.
    pub(crate) scope: Scope,
}

/// Time limits that hold for every route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) request_head: Duration,
    pub(crate) idle: Duration,
    /// Bytes that a client must send or take for each second that it is waited for, beyond `idle`; 0: any.
    pub(crate) body_rate: u64,
    pub(crate) total: Duration,
    /// From the moment it is told to stop until requests are not taken any more.
    pub(crate) shutdown_delay: Duration,
    pub(crate) drain: Duration,
    /// Silence, in both directions, of a connection that speaks another protocol.
    pub(crate) upgraded: Duration,
    /// From the start of a program that is to take this one's place until it is ready.
    pub(crate) swap: Duration,
}

#[cfg(any(test, feature = "fuzzing"))]
impl Timeouts {
    /// So long for everything but what is optional.
    pub(crate) const fn of(each: Duration) -> Self {
        Self {
            request_head: each,
            idle: each,
            body_rate: 0,
            total: each,
            shutdown_delay: Duration::ZERO,
            drain: each,
            upgraded: each,
            swap: each,
        }
    }
}

/// Sizes and counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// Client connections at a time, over all shards.
    pub(crate) connections: u32,
    /// Of them, those of one address and those of one identity; any number if not said.
    pub(crate) per_address: Option<u32>,
    pub(crate) per_identity: Option<u32>,
    /// Of requests.
    pub(crate) request: Limits,
    /// Of responses: the same heads, bodies without limit.
    pub(crate) response: Limits,
}
