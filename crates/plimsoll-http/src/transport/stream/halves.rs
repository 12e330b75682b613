//! The halves of a stream.
//!
//! Those of a clear stream share nothing but the socket. Those of a secured one share the state of TLS, behind a lock that is never contended:
//! both halves belong to one task, and it is held for one poll only.

use super::{Bare, Stream};
use crate::transport::tls::{CertificateDer, TlsStream};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Where bytes come from.
#[derive(Debug)]
pub enum ReadHalf {
    /// Of a clear stream.
    Clear(OwnedReadHalf),
    /// Of a secured one.
    Tls(TlsHalf),
    /// Of one in memory.
    Memory(tokio::io::ReadHalf<DuplexStream>),
}

/// Where bytes go.
#[derive(Debug)]
pub enum WriteHalf {
    /// Of a clear stream.
    Clear(OwnedWriteHalf),
    /// Of a secured one.
    Tls(TlsHalf),
    /// Of one in memory.
    Memory(tokio::io::WriteHalf<DuplexStream>),
}

/// One of the two who use a secured stream.
#[derive(Debug)]
pub struct TlsHalf(Arc<Mutex<TlsStream>>);

impl TlsHalf {
    fn stream(&self) -> MutexGuard<'_, TlsStream> {
        // A panic below leaves nothing half-done that a later read or write could not report.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn split(stream: Stream) -> (ReadHalf, WriteHalf) {
    match stream {
        Stream::Clear(stream) => {
            let (read, write) = stream.into_split();
            (ReadHalf::Clear(read), WriteHalf::Clear(write))
        }
        Stream::Tls(stream) => {
            let shared = Arc::new(Mutex::new(*stream));
            let read = TlsHalf(Arc::clone(&shared));
            (ReadHalf::Tls(read), WriteHalf::Tls(TlsHalf(shared)))
        }
    }
}

impl ReadHalf {
    /// Whether the peer has sent nothing, not even its close. What TLS itself has to say is taken in. Costs no system call unless something
    /// arrived since. What is in memory is not asked: it carries one exchange only.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Self::Clear(half) => {
                let stream: &TcpStream = half.as_ref();
                matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            Self::Tls(half) => {
                let mut byte = [0];
                let mut context = Context::from_waker(Waker::noop());
                Pin::new(&mut *half.stream())
                    .poll_read(&mut context, &mut ReadBuf::new(&mut byte))
                    .is_pending()
            }
            Self::Memory(_) => false,
        }
    }

    /// Waits until something arrives, be it the peer's close.
    pub(crate) async fn disturbed(&self) -> io::Result<()> {
        match self {
            Self::Clear(half) => {
                let stream: &TcpStream = half.as_ref();
                stream.readable().await
            }
            Self::Tls(half) => {
                std::future::poll_fn(|context| half.stream().get_ref().0.poll_read_ready(context))
                    .await
            }
            Self::Memory(_) => Ok(()),
        }
    }
}

impl WriteHalf {
    /// The certificates that the peer has shown, its own first; none in plaintext.
    pub(crate) fn peer_certificates(&self) -> Vec<CertificateDer<'static>> {
        match self {
            Self::Clear(_) | Self::Memory(_) => Vec::new(),
            Self::Tls(half) => {
                let stream = half.stream();
                let shown = stream.get_ref().1.peer_certificates();
                shown.map(<[_]>::to_vec).unwrap_or_default()
            }
        }
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Clear(half) => half.local_addr(),
            Self::Tls(half) => half.stream().get_ref().0.local_addr(),
            Self::Memory(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// The stream of two halves; `None` if they are not those of one.
pub(crate) fn unite(read: ReadHalf, write: WriteHalf) -> Option<Stream> {
    match (read, write) {
        (ReadHalf::Clear(read), WriteHalf::Clear(write)) => {
            read.reunite(write).ok().map(Stream::Clear)
        }
        (ReadHalf::Tls(read), WriteHalf::Tls(write)) => {
            drop(read);
            let stream = Arc::into_inner(write.0)?;
            let stream = stream.into_inner().unwrap_or_else(PoisonError::into_inner);
            Some(Stream::Tls(Box::new(stream)))
        }
        _ => None,
    }
}

/// Ends the connection of two halves with RST.
pub(crate) fn reset(read: ReadHalf, write: WriteHalf) {
    if let Some(stream) = unite(read, write) {
        stream.reset();
    }
}

impl Bare for ReadHalf {
    fn socket(&self) -> Option<&TcpStream> {
        match self {
            Self::Clear(half) => Some(half.as_ref()),
            Self::Tls(_) | Self::Memory(_) => None,
        }
    }
}

impl Bare for WriteHalf {
    fn socket(&self) -> Option<&TcpStream> {
        match self {
            Self::Clear(half) => Some(half.as_ref()),
            Self::Tls(_) | Self::Memory(_) => None,
        }
    }
}

impl AsyncRead for ReadHalf {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Clear(half) => Pin::new(half).poll_read(context, buffer),
            Self::Tls(half) => Pin::new(&mut *half.stream()).poll_read(context, buffer),
            Self::Memory(half) => Pin::new(half).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for WriteHalf {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Clear(half) => Pin::new(half).poll_write(context, bytes),
            Self::Tls(half) => Pin::new(&mut *half.stream()).poll_write(context, bytes),
            Self::Memory(half) => Pin::new(half).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Clear(half) => Pin::new(half).poll_write_vectored(context, slices),
            Self::Tls(half) => Pin::new(&mut *half.stream()).poll_write_vectored(context, slices),
            Self::Memory(half) => Pin::new(half).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Clear(half) => half.is_write_vectored(),
            Self::Tls(half) => half.stream().is_write_vectored(),
            Self::Memory(half) => half.is_write_vectored(),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Clear(half) => Pin::new(half).poll_flush(context),
            Self::Tls(half) => Pin::new(&mut *half.stream()).poll_flush(context),
            Self::Memory(half) => Pin::new(half).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Clear(half) => Pin::new(half).poll_shutdown(context),
            Self::Tls(half) => Pin::new(&mut *half.stream()).poll_shutdown(context),
            Self::Memory(half) => Pin::new(half).poll_shutdown(context),
        }
    }
}
