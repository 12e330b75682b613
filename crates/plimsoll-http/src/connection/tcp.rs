//! Abilities of connections over TCP, secured or not: telling the peer's address and whether it is still there, and resetting.

use super::{ClientConnection, ServerConnection};
use crate::codec::limits::Limits;
use crate::transport::stream::{ReadHalf, Stream, WriteHalf, reset, unite};
use crate::transport::tls::CertificateDer;
use std::io;
use std::net::SocketAddr;

/// A server connection over TCP.
pub type TcpServer = ServerConnection<ReadHalf, WriteHalf>;
/// A client connection over TCP.
pub type TcpClient = ClientConnection<ReadHalf, WriteHalf>;

impl TcpServer {
    /// Takes over an accepted stream.
    #[must_use]
    pub fn from_stream(stream: impl Into<Stream>, limits: Limits) -> Self {
        let (read, write) = stream.into().into_split();
        Self::new(read, write, limits)
    }

    /// The address that the client has connected to.
    ///
    /// # Errors
    /// When the connection is gone already.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.output.stream().local_addr()
    }

    /// The certificates that the client has shown, its own first; none in plaintext.
    #[must_use]
    pub fn peer_certificates(&self) -> Vec<CertificateDer<'static>> {
        self.output.stream().peer_certificates()
    }

    /// The stream, for another protocol, and what of it has been read already. What is queued is dropped.
    #[must_use]
    pub fn into_stream(self) -> (Option<Stream>, Vec<u8>) {
        let front = self.requests.buffered().to_vec();
        let stream = unite(self.requests.into_stream(), self.output.into_stream());
        (stream, front)
    }

    /// Ends the connection with RST instead of FIN: what the client got is not a complete answer.
    pub fn reset(self) {
        reset(self.requests.into_stream(), self.output.into_stream());
    }
}

impl TcpClient {
    /// Takes over a connected stream.
    #[must_use]
    pub fn from_stream(stream: impl Into<Stream>, limits: Limits) -> Self {
        let (read, write) = stream.into().into_split();
        Self::new(read, write, limits)
    }

    /// Whether another request may be sent: the last response allows it and was read to its end, nothing else arrived, and the
    /// peer has not closed. Costs no system call unless something arrived since.
    #[must_use]
    pub fn is_reusable(&self) -> bool {
        let head = self.responses.known_head();
        let finished = head.is_some_and(|head| head.status() != 0 && head.keep_alive());
        finished && self.is_idle()
    }

    /// Nobody needs the last response any more: gives its memory back, so that an idle connection holds none.
    pub fn rest(&mut self) {
        self.responses.rest();
    }

    /// Whether nothing is under way and the peer has sent nothing, not even its close.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.responses.body_pending()
            && !self.responses.has_buffered()
            && self.output.queued() == 0
            && self.responses.stream().is_silent()
    }

    /// Waits until something arrives on an idle connection: most often the peer's close.
    ///
    /// # Errors
    /// The transport's.
    pub async fn disturbed(&self) -> io::Result<()> {
        self.responses.stream().disturbed().await
    }

    /// Ends the connection with RST, dropping whatever is under way.
    pub fn reset(self) {
        reset(self.responses.into_stream(), self.output.into_stream());
    }
}
