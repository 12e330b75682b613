//! Making a connection to an endpoint: TCP, then TLS where that is spoken there, and why there is none.

use super::place::EndpointPlace;
use crate::config::Spoken;
use plimsoll_base::reason::Reason;
use plimsoll_http::tls::Connector;
use plimsoll_http::{ConnectError, Stream, connect_stream};
use tokio::time::Instant;

/// Where an endpoint is, and what is spoken there.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) place: EndpointPlace,
    /// Secures a connection; none in plaintext.
    pub(super) connector: Option<Connector>,
    pub(super) spoken: Spoken,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    /// TCP was not connected, or not everything in time.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The endpoint's name has no address.
    #[error("its name has no address")]
    NoAddress,
    /// TLS failed; the reason is one of `OutcomeClass::TlsFailed`.
    #[error("TLS failed: {}", .0.words())]
    Tls(Reason),
}

impl Way {
    /// Whether HTTP/2 is spoken on a connection that it made.
    pub(super) fn speaks_http2(&self, stream: &Stream) -> bool {
        match self.spoken {
            Spoken::Http1 => false,
            Spoken::Http2 => true,
            Spoken::Either => stream.agreed_on_http2(),
        }
    }

    /// A connection, ready for HTTP. `connected` is told when only TLS is left to do. Deadlines are the caller's.
    pub(super) async fn dial(&self, connected: impl FnOnce()) -> Result<Stream, DialError> {
        let address = self.place.address(Instant::now()).await;
        let tcp = connect_stream(address.ok_or(DialError::NoAddress)?, None).await?;
        let Some(connector) = &self.connector else {
            return Ok(Stream::Clear(tcp));
        };
        connected();
        let secured = connector.secure(tcp).await;
        let secured = secured.map_err(|error| DialError::Tls(error.reason()))?;
        let stream = Stream::Tls(Box::new(secured));
        match self.spoken == Spoken::Http2 && !stream.agreed_on_http2() {
            true => Err(DialError::Tls(Reason::NoProtocol)),
            false => Ok(stream),
        }
    }
}
