//! From what `gateway.yaml` says to what it means; everything that is wrong with it is collected, nothing stops early.

mod analytics;
mod policies;
mod routes;
mod rules;
pub(crate) mod secrets;
mod secured;
mod sharding;
mod tls;
mod upstreams;

use super::Surroundings;
use super::wire::upstreams::UpstreamBlock;
use super::wire::{GatewayFile, HalfCloseWord, LimitsBlock, UnderscoresWord};
use super::{
    AdminConfig, ConnectionLimits, DeferredPlaces, EndpointConfig, GatewayConfig, HalfClose, Http2,
    ListenerConfig, Nameless, Spoken, Timeouts, Timings, Underscores, UpstreamConfig,
};
use crate::answering::error_format::ErrorFormat;
use crate::messages::forwarded::Network;
use plimsoll_base::document::{
    Document, DurationText, Entries, MOST_PROBLEMS, Path, Problem, Problems,
};
use plimsoll_http::Limits;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use x509_parser::time::ASN1Time;

/// Collects problems, each located in the document.
pub(super) struct Checker<'a> {
    document: &'a Document,
    around: Surroundings<'a>,
    problems: Vec<Problem>,
    /// How many there are beyond [`MOST_PROBLEMS`]: each is looked for from the top of the document.
    further: usize,
    found: secrets::FoundSecrets,
}

impl Checker<'_> {
    /// The bytes of a file that the configuration names.
    fn read(&mut self, at: &Path, file: &str) -> Option<Vec<u8>> {
        match (self.around.files)(file) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.refuse(at, format!("`{file}` cannot be read: {error}"));
                None
            }
        }
    }

    /// A file as text; one that is none holds nothing of what is looked for, and is refused for that.
    fn read_text(&mut self, at: &Path, file: &str) -> Option<String> {
        let bytes = self.read(at, file)?;
        Some(String::from_utf8(bytes).unwrap_or_default())
    }

    /// Whether a certificate or a list that ends at this moment has ended.
    fn is_past(&self, end: ASN1Time) -> bool {
        i64::try_from(self.around.now.as_secs()).is_ok_and(|now| now > end.timestamp())
    }

    fn into_problems(self) -> Problems {
        let mut problems = Problems::from_iter(self.problems);
        problems.count_further(self.further);
        problems
    }

    fn refuse(&mut self, path: impl Into<Path>, message: impl Into<String>) {
        if self.problems.len() == MOST_PROBLEMS {
            self.further += 1;
            return;
        }
        self.problems.push(self.document.problem(path, message));
    }
}

/// The configuration that a decoded file means.
pub(super) fn check(
    document: &Document,
    mut wire: GatewayFile,
    around: Surroundings<'_>,
) -> Result<GatewayConfig, Problems> {
    let mut checker = Checker {
        document,
        around,
        problems: Vec::new(),
        further: 0,
        found: secrets::FoundSecrets::default(),
    };
    let c = &mut checker;
    let secrets_block = wire.secrets.take();
    secrets::places(c, secrets_block.as_ref());
    if wire.version != 1 {
        let message = format!(
            "version {} is not available in this version: write 1",
            wire.version
        );
        c.refuse("version", message);
    }
    let timeouts = wire.timeouts.take().unwrap_or_default();
    let limits_block = wire.limits.take().unwrap_or_default();
    let connect = duration(timeouts.connect, Duration::from_secs(2));
    let response_head = duration(timeouts.response_head, Duration::from_secs(30));
    let identity_order = sharding::order(c, &wire);
    let config = GatewayConfig {
        certificate_fields: sharding::certificate_fields(&wire),
        sharding: sharding::sharding(c, &wire, &identity_order),
        identity_order,
        listeners: listeners(c, &wire),
        admin: admin(c, &wire),
        trusted_proxies: trusted_proxies(c, &wire.trusted_proxies),
        underscores: match wire.underscores {
            UnderscoresWord::Drop => Underscores::Drop,
            UnderscoresWord::Pass => Underscores::Pass,
        },
        half_close: match wire.client_half_close {
            HalfCloseWord::Answer => HalfClose::Answer,
            HalfCloseWord::Abort => HalfClose::Abort,
        },
        upstreams: upstreams(c, &wire.upstreams, connect, response_head),
        routes: routes::routes(c, &wire),
        analytics: analytics::analytics(c, wire.analytics.as_ref()),
        tracing: analytics::tracing(c, wire.tracing.as_ref()),
        redacted: analytics::redacted(c, wire.analytics.as_ref()),
        timings: timings(c, &wire),
        http2: http2(c, &wire),
        counters: None,
        timeouts: Timeouts {
            request_head: duration(timeouts.request_head, Duration::from_secs(10)),
            idle: duration(timeouts.idle, Duration::from_secs(60)),
            body_rate: limits_block.body_rate.map_or(1024, |rate| *rate),
            total: duration(timeouts.total, Duration::from_secs(600)),
            shutdown_delay: duration(timeouts.shutdown_delay, Duration::ZERO),
            drain: duration(timeouts.drain, Duration::from_secs(30)),
            upgraded: duration(timeouts.upgraded, Duration::from_secs(300)),
            swap: duration(timeouts.swap, Duration::from_secs(60)),
        },
        limits: limits(c, &limits_block, &wire),
        error_format: ErrorFormat::Own,
        control: None,
        // After all that may want one.
        keeping: secrets::keeping(c, secrets_block.as_ref()),
        notes: Vec::new(),
        places: DeferredPlaces {
            admin: document.problem("admin.address", ""),
            analytics: document.problem("analytics", ""),
            tracing: document.problem("tracing", ""),
            identity_order: document.problem("identity.order", ""),
        },
    };
    checker.into_problems().or_ok(config)
}

