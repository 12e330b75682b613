//! Requests that the mock itself sends: which there may be, and what all shards share about sending them.
//!
//! A mock sends nothing unless its configuration names hosts to send to ([`Targets`]). Every request has one deadline, and all of
//! them share a number of connections. What is sent and why is left to `wiremock/stub/response/proxy.rs` and its like; how, to `outgoing/client.rs`.

mod client;

pub(crate) use client::{Client, Failure, Received, Sending};

use plimsoll_http::Limits;
use plimsoll_http::tls::{ClientTls, TlsError, TlsSettings, TlsVersion, Trust};
use plimsoll_wiremock::reader::targets::Targets;
use plimsoll_wiremock::stub::proxy::{HostField, UserAgentField};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// How a mock sends requests.
#[derive(Debug, Clone)]
pub struct OutgoingConfig {
    /// To whom it may.
    pub targets: Targets,
    /// How long an exchange may take, the wait for a connection included.
    pub timeout: Duration,
    /// Connections in use at a time, over all shards; a further exchange waits for one.
    pub connections: usize,
    /// Whose certificates count.
    pub trust: TargetTrust,
    /// `Host` of a forwarded request.
    pub host: HostField,
    /// Its `User-Agent`.
    pub user_agent: UserAgentField,
    /// The only codings that a forwarded `Accept-Encoding` may name; without them it passes unchanged.
    pub encodings: Option<Vec<String>>,
}

/// Whose certificates count.
#[derive(Debug, Clone, Default)]
pub struct TargetTrust {
    /// PEM text of the only authorities that count, in the place of those that this host trusts.
    pub authorities: Option<String>,
    /// Whether everybody is trusted.
    pub everybody: Verification,
    /// Hosts that are trusted whatever they show, in lower case.
    pub hosts: Vec<String>,
}

/// Whether certificates are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verification {
    /// Yes.
    #[default]
    On,
    /// No.
    Off,
}

impl OutgoingConfig {
    /// How many descriptors its connections may take, those that are idle included.
    pub(crate) fn descriptors(&self, shards: usize) -> u64 {
        if self.targets.are_none() {
            return 0;
        }
        (self.connections + shards * client::IDLE) as u64
    }
}

impl Default for OutgoingConfig {
    /// To nobody. Time and connections are WireMock's.
    fn default() -> Self {
        Self {
            targets: Targets::default(),
            timeout: Duration::from_secs(300),
            connections: 1000,
            trust: TargetTrust::default(),
            host: HostField::default(),
            user_agent: UserAgentField::default(),
            encodings: None,
        }
    }
}

/// Settings of outgoing requests that all shards share.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) config: OutgoingConfig,
    /// How much of an answer is accepted.
    limits: Limits,
    connections: Semaphore,
    /// Read when they are first needed: a mock that never speaks TLS needs no store of authorities.
    verifying: OnceLock<Result<ClientTls, String>>,
    trusting: OnceLock<Result<ClientTls, String>>,
}

impl Outgoing {
    pub(crate) fn new(config: OutgoingConfig, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            connections: Semaphore::new(config.connections.clamp(1, Semaphore::MAX_PERMITS)),
            config,
            limits,
            verifying: OnceLock::new(),
            trusting: OnceLock::new(),
        })
    }

    /// TLS towards a host. Blocks while the authorities are read for the first time.
    fn tls(&self, host: &str) -> Result<ClientTls, String> {
        let trust = &self.config.trust;
        let known = trust.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        let base = if known || trust.everybody == Verification::Off {
            self.trusting.get_or_init(|| base(Trust::Anybody))
        } else {
            let of_host = Trust::System;
            let authorities = trust.authorities.as_deref();
            let trust = authorities.map_or(of_host, Trust::Authorities);
            self.verifying.get_or_init(|| base(trust))
        };
        let named = base.as_ref().map_err(String::clone)?.named(host);
        named.map_err(|error| error.to_string())
    }
}

/// TLS before the server's name is known.
fn base(trust: Trust<'_>) -> Result<ClientTls, String> {
    let settings = TlsSettings {
        server_name: "localhost",
        trust,
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: &[b"http/1.1"],
        resumption: true,
    };
    ClientTls::new(settings).map_err(|error: TlsError| format!("trust: it {error}"))
}
