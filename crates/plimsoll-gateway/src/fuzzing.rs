//! Subjects of the fuzz targets: readers of texts that strangers write, as functions of them. The targets are in `fuzz/`, with the laws that must hold.

use crate::clients::certificate::Certificate;
use crate::clients::identity::{Identity, Kind};
use crate::clients::shard_map::{self, ShardMap};
use crate::exchange::fuzz_harness;
use crate::shard::client_context::{ShardPlace, assigned};
use h2::RecvStream;
use http::Request;
use plimsoll_base::digest::Digest;

pub use crate::tyk::fuzz_harness::{Served, definition as tyk_definition};

/// The endpoint that requests are forwarded to.
pub const ENDPOINT: &str = fuzz_harness::ENDPOINT;

/// The bytes that an upstream of HTTP/1.1 gets of a request that came by HTTP/2.
///
/// # Errors
/// Why it gets none.
pub async fn forward_http2(request: Request<RecvStream>) -> Result<Vec<u8>, String> {
    crate::server::connection::http2::fuzz_harness::forward(request).await
}

/// Names in a client's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Whom it is for, as RFC 4514 writes it.
    pub subject: String,
    /// Who issued it, likewise.
    pub issuer: String,
    /// The subject's common names, in order.
    pub common_names: Vec<String>,
    /// Alternative names that are URIs, in order.
    pub uris: Vec<String>,
    /// Those that are host names, in order, lower case.
    pub hosts: Vec<String>,
    /// SHA-256 of the whole, 64 hexadecimal digits.
    pub fingerprint: String,
    /// Its serial number, as encoded.
    pub serial: Vec<u8>,
    /// The last second in which it is valid, since 1970.
    pub not_after: i64,
}

/// Reads a certificate in DER.
///
/// # Errors
/// Why it cannot be read.
pub fn certificate(der: &[u8]) -> Result<Names, String> {
    let read = Certificate::read(der).map_err(|error| error.to_string())?;
    Ok(Names {
        subject: read.subject,
        issuer: read.issuer,
        common_names: read.common_names,
        uris: read.uris,
        hosts: read.hosts,
        fingerprint: read.fingerprint.to_hex(),
        serial: read.number.serial.into(),
        not_after: read.not_after,
    })
}

/// Who a client is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// By a URI.
    Uri(String),
    /// By a host name, lower case.
    Dns(String),
    /// By its issuer and its common name.
    IssuerCn(String, String),
    /// By the SHA-256 of its certificate, 64 hexadecimal digits.
    Sha256(String),
}

/// Who shows this certificate, where kinds of names count in this order: `uri`, `dns`, `issuer_cn`, `sha256`.
///
/// # Errors
/// Why that is nobody.
pub fn identity(der: &[u8], order: &[&str]) -> Result<Who, String> {
    let read = Certificate::read(der).map_err(|error| error.to_string())?;
    let identity = Identity::of(&read, &kinds(order)).map_err(|error| error.to_string())?;
    Ok(match identity {
        Identity::Uri(uri) => Who::Uri(uri.into()),
        Identity::Dns(host) => Who::Dns(host.into()),
        Identity::IssuerCn { issuer, cn } => Who::IssuerCn(issuer.into(), cn.into()),
        Identity::Sha256(digest) => Who::Sha256(digest.to_hex()),
    })
}

fn kinds(order: &[&str]) -> Vec<Kind> {
    let kind = |word: &&str| match *word {
        "uri" => Kind::Uri,
        "dns" => Kind::Dns,
        "issuer_cn" => Kind::IssuerCn,
        _ => Kind::Sha256,
    };
    order.iter().map(kind).collect()
}

/// A shard map that was read.
#[derive(Debug)]
pub struct Map(ShardMap);

impl Map {
    /// Reads a map whose shards are kept by the upstreams of these names.
    ///
    /// # Errors
    /// Every problem of the text.
    pub fn read(text: &str, upstreams: &[&str]) -> Result<Self, String> {
        let read = shard_map::read("shards.yaml", text, upstreams);
        read.map(Self).map_err(|problems| problems.to_string())
    }

    /// The upstream, by its place in the list, to which requests of this client go; or why they go nowhere.
    ///
    /// # Errors
    /// The client's refusal.
    pub fn upstream_of(&self, who: &Who) -> Result<usize, String> {
        let identity = match who {
            Who::Uri(uri) => Identity::Uri(uri.as_str().into()),
            Who::Dns(host) => Identity::Dns(host.as_str().into()),
            Who::IssuerCn(issuer, cn) => Identity::IssuerCn {
                issuer: issuer.as_str().into(),
                cn: cn.as_str().into(),
            },
            Who::Sha256(hex) => {
                Identity::Sha256(Digest::from_hex(hex).ok_or("64 hexadecimal digits")?)
            }
        };
        match assigned(&self.0, &identity) {
            ShardPlace::In(assignment) => Ok(self.0.shards[assignment.shard].upstream),
            ShardPlace::Nowhere(reason) => Err(reason.into()),
            ShardPlace::Unasked => Err("nobody asked".to_owned()),
        }
    }
}
