//! A stream with two owners in one task: a protocol's own code that reads and writes, and whoever may want to end it in another way.

use super::Stream;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};

/// A stream that can be had twice. What was read of it before is read first.
#[derive(Debug, Clone)]
pub struct SharedStream(Rc<RefCell<Rewound>>);

#[derive(Debug)]
struct Rewound {
    front: Vec<u8>,
    /// Bytes of the front that have been read again.
    read: usize,
    stream: Stream,
}

impl SharedStream {
    /// A stream of which these bytes have been read already.
    #[must_use]
    pub fn new(stream: Stream, front: Vec<u8>) -> Self {
        Self(Rc::new(RefCell::new(Rewound {
            front,
            read: 0,
            stream,
        })))
    }

    /// Makes the close of the connection a reset: it ends when the last owner is gone.
    pub fn reset(self) {
        super::reset_on_close(self.0.borrow().stream.tcp());
    }

    /// Writes these bytes and tells the peer that nothing more will come.
    ///
    /// # Errors
    /// The transport's.
    pub async fn end_with(mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes).await?;
        self.shutdown().await
    }
}

impl AsyncRead for SharedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rewound = &mut *self.0.borrow_mut();
        let left = &rewound.front[rewound.read..];
        if left.is_empty() {
            return Pin::new(&mut rewound.stream).poll_read(context, buffer);
        }
        let count = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..count]);
        rewound.read += count;
        if rewound.read == rewound.front.len() {
            rewound.front = Vec::new();
            rewound.read = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SharedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.borrow().stream.is_write_vectored()
    }
}
