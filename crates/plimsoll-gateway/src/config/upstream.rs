//! An upstream as it is configured: its endpoints, how they are chosen, watched and asked again.

use super::UpstreamTls;
use std::time::Duration;

/// An upstream with at least one endpoint.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UpstreamConfig {
    pub(crate) name: String,
    pub(crate) endpoints: Vec<EndpointConfig>,
    pub(crate) balance: Balance,
    pub(crate) preserve_host: bool,
    /// TLS of connections to its endpoints: `https://` is for all of them, or for none.
    pub(crate) tls: Option<UpstreamTls>,
    pub(crate) spoken: Spoken,
    pub(crate) nameless: Nameless,
    pub(crate) max_pending: u32,
    /// As configured; see [`idle_connections`](Self::idle_connections).
    pub(crate) idle_connections: Option<u32>,
    pub(crate) idle_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) response_head_timeout: Duration,
    pub(crate) ejection: Option<Ejection>,
    pub(crate) check: Option<Check>,
    pub(crate) retry: RetryConfig,
}

impl UpstreamConfig {
    /// Idle connections kept per endpoint: unless configured, all that exchanges may have left.
    pub(crate) fn idle_connections(&self) -> u32 {
        self.idle_connections.unwrap_or(self.max_pending)
    }

    /// Connections that an endpoint may have: a new one is dialled only when none is idle.
    pub(crate) fn connections(&self) -> u32 {
        self.max_pending.max(self.idle_connections())
    }
}

/// Which HTTP the endpoints of an upstream are spoken to by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    Http1,
    /// And nothing else: over TLS it must be agreed on.
    Http2,
    /// HTTP/2 with an endpoint that agrees to it over TLS, else HTTP/1.1.
    Either,
}

/// Treatment of endpoints whose names have no address when the configuration is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nameless {
    /// The configuration is refused.
    Refused,
    /// They are looked up when requests come.
    Awaited,
}

/// When an endpoint that fails is put out of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ejection {
    /// After so many failures in a row, at least 1.
    pub(crate) after: u32,
    /// For how long the first time.
    pub(crate) time: Duration,
    /// Of all endpoints, at a time.
    pub(crate) at_most_percent: u8,
    /// Answers that count as failures.
    pub(crate) statuses: Vec<u16>,
}

/// How endpoints are asked whether they are well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// A path in its normal form, and perhaps a query.
    pub(crate) path: String,
    /// Above zero.
    pub(crate) every: Duration,
    pub(crate) timeout: Duration,
    /// So many in a row that pass, at least 1.
    pub(crate) up_after: u32,
    /// So many in a row that fail, at least 1.
    pub(crate) down_after: u32,
}

/// How many requests may be sent a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetryConfig {
    /// Of all requests.
    pub(crate) percent: u8,
    /// And so many besides, over all shards.
    pub(crate) per_second: u32,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            percent: 20,
            per_second: 10,
        }
    }
}

/// Host and port of an endpoint, resolved when the configuration is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct EndpointConfig {
    /// It is spoken to over TLS.
    pub(crate) secured: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl EndpointConfig {
    /// The host as it is looked up, and as certificates name it.
    pub(crate) fn name(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// The `Host` field of forwarded requests.
    pub(crate) fn authority(&self) -> String {
        match (self.port, self.secured) {
            (80, false) | (443, true) => self.host.clone(),
            (port, _) => format!("{}:{port}", self.host),
        }
    }
}

/// How one of several endpoints is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Balance {
    RoundRobin,
    LeastPending,
    PeakEwma,
    ConsistentHash(HashBy),
}

/// By what requests are told apart that shall go to the same endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HashBy {
    /// Their client's address.
    Client,
    /// A field; by the client's address where it is absent.
    Header(String),
}

#[cfg(test)]
mod tests {
    use crate::config::GatewayConfig;

    #[test]
    fn all_that_exchanges_leave_is_kept_unless_a_number_is_given() {
        let numbers = |more: &str| {
            let text = format!(
                "version: 1\nlisteners: {{ main: {{ address: ':0' }} }}\nroutes: [{{ path: /, upstream: up }}]\n\
                 upstreams: {{ up: {{ endpoints: ['http://127.0.0.1:1']{more} }} }}\n"
            );
            let config = GatewayConfig::parse("gateway.yaml", &text).unwrap();
            let upstream = &config.upstreams[0];
            (upstream.idle_connections(), upstream.connections())
        };
        assert_eq!(numbers(""), (1024, 1024));
        assert_eq!(numbers(", max_pending: 5000"), (5000, 5000));
        assert_eq!(numbers(", idle_connections: 3"), (3, 1024));
    }
}
