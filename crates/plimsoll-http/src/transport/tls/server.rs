//! The server's end of TLS.

use super::{Clientele, Identity, TlsError, TlsStream, provider};
use rustls::ServerConfig;
use rustls::crypto::ring::Ticketer;
use rustls::version::{TLS12, TLS13};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// Settings that all connections of a server share.
#[derive(Debug, Clone, Copy)]
pub struct ServerSettings<'a> {
    /// Who the server is.
    pub identity: &'a Identity,
    /// Whom it serves.
    pub clients: Clients<'a>,
    /// Protocols by ALPN, the best first; a client that offers none of them is refused, one that offers nothing is not.
    pub alpn: &'a [&'a [u8]],
}

/// Whom a server serves.
#[derive(Debug, Clone, Copy)]
pub enum Clients<'a> {
    /// Anybody; no certificate is asked for.
    Anybody,
    /// Who shows a certificate that these accept.
    Certified(&'a Clientele),
}

/// Secures a server's connections, with TLS 1.2 or 1.3. Sessions may be resumed for some hours, which takes no memory of the server.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<ServerConfig>);

impl ServerTls {
    /// Sets up what connections have in common.
    ///
    /// # Errors
    /// [`TlsError::Tickets`]
    ///
    /// # Panics
    /// Never: ring supports both versions.
    pub fn new(settings: ServerSettings<'_>) -> Result<Self, TlsError> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13, &TLS12])
            .expect("invariant: ring supports TLS 1.2 and 1.3");
        let builder = match settings.clients {
            Clients::Anybody => builder.with_no_client_auth(),
            Clients::Certified(clientele) => {
                builder.with_client_cert_verifier(clientele.verifier())
            }
        };
        let mut config = builder.with_cert_resolver(settings.identity.server_resolver());
        config.alpn_protocols = settings.alpn.iter().map(|name| name.to_vec()).collect();
        config.ticketer = Ticketer::new().map_err(|error| TlsError::Tickets(error.to_string()))?;
        Ok(Self(Arc::new(config)))
    }

    /// These settings, but resuming sessions that `before` could resume: only where nothing has changed of whom the server serves, since a client that
    /// resumes a session is not judged anew.
    #[must_use]
    pub fn resuming(self, before: &Self) -> Self {
        let mut config = Arc::unwrap_or_clone(self.0);
        config.ticketer = Arc::clone(&before.0.ticketer);
        config.session_storage = Arc::clone(&before.0.session_storage);
        Self(Arc::new(config))
    }

    /// Carries out the handshake on an accepted connection. Deadlines are the caller's.
    ///
    /// # Errors
    /// The handshake's or the transport's; the connection is closed then.
    pub async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream> {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.0));
        acceptor.accept(stream).await.map(TlsStream::Server)
    }
}
