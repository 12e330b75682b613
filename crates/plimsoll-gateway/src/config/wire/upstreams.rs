//! Upstreams, as they are written.

use deserr::Deserr;
use plimsoll_base::document::DurationText;
use schemars::JsonSchema;

/// A service with one or more addresses.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct UpstreamBlock {
    /// `http://host:port` or, over TLS, `https://host:port`, without a path. Host names are resolved when the file is loaded.
    pub(in crate::config) endpoints: Vec<String>,
    /// How TLS is spoken where the endpoints are `https://…`.
    #[deserr(default)]
    pub(in crate::config) tls: Option<UpstreamTlsBlock>,
    /// How an endpoint is chosen.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) balance: BalanceWord,
    /// Send the client's `Host` instead of the endpoint's.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) preserve_host: bool,
    /// The endpoints speak HTTP/2: in plaintext without asking (as gRPC servers do), over TLS by ALPN. One connection per shard and endpoint carries all exchanges.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) http2: bool,
    /// Exchanges that may be under way with one endpoint at a time (default 1024), shared out evenly among the shards;
    /// beyond it 503.
    #[deserr(default)]
    pub(in crate::config) max_pending: Option<u32>,
    /// Idle connections kept per endpoint (default: as many as `max_pending`), shared out evenly among the shards.
    #[deserr(default)]
    pub(in crate::config) idle_connections: Option<u32>,
    /// How long an idle connection is kept (default 30s). Keep it below the upstream's own idle timeout.
    #[deserr(default)]
    pub(in crate::config) idle_timeout: Option<DurationText>,
    /// Overrides `timeouts.connect` for this upstream. TLS has to be done within it, too.
    #[deserr(default)]
    pub(in crate::config) connect_timeout: Option<DurationText>,
    /// Overrides `timeouts.response_head` for this upstream.
    #[deserr(default)]
    pub(in crate::config) response_head_timeout: Option<DurationText>,
    /// The request field by which `balance: consistent_hash` tells requests apart (default: the client's address, which also stands in for a
    /// field that is absent).
    #[deserr(default)]
    pub(in crate::config) hash_by: Option<String>,
    /// Put an endpoint out of use for a while when exchanges with it fail again and again; none when left out.
    #[deserr(default)]
    pub(in crate::config) eject: Option<EjectBlock>,
    /// Ask endpoints now and then whether they are well; none when left out.
    #[deserr(default)]
    pub(in crate::config) check: Option<CheckBlock>,
    /// How many requests may be sent a second time.
    #[deserr(default)]
    pub(in crate::config) retry: Option<RetryBlock>,
}

/// TLS to an upstream, 1.2 or 1.3. Files are looked for where the configuration is.
#[derive(Debug, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct UpstreamTlsBlock {
    /// File of the authorities that the endpoints' certificates must come from (PEM); those that this host trusts when left out.
    #[deserr(default)]
    pub(in crate::config) ca: Option<String>,
    /// The name that is sent as SNI and that certificates must bear (default: each endpoint's host).
    #[deserr(default)]
    pub(in crate::config) server_name: Option<String>,
    /// File of the certificate that is shown to endpoints that ask for one, with those between it and its authority (PEM).
    #[deserr(default)]
    pub(in crate::config) certificate: Option<String>,
    /// File of its private key (PEM, not encrypted).
    #[deserr(default)]
    pub(in crate::config) key: Option<String>,
    /// Accept any certificate, so that whoever answers is believed. It is said at every start and reload.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) insecure: bool,
}

/// Passive health. A failure is a connection that cannot be made, breaks or takes too long, or an answer that is not HTTP. All shards count
/// together; whoever answers is well again.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct EjectBlock {
    /// Failures in a row (default 5).
    #[deserr(default)]
    pub(in crate::config) after: Option<u32>,
    /// How long it is out of use (default 10s): the second time in a row twice as long, and so on up to ten times.
    #[deserr(default, rename = "for")]
    #[schemars(rename = "for")]
    pub(in crate::config) time: Option<DurationText>,
    /// How many of the endpoints may be ejected at a time, in percent (default 50). A single endpoint never is.
    #[deserr(default)]
    pub(in crate::config) at_most_percent: Option<u8>,
    /// Statuses of answers that count as failures, too, such as 503 (default: none).
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) statuses: Vec<u16>,
}

/// Active health: a GET that is to be answered in time with a status from 200 to 399.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct CheckBlock {
    /// Path of the request, `/healthz`.
    pub(in crate::config) path: String,
    /// How often (default 5s).
    #[deserr(default)]
    pub(in crate::config) every: Option<DurationText>,
    /// How long an answer may take (default 1s).
    #[deserr(default)]
    pub(in crate::config) timeout: Option<DurationText>,
    /// Passed checks in a row after which an endpoint is used again (default 2).
    #[deserr(default)]
    pub(in crate::config) up_after: Option<u32>,
    /// Failed checks in a row after which it is not used (default 3).
    #[deserr(default)]
    pub(in crate::config) down_after: Option<u32>,
}

/// The retry budget. Only what is safe to repeat is ever sent again, and once.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct RetryBlock {
    /// As many as this share of all requests, in percent (default 20).
    #[deserr(default)]
    pub(in crate::config) percent: Option<u8>,
    /// And so many a second besides (default 10).
    #[deserr(default)]
    pub(in crate::config) per_second: Option<u32>,
}

/// How one of several endpoints is chosen. Each shard counts for itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserr, JsonSchema)]
pub(in crate::config) enum BalanceWord {
    /// One after the other.
    #[default]
    #[deserr(rename = "round_robin")]
    #[schemars(rename = "round_robin")]
    RoundRobin,
    /// The one with the fewest exchanges under way; among equals one after the other.
    #[deserr(rename = "least_pending")]
    #[schemars(rename = "least_pending")]
    LeastPending,
    /// The better of two drawn at random, by recent latency times exchanges under way.
    #[deserr(rename = "peak_ewma")]
    #[schemars(rename = "peak_ewma")]
    PeakEwma,
    /// One endpoint for each client, or for each value of the field `hash_by`; when an endpoint goes, only its requests move.
    #[deserr(rename = "consistent_hash")]
    #[schemars(rename = "consistent_hash")]
    ConsistentHash,
}
