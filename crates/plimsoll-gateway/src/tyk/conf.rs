//! The supported part of `tyk.conf`: the meaning of its fields.

mod records;
mod secrets;
mod wire;

pub(super) use wire::Wire;

use super::overrides::{self, Compiled};
use super::pattern::PathRules;
use super::tls::{self, TlsWords};
use crate::answering::overrides::Level;
use crate::config::Surroundings;
use crate::keys::control::KeyRules;
use crate::keys::lifetime::Lifetimes;
use crate::keys::name::Form;
use plimsoll_base::document::{Document, Problem, Problems};
use plimsoll_records::AnalyticsConfig;
use plimsoll_redis::RedisConf;
use plimsoll_secrets::Keeping;
use plimsoll_secrets::Secret;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wire::{PoliciesWire, ServerWire};

/// A valid `tyk.conf`.
#[derive(Clone)]
pub(super) struct Conf {
    pub(super) address: SocketAddr,
    pub(super) secret: Secret,
    pub(super) app_path: PathBuf,
    /// Where Tyk looks for scripts of APIs.
    pub(super) middleware_path: PathBuf,
    pub(super) policies: Option<PolicyFiles>,
    pub(super) redis: Option<RedisConf>,
    pub(super) analytics: Option<AnalyticsConfig>,
    /// Requests to every API are recorded in detail.
    pub(super) detailed: bool,
    pub(super) keys: KeyRules,
    /// Without those of definitions.
    pub(super) lifetimes: Lifetimes,
    pub(super) health: String,
    pub(super) readiness: String,
    /// From the moment it is told to stop until requests are not taken any more.
    pub(super) shutdown_delay: Duration,
    pub(super) drain: Duration,
    pub(super) response_head: Duration,
    pub(super) idle_connections: Option<u32>,
    /// TLS to upstreams.
    pub(super) upstream_tls: TlsWords,
    /// HTTP/2 is offered to upstreams over TLS.
    pub(super) offers_http2: bool,
    pub(super) hide_generator: bool,
    pub(super) paths: PathRules,
    /// APIs have names of their own.
    pub(super) domains: bool,
    /// Tyk would run code in processes beside it.
    pub(super) coprocess: bool,
    pub(super) body: u64,
    /// Protocols that clients may switch to.
    pub(super) upgrades: Vec<String>,
    /// Words in the place of errors, behind those of each definition.
    pub(super) overrides: Arc<Level>,
    /// Secrets that are asked for beside the requests.
    pub(super) keeping: Option<Keeping>,
    /// Notes for the operator.
    pub(super) notes: Vec<String>,
}

/// Where policies are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PolicyFiles {
    /// An object of policies by their names.
    One(PathBuf),
    /// A directory with a file for each, which names itself.
    Directory(PathBuf),
}

/// Problems, collected.
struct Check<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn refuse(&mut self, path: &str, message: &str) {
        self.problems.push(self.document.problem(path, message));
    }
}

/// How many are kept for each endpoint, if that is said; at most 4096.
fn idle_connections(written: Option<u32>) -> Option<u32> {
    written.filter(|n| *n > 0).map(|n| n.min(4096))
}

/// The configuration that a decoded file means.
pub(super) fn check(
    document: &Document,
    mut wire: Wire,
    around: Surroundings<'_>,
) -> Result<Conf, Problems> {
    let mut c = Check {
        document,
        problems: Vec::new(),
    };
    let c = &mut c;
    let address = address(c, &wire);
    let (secret, passwords, keeping) = secrets::secrets(c, &mut wire, address, around);
    let upstream_tls = upstream_tls(c, &wire);
    let seconds = wire.proxy_default_timeout.filter(|seconds| *seconds > 0.0);
    let shutdown_delay = wire.graceful_shutdown_delay_seconds.unwrap_or(0);
    let keys = key_rules(&wire);
    let redis = records::redis(c, "storage", wire.storage.take(), passwords.storage);
    let detailed = wire.analytics_config.as_ref();
    let detailed = detailed.and_then(|config| config.enable_detailed_recording);
    let analytics = records::analytics(c, &mut wire, redis.as_ref(), passwords.analytics);
    let (overrides, notes) = error_overrides(c, wire.error_overrides.as_ref());
    let server = wire.http_server_options.as_ref();
    let on =
        |flag: fn(&ServerWire) -> Option<bool>| server.and_then(flag).is_some_and(|is_on| is_on);
    let conf = Conf {
        analytics,
        detailed: detailed.unwrap_or(false),
        address,
        secret,
        policies: policies(c, wire.policies.as_ref()),
        redis,
        keys,
        lifetimes: lifetimes(&wire),
        health: endpoint_name(
            c,
            "health_check_endpoint_name",
            wire.health_check_endpoint_name,
            "hello",
        ),
        readiness: endpoint_name(
            c,
            "readiness_check_endpoint_name",
            wire.readiness_check_endpoint_name,
            "ready",
        ),
        shutdown_delay: Duration::from_secs(shutdown_delay.into()),
        drain: drain(wire.graceful_shutdown_timeout_duration),
        response_head: Duration::from_secs_f64(seconds.unwrap_or(30.0).min(86_400.0)),
        idle_connections: idle_connections(wire.max_idle_connections_per_host),
        upstream_tls,
        offers_http2: wire.proxy_enable_http2.unwrap_or(false),
        hide_generator: wire.hide_generator_header.unwrap_or(false),
        domains: wire.enable_custom_domains == Some(true),
        coprocess: (wire.coprocess_options)
            .is_some_and(|options| options.enable_coprocess == Some(true)),
        paths: PathRules {
            ignore_case: wire.ignore_endpoint_case.unwrap_or(false),
            prefix: on(|server| server.enable_path_prefix_matching),
            suffix: on(|server| server.enable_path_suffix_matching),
        },
        upgrades: match on(|server| server.enable_websockets) {
            true => vec!["websocket".to_owned()],
            false => Vec::new(),
        },
        body: server
            .and_then(|server| server.max_request_body_size)
            .filter(|bytes| *bytes > 0)
            .unwrap_or(1 << 30),
        app_path: app_path(c, wire.app_path),
        middleware_path: wire.middleware_path.unwrap_or_default().into(),
        overrides: Arc::new(overrides),
        keeping,
        notes,
    };
    Problems::from_iter(std::mem::take(&mut c.problems)).or_ok(conf)
}

