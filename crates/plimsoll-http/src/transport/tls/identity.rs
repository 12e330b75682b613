//! Who one end is: a certificate with its key.

use super::{TlsError, provider};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ResolvesServerCert;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys};
use std::fmt;
use std::sync::Arc;

/// A certificate, those of the authorities between it and one that is trusted, and its private key.
#[derive(Clone)]
pub struct Identity(Arc<SingleCertAndKey>);

impl Identity {
    /// An identity from PEM text.
    ///
    /// # Errors
    /// [`TlsError`]: something is missing, cannot be used or does not belong together. An authority's certificate between is not verified.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, TlsError> {
        let chain = certificates(certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| TlsError::NoKey)?;
        let certified =
            CertifiedKey::from_der(chain, key, &provider()).map_err(|error| match error {
                Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => TlsError::Mismatch,
                Error::InvalidCertificate(error) => TlsError::Certificate(error.to_string()),
                error => TlsError::Key(error.to_string()),
            })?;
        Ok(Self(Arc::new(SingleCertAndKey::from(certified))))
    }

    /// An identity that nobody vouches for, with a new key, for these host names and addresses. The first is its common name.
    ///
    /// # Errors
    /// [`TlsError::Unmade`]: one of them can be neither.
    pub fn self_signed(names: &[String]) -> Result<Self, TlsError> {
        let unmade = |error: rcgen::Error| TlsError::Unmade(error.to_string());
        let key = KeyPair::generate().map_err(unmade)?;
        let mut params = CertificateParams::new(names).map_err(unmade)?;
        let mut called = DistinguishedName::new();
        called.push(DnType::CommonName, names.first().map_or("", String::as_str));
        params.distinguished_name = called;
        let certificate = params.self_signed(&key).map_err(unmade)?;
        Self::from_pem(&certificate.pem(), &key.serialize_pem())
    }

    pub(super) fn server_resolver(&self) -> Arc<dyn ResolvesServerCert> {
        Arc::clone(&self.0) as _
    }

    pub(super) fn resolver(&self) -> Arc<dyn ResolvesClientCert> {
        Arc::clone(&self.0) as _
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(..)")
    }
}

/// Every certificate of a PEM text; at least one.
///
/// # Errors
/// [`TlsError`]: there is none, or something that is none.
pub fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| TlsError::Certificate(error.to_string()))?;
    if found.is_empty() {
        return Err(TlsError::NoCertificate);
    }
    Ok(found)
}
