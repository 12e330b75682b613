//! `gateway.yaml` as it is written: one struct per block, every field with the text that its JSON Schema shows.
//!
//! Nothing is judged here but types and units; [`super::check`] turns this into the domain.

pub(super) mod analytics;
pub(super) mod rules;
pub(super) mod secrets;
pub(super) mod upstreams;

use deserr::Deserr;
use plimsoll_base::document::{BytesText, DurationText, Entries, OneOrMany, RateText};
use schemars::JsonSchema;
use secrets::SecretText;
use upstreams::UpstreamBlock;

/// A gateway: what it listens on, where it forwards to, and what it demands of requests.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields, title = "Plimsoll gateway configuration")]
pub(super) struct GatewayFile {
    /// Version of this format: 1.
    pub(super) version: u32,
    /// Where clients connect, by name. At least one.
    pub(super) listeners: Entries<ListenerBlock>,
    /// The listener of `/metrics` and `/healthz`; none when left out.
    #[deserr(default)]
    pub(super) admin: Option<AdminBlock>,
    /// Networks (`10.0.0.0/8`, `::1`) whose `X-Forwarded-*` fields are believed. From everybody else they are replaced.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) trusted_proxies: Vec<String>,
    /// Treatment of clients' fields whose names have a `_`: some servers cannot tell `X_Role` from `X-Role`.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) underscores: UnderscoresWord,
    /// Treatment of a client of HTTP/1.1 that closes its sending side while its request is under way. A client that leaves looks like that,
    /// too, until something is sent to it.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) client_half_close: HalfCloseWord,
    /// Who clients are by their certificates, and what upstreams are told of them.
    #[deserr(default)]
    pub(super) identity: Option<IdentityBlock>,
    /// Whose data is where, for routes that are `sharded`.
    #[deserr(default)]
    pub(super) shard_map: Option<ShardMapBlock>,
    /// Named services behind the gateway.
    pub(super) upstreams: Entries<UpstreamBlock>,
    /// Routes. The longest path that covers a request's path wins; no other route answers 404.
    pub(super) routes: Vec<RouteBlock>,
    /// One record per request; none when left out.
    #[deserr(default)]
    pub(super) analytics: Option<analytics::AnalyticsBlock>,
    /// Spans of traces; none when left out, and then it costs nothing.
    #[deserr(default)]
    pub(super) tracing: Option<analytics::TracingBlock>,
    /// Let clients speak HTTP/2, in plaintext by its preface and over TLS by ALPN. HTTP/1.1 only when left out.
    #[deserr(default)]
    pub(super) http2: Option<Http2Block>,
    /// Where it is shown how the time of every request splits up; nowhere when left out, and then it costs nothing.
    #[deserr(default)]
    pub(super) timings: Option<TimingsBlock>,
    /// How long anything may take.
    #[deserr(default)]
    pub(super) timeouts: Option<TimeoutsBlock>,
    /// How large and how many anything may be.
    #[deserr(default)]
    pub(super) limits: Option<LimitsBlock>,
    /// How secrets are kept that are written as `{ aws: … }`.
    #[deserr(default)]
    pub(super) secrets: Option<secrets::SecretsBlock>,
}

/// Treatment of clients' fields whose names have a `_`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(super) enum UnderscoresWord {
    /// They are not forwarded.
    #[default]
    Drop,
    /// They are, but for those that servers may take for fields which the gateway removes, sets or drops.
    Pass,
}

/// Treatment of a client that closes its sending side while its request is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(super) enum HalfCloseWord {
    /// It is answered, as it may still read.
    #[default]
    Answer,
    /// It has left: its exchange ends at once, and the upstream is given up.
    Abort,
}

/// An address that clients connect to.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct ListenerBlock {
    /// IP address and port, `127.0.0.1:8080`; `:8080` is on loopback, port 0 is any free port.
    pub(super) address: String,
    /// TLS 1.2 and 1.3; in plaintext when left out.
    #[deserr(default)]
    pub(super) tls: Option<ListenerTlsBlock>,
}

/// TLS of a listener. Files are looked for where the configuration is.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct ListenerTlsBlock {
    /// File of the certificate to show, with those between it and its authority (PEM).
    pub(super) certificate: String,
    /// File of its private key (PEM, not encrypted).
    pub(super) key: String,
    /// Whether clients are asked for a certificate.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) clients: ClientsWord,
    /// File of the authorities whose clients are served (PEM).
    #[deserr(default)]
    pub(super) ca: Option<String>,
    /// Files of lists of revoked certificates (PEM or DER), one for each authority at least. An expired list is refused, and so is
    /// every client from when it expires on.
    #[deserr(default)]
    pub(super) crl: Option<OneOrMany<String>>,
}

/// Whether clients are asked for a certificate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(super) enum ClientsWord {
    /// They are not.
    #[default]
    None,
    /// They are, and may go without; one that they show must hold.
    Optional,
    /// Without one that holds there is no connection.
    Required,
}

