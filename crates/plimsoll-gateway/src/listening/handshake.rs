//! Why clients did not get through the TLS handshake: reasons that an operator can do something about, each a counter.

use plimsoll_http::meters::Counter;
use plimsoll_http::tls::{CertificateError, RustlsError};
use std::io;

/// Handshakes that failed, by why.
#[derive(Debug, Default)]
pub(crate) struct HandshakeMetrics([Counter; Reason::ALL.len()]);

/// Why a handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The client has shown no certificate where one is required.
    NoCertificate,
    /// None of the authorities has issued it.
    UnknownIssuer,
    Expired,
    NotYetValid,
    Revoked,
    /// No current list says whether it is revoked.
    RevocationUnknown,
    /// Its certificate holds for another reason not.
    BadCertificate,
    /// No common version, cipher or protocol, or not TLS at all.
    Protocol,
    /// The client closed or failed.
    Closed,
    /// It took too long.
    TimedOut,
}

impl Reason {
    /// Every reason with its name in the metrics, in the order of the counters.
    pub(crate) const ALL: [(Self, &str); 10] = [
        (Self::NoCertificate, "no_certificate"),
        (Self::UnknownIssuer, "unknown_issuer"),
        (Self::Expired, "expired"),
        (Self::NotYetValid, "not_yet_valid"),
        (Self::Revoked, "revoked"),
        (Self::RevocationUnknown, "revocation_unknown"),
        (Self::BadCertificate, "bad_certificate"),
        (Self::Protocol, "protocol"),
        (Self::Closed, "closed"),
        (Self::TimedOut, "timeout"),
    ];

    /// Why a handshake failed with this error.
    pub(crate) fn of(error: &io::Error) -> Self {
        let inner = error
            .get_ref()
            .and_then(|e| e.downcast_ref::<RustlsError>());
        match inner {
            None => Self::Closed,
            Some(RustlsError::NoCertificatesPresented) => Self::NoCertificate,
            Some(RustlsError::InvalidCertificate(error)) => Self::of_certificate(error),
            Some(RustlsError::AlertReceived(_)) => Self::Closed,
            Some(_) => Self::Protocol,
        }
    }

    /// Why a certificate does not hold.
    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotYetValid
            }
            CertificateError::Revoked => Self::Revoked,
            CertificateError::UnknownRevocationStatus
            | CertificateError::ExpiredRevocationList
            | CertificateError::ExpiredRevocationListContext { .. } => Self::RevocationUnknown,
            _ => Self::BadCertificate,
        }
    }
}

impl HandshakeMetrics {
    /// Counts one.
    pub(crate) fn failed(&self, reason: Reason) {
        self.get(reason).add(1);
    }

    /// How many failed for this reason.
    pub(crate) fn get(&self, reason: Reason) -> &Counter {
        let at = Reason::ALL.iter().position(|(known, _)| *known == reason);
        &self.0[at.expect("invariant: every reason is listed")]
    }
}
