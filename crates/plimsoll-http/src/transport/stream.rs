//! A stream to a peer, clear or secured, whole or as two halves that are used apart.
//!
//! One enum and no trait object, so that a clear connection pays one foreseeable branch for each read and write.

mod halves;
mod shared;

pub use halves::{ReadHalf, WriteHalf};
pub(crate) use halves::{reset, unite};
pub use shared::SharedStream;

use crate::transport::tls::TlsStream;
use plimsoll_base::ignored::Ignored as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A stream to a peer.
#[derive(Debug)]
pub enum Stream {
    /// Nothing between us and TCP.
    Clear(TcpStream),
    /// TLS over TCP, its handshake done.
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Two halves that can be used at the same time.
    #[must_use]
    pub fn into_split(self) -> (ReadHalf, WriteHalf) {
        halves::split(self)
    }

    /// The TCP connection below.
    #[must_use]
    pub fn tcp(&self) -> &TcpStream {
        match self {
            Self::Clear(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }

    /// Whether HTTP/2 was agreed on when it was secured.
    #[must_use]
    pub fn agreed_on_http2(&self) -> bool {
        match self {
            Self::Clear(_) => false,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }

    /// Ends the connection with RST instead of FIN.
    pub fn reset(self) {
        reset_on_close(self.tcp());
    }
}

/// A reader or a writer whose bytes may be those of a socket.
pub trait Bare {
    /// The socket, where nothing changes its bytes on the way.
    fn socket(&self) -> Option<&TcpStream> {
        None
    }
}

impl Bare for &[u8] {}
impl Bare for &mut Vec<u8> {}
impl Bare for tokio::io::DuplexStream {}
impl Bare for tokio::io::Sink {}

/// Makes the close of a connection a reset.
pub fn reset_on_close(stream: &TcpStream) {
    socket2::SockRef::from(stream)
        .set_linger(Some(Duration::ZERO))
        .ignored("the socket is gone already, so there is nobody left to tell");
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Self::Clear(stream)
    }
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Clear(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Clear(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Clear(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Clear(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Clear(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Clear(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
