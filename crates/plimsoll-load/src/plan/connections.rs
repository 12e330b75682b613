//! How connections are made, kept and shared.

use super::Tls;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

/// How connections are made, kept and shared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// Who uses a connection, and for how long.
    pub policy: ConnectionPolicy,
    /// A connection is closed after so many exchanges, however it may be used otherwise.
    pub exchanges: Option<u32>,
    /// The protocol spoken on them.
    pub protocol: Protocol,
    /// How they are secured; `None`: not at all.
    pub tls: Option<Tls>,
    /// Local addresses to connect from, round robin by connection; empty: the system chooses.
    pub sources: Vec<IpAddr>,
    /// How the target's name becomes an address again and again; `None`: the target's addresses are used as they are.
    pub resolve: Option<Resolve>,
    /// The longest that a connection may take to be there, its name lookup and its TLS handshake included.
    pub connect_timeout: Option<Duration>,
    /// The longest from the first byte sent to the first byte of the answer.
    pub first_byte_timeout: Option<Duration>,
}

impl Connections {
    /// The port that an authority need not name: 443 where connections are secured, else 80 (RFC 9110, section 4.2).
    #[must_use]
    pub fn default_port(&self) -> u16 {
        if self.tls.is_some() { 443 } else { 80 }
    }
}

/// Who uses a connection, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionPolicy {
    /// Each virtual user has its own; it is replaced when it cannot carry another exchange.
    #[default]
    PerUser,
    /// So many over all shards are shared by all virtual users: each exchange takes the one that became idle last, and waits for one when all
    /// are taken.
    Shared(u32),
    /// Each iteration has its own, which is closed at its end.
    PerIteration,
    /// Each exchange has its own, and asks the server to close it after.
    PerExchange,
}

/// Protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2: by ALPN over TLS, with prior knowledge without it.
    Http2 {
        /// How many virtual users of a shard share a connection, each with one stream at a time.
        streams: u32,
    },
}

/// A name that is looked up while the load runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    /// The name to look up.
    pub host: String,
    /// The port to connect to.
    pub port: u16,
    /// For how long an answer holds, within a shard; 0: every connection looks again.
    pub every: Duration,
}
