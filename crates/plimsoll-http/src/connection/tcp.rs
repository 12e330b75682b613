//! What only TCP connections can do: say who the peer is, tell whether it is still there, and reset.

use super::{ClientConnection, ServerConnection};
use crate::limits::Limits;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// A server connection over TCP.
pub type TcpServer = ServerConnection<OwnedReadHalf, OwnedWriteHalf>;
/// A client connection over TCP.
pub type TcpClient = ClientConnection<OwnedReadHalf, OwnedWriteHalf>;

impl TcpServer {
    /// Takes over an accepted stream.
    #[must_use]
    pub fn from_stream(stream: TcpStream, limits: Limits) -> Self {
        let (read, write) = stream.into_split();
        Self::new(read, write, limits)
    }

    /// The client's address.
    ///
    /// # Errors
    /// When the connection is gone already.
    pub fn peer(&self) -> io::Result<SocketAddr> {
        self.output.stream().peer_addr()
    }

    /// Ends the connection with RST instead of FIN: what the client got is not a complete answer.
    pub fn reset(self) {
        reset(self.requests.into_stream(), self.output.into_stream());
    }
}

impl TcpClient {
    /// Takes over a connected stream.
    #[must_use]
    pub fn from_stream(stream: TcpStream, limits: Limits) -> Self {
        let (read, write) = stream.into_split();
        Self::new(read, write, limits)
    }

    /// Whether another request may be sent: the last response allows it and was read to its end, nothing else arrived, and the
    /// peer has not closed. Costs no system call unless something arrived since.
    #[must_use]
    pub fn is_reusable(&self) -> bool {
        let finished = self.responses.head().status() != 0 && self.responses.head().keep_alive();
        finished && self.is_idle()
    }

    /// Whether nothing is under way and the peer has sent nothing, not even its close.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let read: &TcpStream = self.responses.stream().as_ref();
        !self.responses.body_pending()
            && !self.responses.has_buffered()
            && self.output.queued() == 0
            && matches!(read.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until something arrives on an idle connection: most often the peer's close.
    ///
    /// # Errors
    /// The transport's.
    pub async fn disturbed(&self) -> io::Result<()> {
        let read: &TcpStream = self.responses.stream().as_ref();
        read.readable().await
    }

    /// Ends the connection with RST, dropping whatever is under way.
    pub fn reset(self) {
        reset(self.responses.into_stream(), self.output.into_stream());
    }
}

fn reset(read: OwnedReadHalf, write: OwnedWriteHalf) {
    if let Ok(stream) = read.reunite(write)
        && socket2::SockRef::from(&stream)
            .set_linger(Some(Duration::ZERO))
            .is_err()
    {
        // The socket is gone already, so there is nobody left to tell.
    }
}
