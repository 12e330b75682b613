//! TLS over a TCP connection: rustls with ring, set up once and carried out per connection.
//!
//! [`ClientTls`] holds what all connections of a client have in common, [`Identity`] who an end is, [`Connector`] both, ready to secure a
//! stream; [`ServerTls`] is the same for the other end. Where certificates and keys come from is left to others: everything here takes PEM
//! text, apart from the host's own authorities and from identities that sign themselves.

mod client;
mod clientele;
mod identity;
mod reason;
mod server;
mod verify;

pub use client::{ClientTls, Connector, HandshakeError, TlsSettings, TlsVersion};
pub use clientele::{Clientele, Demand, revocation_lists};
pub use identity::{Identity, certificates};
pub use reason::{objection, reason};
pub use server::{Clients, ServerSettings, ServerTls};
pub use verify::Trust;

pub use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
pub use rustls::{CertificateError, Error as RustlsError, HandshakeKind};

use rustls::crypto::CryptoProvider;
use std::sync::Arc;
use tokio::net::TcpStream;

/// A secured stream, of either end.
pub type TlsStream = tokio_rustls::TlsStream<TcpStream>;

/// The certificate that the other end has shown, in DER; `None` if it has none.
#[must_use]
pub fn shown(stream: &TlsStream) -> Option<Vec<u8>> {
    let certificates = stream.get_ref().1.peer_certificates()?;
    certificates.first().map(|certificate| certificate.to_vec())
}

/// Why TLS cannot be set up as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// There is no certificate in the text, or something that is none.
    #[error("has no certificate: write PEM text with at least one `BEGIN CERTIFICATE`")]
    NoCertificate,
    /// A certificate cannot be read.
    #[error("holds a certificate that cannot be read: {0}")]
    Certificate(String),
    /// There is no list of revoked certificates in the text.
    #[error(
        "has no list of revoked certificates: write PEM text with `BEGIN X509 CRL`, or one list in DER"
    )]
    Revocations,
    /// There is no key in the text.
    #[error("has no private key: write PEM text with a `BEGIN PRIVATE KEY` that is not encrypted")]
    NoKey,
    /// The key is of a kind that is not supported.
    #[error("holds a key that cannot be used: {0}")]
    Key(String),
    /// The key belongs to another certificate.
    #[error("is not the key of its certificate")]
    Mismatch,
    /// A certificate cannot be made.
    #[error("a certificate cannot be made: {0}")]
    Unmade(String),
    /// The key of session tickets cannot be made.
    #[error("session tickets cannot be made: {0}")]
    Tickets(String),
    /// The name is neither a host name nor an address.
    #[error("`{0}` is neither a host name nor an address")]
    Name(String),
    /// The oldest version is newer than the newest.
    #[error("the oldest version is newer than the newest")]
    Versions,
    /// The host has no authorities to trust.
    #[error("this host has no store of trusted authorities: name one with `ca`")]
    NoStore,
}

/// The cryptography that is used: ring's.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
