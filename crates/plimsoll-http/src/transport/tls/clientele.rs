//! Whose clients a server serves: authorities, and which of the certificates that they have issued they have revoked.

use super::verify::roots;
use super::{TlsError, provider};
use rustls::Error;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use std::sync::Arc;

/// Whether a client may go without a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// It may not.
    Required,
    /// It may; one that it shows must hold all the same.
    Optional,
}

/// The verifier of clients' certificates.
#[derive(Debug, Clone)]
pub struct Clientele(Arc<dyn ClientCertVerifier>);

impl Clientele {
    /// Clients of the authorities in this PEM text. Where there are lists of what is revoked, each certificate between a client's and an
    /// authority, the client's included, must be covered by one that has not expired.
    ///
    /// # Errors
    /// [`TlsError`]
    pub fn new(
        authorities: &str,
        revoked: Vec<CertificateRevocationListDer<'static>>,
        demand: Demand,
    ) -> Result<Self, TlsError> {
        let roots = Arc::new(roots(authorities)?);
        let builder = WebPkiClientVerifier::builder_with_provider(roots, provider())
            .with_crls(revoked)
            .enforce_revocation_expiration();
        let builder = match demand {
            Demand::Required => builder,
            Demand::Optional => builder.allow_unauthenticated(),
        };
        let verifier = builder.build();
        verifier
            .map(Self)
            .map_err(|error| TlsError::Certificate(error.to_string()))
    }

    /// Whether a chain that a client has shown, its own certificate first, holds at this time. That the client has the key is not judged.
    ///
    /// # Errors
    /// rustls' reason.
    pub fn judge(&self, chain: &[CertificateDer<'_>], now: UnixTime) -> Result<(), Error> {
        let (own, between) = chain.split_first().ok_or(Error::NoCertificatesPresented)?;
        self.0.verify_client_cert(own, between, now).map(|_| ())
    }

    pub(super) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::clone(&self.0)
    }
}

/// Lists of revoked certificates: one in DER, or any number of them as PEM text.
///
/// # Errors
/// [`TlsError::Revocations`]; whether a list can be read is seen only when it is used.
pub fn revocation_lists(
    bytes: &[u8],
) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    // DER begins with the tag of a sequence, which is no letter of PEM's.
    if bytes.first() == Some(&0x30) {
        return Ok(vec![CertificateRevocationListDer::from(bytes.to_vec())]);
    }
    let lists = CertificateRevocationListDer::pem_slice_iter(bytes).collect::<Result<Vec<_>, _>>();
    match lists {
        Ok(lists) if !lists.is_empty() => Ok(lists),
        _ => Err(TlsError::Revocations),
    }
}
