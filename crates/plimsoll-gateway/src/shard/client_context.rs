//! Consequences of a client's certificate: who it is, which shard its data is in, and what upstreams are told of it. Made when it
//! connects, and anew for each generation that serves it; requests only look at it.

use crate::clients::certificate::Certificate;
use crate::clients::identity::Identity;
use crate::clients::shard_map::{Assignment, ShardMap};
use crate::config::CertificateField;
use crate::routing::service::Service;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_http::encode;
use plimsoll_http::tls::CertificateDer;

/// A client that has shown a certificate.
#[derive(Debug)]
pub(crate) struct ClientContext {
    pub(crate) place: ShardPlace,
    /// Header fields about the certificate, ready to be sent.
    pub(crate) fields: Vec<u8>,
}

/// Where requests of a client belong on a route that goes by shard.
#[derive(Debug)]
pub(crate) enum ShardPlace {
    /// There is no such route.
    Unasked,
    /// It has none, for this reason.
    Nowhere(Box<str>),
    /// Its data is there.
    In(Assignment),
}

impl ClientContext {
    /// That of who has shown this chain, by the rules of `service`.
    pub(crate) fn of(chain: &[CertificateDer<'_>], service: &Service) -> Option<Self> {
        let (own, between) = chain.split_first()?;
        Some(match Certificate::read(own) {
            Ok(certificate) => Self {
                place: place(&certificate, service),
                fields: fields(&certificate, own, between, &service.certificate_fields),
            },
            Err(error) => Self {
                place: ShardPlace::Nowhere(format!("your certificate {error}").into()),
                fields: Vec::new(),
            },
        })
    }
}

fn place(certificate: &Certificate, service: &Service) -> ShardPlace {
    let Some(sharding) = &service.sharding else {
        return ShardPlace::Unasked;
    };
    let identity = match Identity::of(certificate, &sharding.order) {
        Ok(identity) => identity,
        Err(error) => return ShardPlace::Nowhere(error.to_string().into()),
    };
    assigned(&sharding.map, &identity)
}

/// Where the map puts an identity.
pub(crate) fn assigned(map: &ShardMap, identity: &Identity) -> ShardPlace {
    match map.find(identity) {
        Some(assignment) => ShardPlace::In(assignment),
        None => ShardPlace::Nowhere(format!("no shard is assigned to {identity}").into()),
    }
}

fn fields(
    certificate: &Certificate,
    own: &CertificateDer<'_>,
    between: &[CertificateDer<'_>],
    wanted: &[CertificateField],
) -> Vec<u8> {
    let mut out = Vec::new();
    for field in wanted {
        match field {
            CertificateField::ClientCert => {
                encode::field(&mut out, "Client-Cert", byte_sequence(own));
            }
            CertificateField::ClientCertChain if between.is_empty() => {}
            CertificateField::ClientCertChain => {
                let chain: Vec<String> = between.iter().map(|c| byte_sequence(c)).collect();
                encode::field(&mut out, "Client-Cert-Chain", chain.join(", "));
            }
            CertificateField::Xfcc => {
                encode::field(&mut out, "X-Forwarded-Client-Cert", xfcc(certificate));
            }
        }
    }
    out
}

/// A byte sequence of RFC 8941, as RFC 9440 wants certificates.
fn byte_sequence(certificate: &CertificateDer<'_>) -> String {
    format!(":{}:", BASE64_STANDARD.encode(certificate))
}

/// One element of `X-Forwarded-Client-Cert` as Envoy writes it.
fn xfcc(certificate: &Certificate) -> String {
    let mut out = format!(
        "Hash={};Subject={}",
        certificate.fingerprint.to_hex(),
        quoted(&certificate.subject)
    );
    for (key, values) in [("URI", &certificate.uris), ("DNS", &certificate.hosts)] {
        for value in values {
            out.push_str(&format!(";{key}={}", quoted_if_needed(value)));
        }
    }
    out
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn quoted_if_needed(value: &str) -> String {
    match value.contains([',', ';', '=', '"', '\\']) {
        true => quoted(value),
        false => value.to_owned(),
    }
}