/// Who a client is by its certificate, and what upstreams are told of it.
#[derive(Debug, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct IdentityBlock {
    /// Properties that identify a client: the first of these that its certificate has (default: all four in this order). One that has two of that
    /// kind identifies nobody.
    #[deserr(default)]
    pub(super) order: Option<Vec<KindWord>>,
    /// Fields about the certificate that upstreams get. Those that clients send are dropped, always.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) forward: Vec<FieldWord>,
}

/// A kind of name in a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(super) enum KindWord {
    /// An alternative name that is a URI, such as a SPIFFE ID.
    Uri,
    /// An alternative name that is a host name.
    Dns,
    /// The subject's common name, together with who issued the certificate.
    #[deserr(rename = "issuer_cn")]
    #[schemars(rename = "issuer_cn")]
    IssuerCn,
    /// SHA-256 of the certificate.
    Sha256,
}

/// A header field about a client's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
pub(super) enum FieldWord {
    /// `Client-Cert` (RFC 9440).
    #[deserr(rename = "client_cert")]
    #[schemars(rename = "client_cert")]
    ClientCert,
    /// `Client-Cert-Chain` (RFC 9440): the certificates between the client's and an authority's, if it has shown any.
    #[deserr(rename = "client_cert_chain")]
    #[schemars(rename = "client_cert_chain")]
    ClientCertChain,
    /// `X-Forwarded-Client-Cert`, as Envoy writes it: Hash, Subject, URI and DNS.
    #[deserr(rename = "xfcc")]
    #[schemars(rename = "xfcc")]
    Xfcc,
}

/// Routing by whose data is where.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct ShardMapBlock {
    /// File of the map (`plimsoll schema shard-map` describes it).
    pub(super) file: String,
    /// Say on each answer of a sharded route which shard and which version of the map it came by (`X-Shard`, `X-Shard-Map-Version`).
    #[deserr(default)]
    #[schemars(default)]
    pub(super) debug: bool,
    /// How long requests that change something wait while their identity is frozen (default 10s); then 503.
    #[deserr(default)]
    pub(super) hold: Option<DurationText>,
    /// How much is copied for the shard that an identity is moving to, while it is mirrored.
    #[deserr(default)]
    pub(super) mirror: Option<MirrorBlock>,
}

/// Copies of requests for the shard that their identity is moving to. What is not copied is counted, and harms nobody.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct MirrorBlock {
    /// Bytes of a body (default 64KiB); a request with more is not copied.
    #[deserr(default)]
    pub(super) body: Option<BytesText>,
    /// Copies that may wait or be under way in one gateway shard (default 256); a further one is not made.
    #[deserr(default)]
    pub(super) queue: Option<u32>,
}

/// The admin listener. It binds loopback only.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct AdminBlock {
    /// Loopback address and port, `127.0.0.1:9090`; `:9090` for short.
    pub(super) address: String,
    /// Further names by which clients may address it (the `Host` field); `localhost` and loopback addresses always may.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) hosts: Vec<String>,
}

/// A part of the path space.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct RouteBlock {
    /// Path prefix, `/` or `/api/v1`. It covers whole segments: `/api` covers `/api` and `/api/x`, not `/apiary`.
    pub(super) path: String,
    /// Remove the prefix before forwarding.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) strip: bool,
    /// Name of the upstream; not for a route that is `sharded`.
    #[deserr(default)]
    pub(super) upstream: Option<String>,
    /// Forward to the shard that the shard map has for who the client is: 401 without a certificate, 403 without a shard.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) sharded: bool,
    /// Protocols that clients may switch to, such as `websocket`. What a request offers besides is not forwarded (default: none).
    #[deserr(default)]
    #[schemars(default)]
    pub(super) upgrades: Vec<String>,
    /// Put before the forwarded path, `/v1`; an upstream whose service begins below its root.
    #[deserr(default)]
    pub(super) prepend: Option<String>,
    /// Policies that requests must satisfy.
    #[deserr(default)]
    pub(super) policies: Option<PoliciesBlock>,
    /// Rules for some of its paths only. Of the rules that match a request the first `reply`, `exempt`, `deny` or `allow` decides,
    /// and the first of each other kind counts.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) rules: Vec<rules::RuleBlock>,
    /// Its requests leave no records.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) unrecorded: bool,
    /// Allow this route to demand less than a route that encloses it. Without this, that is refused.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) allow_weaker_auth: bool,
}

/// The policies of a route, in the order in which they are applied.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct PoliciesBlock {
    /// Requests must carry a key.
    #[deserr(default)]
    pub(super) key: Option<KeyBlock>,
    /// Requests may come only so often.
    #[deserr(default)]
    pub(super) rate_limit: Option<RateLimitBlock>,
}

/// Key authentication: 401 without a key, 403 with an unknown one.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct KeyBlock {
    /// The header field that carries the key (default `Authorization`); a leading `Bearer ` is no part of the key.
    #[deserr(default)]
    pub(super) header: Option<String>,
    /// Remove the field before forwarding.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) hide: bool,
    /// The accepted keys. At least one.
    pub(super) keys: Vec<KeyEntry>,
}

