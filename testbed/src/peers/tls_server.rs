//! The server's end of TLS, for servers of tests: rustls with a certificate for `localhost`. What is spoken over it is the server's.

use crate::Error;
use crate::authority::Authority;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::fmt::Display;
use std::sync::Arc;

/// The manner of a server's TLS.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// The versions that it speaks.
    pub versions: &'a [&'static SupportedProtocolVersion],
    /// The protocols that it agrees to by ALPN.
    pub alpn: &'a [&'a str],
    /// Whether clients must show a certificate of the same authority.
    pub asks: bool,
    /// Whether its certificate has expired.
    pub expired: bool,
}

/// A server of this authority.
///
/// # Errors
/// [`Error::Measured`]: rustls refuses it.
pub fn config(authority: &Authority, manner: Manner<'_>) -> Result<Arc<ServerConfig>, Error> {
    let issued = match manner.expired {
        false => authority.issue(&["localhost"])?,
        true => authority.issue_expired(&["localhost"])?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(manner.versions)
        .map_err(failed)?;
    let builder = if manner.asks {
        let mut roots = RootCertStore::empty();
        roots
            .add(der(authority.certificate()).map_err(failed)?)
            .map_err(failed)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().map_err(failed)?)
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).map_err(failed)?;
    let chain = vec![der(&issued.certificate).map_err(failed)?];
    let mut config = builder.with_single_cert(chain, key).map_err(failed)?;
    config.alpn_protocols = manner
        .alpn
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Ok(Arc::new(config))
}

fn der(pem: &str) -> Result<CertificateDer<'static>, pem::Error> {
    CertificateDer::from_pem_slice(pem.as_bytes())
}

fn failed(error: impl Display) -> Error {
    Error::Measured(format!("setting up a TLS server: {error}"))
}
