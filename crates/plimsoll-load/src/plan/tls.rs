//! How connections are secured.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How connections are secured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The name that is sent as SNI and that the server's certificate must bear; an IP address is not sent.
    pub server_name: String,
    /// Whom servers' certificates must come from.
    #[serde(default)]
    pub trust: Trust,
    /// The oldest version that is offered.
    #[serde(default = "oldest")]
    pub oldest: TlsVersion,
    /// The newest version that is offered.
    #[serde(default = "newest")]
    pub newest: TlsVersion,
    /// Protocols offered by ALPN; `None`: the name of the connection's protocol.
    #[serde(default)]
    pub alpn: Option<Vec<String>>,
    /// Whether a connection may take up the session of an earlier one of the same user; without it each makes a full handshake.
    #[serde(default = "resumed")]
    pub resumption: bool,
    /// Who the client is: nobody, one for all, or one for each virtual user by its number.
    #[serde(default)]
    pub identities: Vec<Identity>,
}

/// Whom servers' certificates must come from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The authorities that this host trusts.
    #[default]
    System,
    /// One of these authorities, and no other: certificates as PEM.
    Authorities(String),
    /// Anybody: certificates are not verified.
    Anybody,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

/// A client certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Where the key comes from, for messages about it.
    pub name: String,
    /// The certificate, followed by those of intermediate authorities, as PEM.
    pub certificate: String,
    /// The private key, as PEM.
    pub key: PrivateKey,
}

/// The text of a private key; it is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PrivateKey(pub String);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

fn oldest() -> TlsVersion {
    TlsVersion::Tls12
}

fn newest() -> TlsVersion {
    TlsVersion::Tls13
}

fn resumed() -> bool {
    true
}