fn duration(written: Option<DurationText>, default: Duration) -> Duration {
    written.map_or(default, |text| *text)
}

fn http2(c: &mut Checker<'_>, wire: &GatewayFile) -> Option<Http2> {
    let block = wire.http2.as_ref()?;
    for (name, written) in [("streams", block.streams), ("resets", block.resets)] {
        if written == Some(0) {
            let at = Path::root().key("http2").key(name);
            c.refuse(at, "0 would refuse every request: write at least 1");
        }
    }
    Some(Http2 {
        streams: block.streams.unwrap_or(128),
        resets: block.resets.unwrap_or(200),
    })
}

fn timings(c: &mut Checker<'_>, wire: &GatewayFile) -> Timings {
    let Some(block) = &wire.timings else {
        return Timings::default();
    };
    if block.records && wire.analytics.is_none() {
        let message = "there are no records without `analytics`: write that too";
        c.refuse(Path::root().key("timings").key("records"), message);
    }
    Timings {
        header: block.header,
        records: block.records,
        metrics: block.metrics,
    }
}

fn listeners(c: &mut Checker<'_>, wire: &GatewayFile) -> Vec<ListenerConfig> {
    if wire.listeners.0.is_empty() {
        c.refuse("listeners", "at least one listener is needed");
    }
    let alpn: &[&[u8]] = match &wire.http2 {
        Some(_) => &[b"h2", b"http/1.1"],
        None => &[b"http/1.1"],
    };
    let mut taken: HashMap<SocketAddr, &str> = HashMap::new();
    let mut listeners = Vec::new();
    for (name, block) in wire.listeners.iter() {
        let at = Path::root().key("listeners").key(name);
        if name == "admin" {
            c.refuse(
                at.clone(),
                "this name is the admin listener's: choose another",
            );
        }
        let at = at.key("address");
        let tls = block.tls.as_ref();
        let tls = tls.and_then(|block| {
            let at = Path::root().key("listeners").key(name).key("tls");
            tls::tls(c, &at, block, alpn)
        });
        let Some(address) = address(c, &at, &block.address) else {
            continue;
        };
        let first = (address.port() != 0)
            .then(|| taken.insert(address, name))
            .flatten();
        if let Some(first) = first {
            c.refuse(at, format!("listener `{first}` has this address already"));
        }
        listeners.push(ListenerConfig {
            name: name.to_owned(),
            address,
            tls,
        });
    }
    listeners
}

fn admin(c: &mut Checker<'_>, wire: &GatewayFile) -> Option<AdminConfig> {
    let block = wire.admin.as_ref()?;
    let at = Path::root().key("admin").key("address");
    let address = address(c, &at, &block.address)?;
    if !address.ip().is_loopback() {
        c.refuse(
            at,
            "the admin listener binds loopback only: write `127.0.0.1:…`",
        );
    }
    Some(AdminConfig {
        address,
        hosts: block.hosts.iter().map(|h| h.to_ascii_lowercase()).collect(),
    })
}

fn address(c: &mut Checker<'_>, at: &Path, text: &str) -> Option<SocketAddr> {
    let parsed = match text.strip_prefix(':') {
        Some(port) => port
            .parse()
            .ok()
            .map(|port| (Ipv4Addr::LOCALHOST, port).into()),
        None => text.parse().ok(),
    };
    if parsed.is_none() {
        let message = format!("`{text}` is not an IP address with a port: write `127.0.0.1:8080`");
        c.refuse(at, message);
    }
    parsed
}

fn trusted_proxies(c: &mut Checker<'_>, texts: &[String]) -> Vec<Network> {
    let mut networks = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        match text.parse::<Network>() {
            Ok(network) => networks.push(network),
            Err(error) => c.refuse(
                Path::root().key("trusted_proxies").index(index),
                error.to_string(),
            ),
        }
    }
    networks
}

