//! A stream that notes what TLS says as it fails: the HTTP/2 library keeps the words of an error and not what it was.

use plimsoll_base::reason::Reason;
use plimsoll_http::{Stream, tls};
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream, and where its failure is noted.
#[derive(Debug)]
pub(super) struct Overheard {
    stream: Stream,
    failure: Rc<Cell<Option<Reason>>>,
}

impl Overheard {
    /// Notes in `failure` what TLS says of this stream.
    pub(super) fn new(stream: Stream, failure: Rc<Cell<Option<Reason>>>) -> Self {
        Self { stream, failure }
    }

    /// Passes a result on; the first failure of TLS stays, as what follows from it says less.
    fn note<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &polled
            && self.failure.get().is_none()
        {
            self.failure.set(tls::reason(error));
        }
        polled
    }

    /// Notes a result of writing. A peer that has closed after saying why lets writing fail before that was read: then it is read now,
    /// as nothing else can come of this connection.
    fn note_writing<T>(&mut self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        let polled = self.note(polled);
        if matches!(polled, Poll::Ready(Err(_)))
            && self.failure.get().is_none()
            && let Stream::Tls(stream) = &mut self.stream
        {
            self.failure.set(tls::objection(stream));
        }
        polled
    }
}

impl AsyncRead for Overheard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.note(polled)
    }
}

impl AsyncWrite for Overheard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_writing(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.note_writing(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.note_writing(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note_writing(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