/// One accepted key, given by `key` or by `sha256`.
#[derive(Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct KeyEntry {
    /// The key's name in messages about this file.
    pub(super) name: String,
    /// The key, in plain text or where it is kept. It is hashed and never shown.
    #[deserr(default)]
    pub(super) key: Option<SecretText>,
    /// The key's SHA-256 digest, 64 hexadecimal digits.
    #[deserr(default)]
    pub(super) sha256: Option<String>,
}

impl std::fmt::Debug for KeyEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyEntry")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A rate limit: 429 beyond it. Over any time t it admits at most rate · t + burst requests.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct RateLimitBlock {
    /// Sustained rate, `100/s`.
    pub(super) rate: RateText,
    /// How many may come at once after a pause (default: one second's worth, at least 1).
    #[deserr(default)]
    pub(super) burst: Option<u32>,
    /// Owner of a budget: each key, or the route as a whole.
    pub(super) per: ScopeWord,
}

/// Unit that a rate limit counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(super) enum ScopeWord {
    /// Each key of the route.
    Key,
    /// The route as a whole.
    Route,
}

/// Connections of HTTP/2.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct Http2Block {
    /// Streams that a client may have open at a time (default 128).
    #[deserr(default)]
    pub(super) streams: Option<u32>,
    /// Streams that a client may cut off at once (default 200). Each that it lets end earns it another, each second ten; one more ends its
    /// connection.
    #[deserr(default)]
    pub(super) resets: Option<u32>,
}

/// How the time of a request splits up, in phases that add up to the whole: accept, tls, head, authentication, limit, gateway, pool_wait,
/// connect, upstream_tls, request_body, request_write, first_byte, body, client_write.
#[derive(Debug, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct TimingsBlock {
    /// In the field `Server-Timing` of every response, in milliseconds: what is over when its head is sent.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) header: bool,
    /// As `phases_us` in the records of `analytics`, in microseconds.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) records: bool,
    /// As `phase_seconds` in `/metrics`.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) metrics: bool,
}

/// Time limits. Those of a phase end it with 408 (the client's fault) or 504 (the upstream's).
#[derive(Debug, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct TimeoutsBlock {
    /// A client's request head, from its first byte to its last; and how long a new connection may be silent (default 10s).
    #[deserr(default)]
    pub(super) request_head: Option<DurationText>,
    /// Connecting to an endpoint, TLS included (default 2s).
    #[deserr(default)]
    pub(super) connect: Option<DurationText>,
    /// From the complete request to the head of its response (default 30s).
    #[deserr(default)]
    pub(super) response_head: Option<DurationText>,
    /// Silence: between two requests of a connection, or while a body is under way (default 60s).
    #[deserr(default)]
    pub(super) idle: Option<DurationText>,
    /// A whole exchange, from its request head to the last byte of its response (default 10m).
    #[deserr(default)]
    pub(super) total: Option<DurationText>,
    /// How long requests are still taken as before after the gateway was told to stop, while `/ready` says 503 already, so that whoever
    /// balances over several gateways looks elsewhere (default 0s).
    #[deserr(default)]
    pub(super) shutdown_delay: Option<DurationText>,
    /// How long exchanges under way may take to end after the gateway was told to stop (default 30s).
    #[deserr(default)]
    pub(super) drain: Option<DurationText>,
    /// Silence in both directions of a connection that was upgraded (default 5m); `idle` and `total` do not hold for it.
    #[deserr(default)]
    pub(super) upgraded: Option<DurationText>,
    /// How long the program may take to be ready that is to take this process' place (default 60s).
    #[deserr(default)]
    pub(super) swap: Option<DurationText>,
}

/// Sizes and counts beyond which a request is refused.
#[derive(Debug, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct LimitsBlock {
    /// Client connections at a time (default 10000, never more than there are descriptors for); a further
    /// one gets 503 and is closed.
    #[deserr(default)]
    pub(super) connections: Option<u32>,
    /// Of them, connections of one address (default: any number); of IPv6 the network of 64 bits counts as one. A further one gets 503, over TLS
    /// it is closed. Trusted proxies may have any number.
    #[deserr(default)]
    pub(super) connections_per_address: Option<u32>,
    /// Connections of clients with one identity, by `identity.order` (default: any number); whose certificate identifies nobody is told apart by
    /// it. A further one gets 503, or GOAWAY.
    #[deserr(default)]
    pub(super) connections_per_identity: Option<u32>,
    /// Bytes of a head (default 32KiB): 431, from an upstream 502.
    #[deserr(default)]
    pub(super) head: Option<BytesText>,
    /// Header fields of a head (default 100): 431, from an upstream 502.
    #[deserr(default)]
    pub(super) fields: Option<u32>,
    /// Bytes of a request target (default 8KiB): 414.
    #[deserr(default)]
    pub(super) target: Option<BytesText>,
    /// Bytes that a client must send of its body, or take of its answer, for each second that it is waited for, beyond
    /// `timeouts.idle` in all (default 1KiB; 0 demands nothing): 408, or a reset where the answer has begun.
    #[deserr(default)]
    pub(super) body_rate: Option<BytesText>,
    /// Bytes of a request body (default 1GiB): 413. Response bodies have no limit; neither is ever held in memory.
    #[deserr(default)]
    pub(super) body: Option<BytesText>,
}