fn drain(seconds: Option<u32>) -> Duration {
    let seconds = seconds.filter(|seconds| *seconds > 0);
    Duration::from_secs(seconds.unwrap_or(30).into())
}

/// Rules for keys that are made.
fn key_rules(wire: &Wire) -> KeyRules {
    KeyRules {
        hashed: wire.hash_keys.unwrap_or(false),
        form: match wire.hash_key_function.as_deref() {
            None | Some("") => Form::Plain,
            Some(_) => Form::SelfDescribing,
        },
        listing: wire.enable_hashed_keys_listing.unwrap_or(false),
        shortest: wire.min_token_length.filter(|n| *n > 0).unwrap_or(3) as usize,
        master_keys: wire.allow_master_keys.unwrap_or(false),
    }
}

/// How long keys of all APIs are there.
fn lifetimes(wire: &Wire) -> Lifetimes {
    Lifetimes {
        forced: (wire.force_global_session_lifetime == Some(true))
            .then(|| wire.global_session_lifetime.unwrap_or(0)),
        respects_expiry: wire.session_lifetime_respects_key_expiration == Some(true),
        ..Lifetimes::default()
    }
}

fn upstream_tls(c: &mut Check<'_>, wire: &Wire) -> TlsWords {
    let mut version = |name: &str, number: Option<u16>| {
        let version = tls::version(number);
        version.unwrap_or_else(|message| {
            c.refuse(name, message);
            None
        })
    };
    TlsWords {
        insecure: wire.proxy_ssl_insecure_skip_verify.unwrap_or(false),
        oldest: version("proxy_ssl_min_version", wire.proxy_ssl_min_version),
        newest: version("proxy_ssl_max_version", wire.proxy_ssl_max_version),
    }
}

/// Words in the place of errors, and notes for the operator on them.
fn error_overrides(c: &mut Check<'_>, wire: Option<&overrides::Wire>) -> (Level, Vec<String>) {
    let Compiled {
        level,
        problems,
        notes,
    } = overrides::compile(wire);
    for (at, message) in problems {
        c.problems.push(c.document.problem(at, message));
    }
    let notes = notes
        .into_iter()
        .map(|(at, message)| format!("{at}: {message}"));
    (level, notes.collect())
}

fn address(c: &mut Check<'_>, wire: &Wire) -> SocketAddr {
    let text = wire.listen_address.as_deref().unwrap_or("");
    let host = match text {
        "" | "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        text => text.parse().unwrap_or_else(|_| {
            c.refuse(
                "listen_address",
                "write an IP address, for instance `0.0.0.0`",
            );
            IpAddr::V4(Ipv4Addr::LOCALHOST)
        }),
    };
    SocketAddr::new(host, wire.listen_port.unwrap_or(8080))
}

fn app_path(c: &mut Check<'_>, written: Option<String>) -> PathBuf {
    match written.filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => {
            c.refuse(
                "app_path",
                "the directory of API definitions is missing: add it",
            );
            PathBuf::new()
        }
    }
}

/// Whatever the source is called, files are read but for the two that are elsewhere; without a name there are no policies.
fn policies(c: &mut Check<'_>, wire: Option<&PoliciesWire>) -> Option<PolicyFiles> {
    let wire = wire?;
    let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    if let Some("service" | "rpc") = wire.policy_source.as_deref() {
        c.refuse(
            "policies.policy_source",
            "policies come from files alone: write `file`",
        );
        return None;
    }
    let directory = said(&wire.policy_path).map(|path| PolicyFiles::Directory(path.into()));
    directory.or_else(|| said(&wire.policy_record_name).map(|path| PolicyFiles::One(path.into())))
}

fn endpoint_name(c: &mut Check<'_>, field: &str, written: Option<String>, default: &str) -> String {
    let name = written
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| default.to_owned());
    if !name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        || name.starts_with('.')
    {
        c.refuse(field, "write one segment of a path, for instance `hello`");
    }
    name
}
