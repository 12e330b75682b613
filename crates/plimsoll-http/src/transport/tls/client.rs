//! The client's end of TLS.

use super::verify::{Trust, verifier};
use super::{Identity, TlsError, TlsStream, provider};
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Settings that all connections of a client share.
#[derive(Debug, Clone, Copy)]
pub struct TlsSettings<'a> {
    /// The name that is sent as SNI and that certificates must bear. An address is not sent, but must be borne.
    pub server_name: &'a str,
    /// Whom certificates must come from.
    pub trust: Trust<'a>,
    /// The oldest version that is offered.
    pub oldest: TlsVersion,
    /// The newest version that is offered.
    pub newest: TlsVersion,
    /// Protocols that are offered by ALPN; none if empty.
    pub alpn: &'a [&'a [u8]],
    /// Whether a connector's connections may take up sessions of its earlier ones.
    pub resumption: bool,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246.
    Tls12,
    /// RFC 8446.
    Tls13,
}

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The server's certificate does not hold: not trusted, expired, or for another name.
    #[error("the server's certificate does not hold: {0}")]
    Certificate(#[source] rustls::Error),
    /// One of the two ends cannot go on: no common version or cipher, or the server refused the client's certificate.
    #[error("the TLS handshake failed: {0}")]
    Protocol(#[source] rustls::Error),
    /// The connection ended during the handshake.
    #[error("the connection ended during the TLS handshake: {0}")]
    Io(#[source] io::Error),
}

/// Configuration that all connections of a client share, ready.
#[derive(Debug, Clone)]
pub struct ClientTls {
    name: ServerName<'static>,
    verifier: Arc<dyn ServerCertVerifier>,
    versions: Vec<&'static SupportedProtocolVersion>,
    alpn: Vec<Vec<u8>>,
    resumption: bool,
}

/// Secures connections of one client: sessions that may be resumed are its own.
#[derive(Debug, Clone)]
pub struct Connector {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl ClientTls {
    /// Sets up what connections have in common; reads the host's authorities, if they are what is trusted.
    ///
    /// # Errors
    /// [`TlsError`]
    pub fn new(settings: TlsSettings<'_>) -> Result<Self, TlsError> {
        let range = settings.oldest..=settings.newest;
        let versions: Vec<_> = [(TlsVersion::Tls13, &TLS13), (TlsVersion::Tls12, &TLS12)]
            .into_iter()
            .filter(|(version, _)| range.contains(version))
            .map(|(_, supported)| supported)
            .collect();
        if versions.is_empty() {
            return Err(TlsError::Versions);
        }
        Ok(Self {
            name: read_name(settings.server_name)?,
            verifier: verifier(settings.trust)?,
            versions,
            alpn: settings.alpn.iter().map(|name| name.to_vec()).collect(),
            resumption: settings.resumption,
        })
    }

    /// A configuration for servers of another name: trusted certificates are not read again.
    ///
    /// # Errors
    /// [`TlsError::Name`]
    pub fn named(&self, server_name: &str) -> Result<Self, TlsError> {
        Ok(Self {
            name: read_name(server_name)?,
            ..self.clone()
        })
    }

    /// Connector of one client, which shows this identity if the server asks for one.
    ///
    /// # Panics
    /// Never: ring supports every version that settings can ask for.
    #[must_use]
    pub fn connector(&self, identity: Option<&Identity>) -> Connector {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&self.versions)
            .expect("invariant: ring supports TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier));
        let mut config = match identity {
            Some(identity) => builder.with_client_cert_resolver(identity.resolver()),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols.clone_from(&self.alpn);
        config.resumption = if self.resumption {
            Resumption::in_memory_sessions(1)
        } else {
            Resumption::disabled()
        };
        Connector {
            config: Arc::new(config),
            name: self.name.clone(),
        }
    }
}

fn read_name(name: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name(name.to_owned()))
}

impl Connector {
    /// Carries out the handshake on a connection. Deadlines are the caller's.
    ///
    /// # Errors
    /// [`HandshakeError`]; the connection is closed then.
    pub async fn secure(&self, stream: TcpStream) -> Result<TlsStream, HandshakeError> {
        TlsConnector::from(Arc::clone(&self.config))
            .connect(self.name.clone(), stream)
            .await
            .map(TlsStream::Client)
            .map_err(classify)
    }
}

fn classify(error: io::Error) -> HandshakeError {
    let Some(inner) = error
        .get_ref()
        .and_then(|e| e.downcast_ref::<rustls::Error>())
    else {
        return HandshakeError::Io(error);
    };
    match inner {
        rustls::Error::InvalidCertificate(_) => HandshakeError::Certificate(inner.clone()),
        other => HandshakeError::Protocol(other.clone()),
    }
}
