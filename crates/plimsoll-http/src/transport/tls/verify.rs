//! Whom servers' certificates must come from.

use super::identity::certificates;
use super::{TlsError, provider};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// Whom servers' certificates must come from.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// The authorities that this host trusts, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name in their place.
    System,
    /// One of those in this PEM text, and no other.
    Authorities(&'a str),
    /// Anybody: nothing is verified but that the server has the key of the certificate that it shows.
    Anybody,
}

/// The verifier of servers' certificates.
pub(super) fn verifier(trust: Trust<'_>) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    let roots = match trust {
        Trust::System => {
            let mut roots = RootCertStore::empty();
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err(TlsError::NoStore);
            }
            roots
        }
        Trust::Authorities(pem) => roots(pem)?,
        Trust::Anybody => return Ok(Arc::new(Anybody(provider()))),
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map(|verifier| verifier as _)
        .map_err(|error| TlsError::Certificate(error.to_string()))
}

/// The authorities of a PEM text; at least one.
pub(super) fn roots(pem: &str) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots
            .add(certificate)
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
    }
    Ok(roots)
}

/// Accepts any certificate whose key the server has.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