fn upstreams(
    c: &mut Checker<'_>,
    blocks: &Entries<UpstreamBlock>,
    connect: Duration,
    response_head: Duration,
) -> Vec<UpstreamConfig> {
    let mut upstreams = Vec::new();
    for (name, block) in blocks.iter() {
        let at = Path::root().key("upstreams").key(name);
        if block.max_pending == Some(0) {
            c.refuse(
                at.key("max_pending"),
                "0 would refuse every request: write at least 1",
            );
        }
        let endpoints = endpoints(c, &at.key("endpoints"), &block.endpoints);
        upstreams.push(UpstreamConfig {
            name: name.to_owned(),
            tls: secured::upstream_tls(c, &at, block, &endpoints),
            endpoints,
            balance: upstreams::balance(c, &at, block),
            preserve_host: block.preserve_host,
            spoken: match block.http2 {
                true => Spoken::Http2,
                false => Spoken::Http1,
            },
            nameless: Nameless::Refused,
            max_pending: block.max_pending.unwrap_or(1024),
            idle_connections: block.idle_connections,
            idle_timeout: duration(block.idle_timeout, Duration::from_secs(30)),
            connect_timeout: duration(block.connect_timeout, connect),
            response_head_timeout: duration(block.response_head_timeout, response_head),
            ejection: upstreams::ejection(c, &at.key("eject"), block.eject.as_ref()),
            check: upstreams::check(c, &at.key("check"), block.check.as_ref()),
            retry: upstreams::retry(c, &at.key("retry"), block.retry.as_ref()),
        });
    }
    upstreams
}

fn endpoints(c: &mut Checker<'_>, at: &Path, texts: &[String]) -> Vec<EndpointConfig> {
    if texts.is_empty() {
        c.refuse(
            at,
            "at least one endpoint is needed: write `http://host:port` or `https://host:port`",
        );
    }
    let mut endpoints: Vec<EndpointConfig> = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        match endpoint(text) {
            Ok(endpoint) if endpoints.contains(&endpoint) => {
                c.refuse(at.index(index), "this endpoint is listed twice");
            }
            Ok(endpoint) => endpoints.push(endpoint),
            Err(message) => c.refuse(at.index(index), message),
        }
    }
    endpoints
}

/// Reads `http://host:port` or `https://host:port`.
pub(crate) fn endpoint(text: &str) -> Result<EndpointConfig, String> {
    let malformed =
        || format!("`{text}` is not an endpoint: write `http://host:port` or `https://host:port`");
    let (scheme, authority) = text.split_once("://").ok_or_else(malformed)?;
    let (secured, default_port) = match scheme {
        "http" => (false, 80),
        "https" => (true, 443),
        _ => return Err(malformed()),
    };
    let authority = authority.strip_suffix('/').unwrap_or(authority);
    if authority.contains(['/', '?', '#']) {
        return Err("an endpoint has no path: requests keep theirs (see `strip`)".to_owned());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| malformed())?)
        }
        _ => (authority, default_port),
    };
    let is_name = !host.is_empty()
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    let is_ipv6 = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    if port == 0 || !(is_name || is_ipv6) {
        return Err(malformed());
    }
    Ok(EndpointConfig {
        secured,
        host: host.to_ascii_lowercase(),
        port,
    })
}

fn limits(c: &mut Checker<'_>, block: &LimitsBlock, wire: &GatewayFile) -> ConnectionLimits {
    const LARGEST_HEAD: u64 = 1024 * 1024;
    let mut size = |name: &str, written: Option<u64>, default: usize| {
        let Some(bytes) = written else { return default };
        let usable = (256..=LARGEST_HEAD).contains(&bytes);
        if !usable {
            c.refuse(
                Path::root().key("limits").key(name),
                "this limit lies between 256 bytes and 1MiB",
            );
        }
        usize::try_from(bytes).unwrap_or(default)
    };
    let default = Limits::default();
    let request = Limits {
        head_bytes: size("head", block.head.map(|b| *b), default.head_bytes),
        target_bytes: size("target", block.target.map(|b| *b), default.target_bytes),
        fields: block.fields.map_or(default.fields, |n| n as usize),
        body_bytes: block.body.map_or(1 << 30, |b| *b),
        trailer_bytes: default.trailer_bytes,
    };
    let at = |name| Path::root().key("limits").key(name);
    for (name, written) in [
        ("connections", block.connections),
        ("connections_per_address", block.connections_per_address),
        ("connections_per_identity", block.connections_per_identity),
        ("fields", block.fields),
    ] {
        if written == Some(0) {
            c.refuse(at(name), "0 would refuse every request: write at least 1");
        }
    }
    if block.connections_per_identity.is_some() && !sharding::asks_for_certificates(wire) {
        c.refuse(at("connections_per_identity"), sharding::NOBODY_ASKS);
    }
    ConnectionLimits {
        connections: block.connections.unwrap_or(10_000),
        per_address: block.connections_per_address,
        per_identity: block.connections_per_identity,
        request,
        response: Limits {
            body_bytes: u64::MAX,
            ..request
        },
    }
}
