//! Runs futures to where nothing moves them any more, over streams that live in memory.

use hyper::rt::ReadBufCursor;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::{AsyncRead, ReadBuf};

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Polls until the future is done; `None` if it waits for what will never come.
pub(crate) fn drive<T>(future: impl Future<Output = T>) -> Option<T> {
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(Arc::clone(&flag));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        if !flag.0.swap(false, Ordering::Relaxed) {
            return None;
        }
    }
}

/// Hands out bytes in pieces that end where `cuts` says, then the end of the stream.
pub(crate) struct Pieces<'a> {
    rest: &'a [u8],
    cuts: Cuts,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(bytes: &'a [u8], cuts: Cuts) -> Self {
        Self { rest: bytes, cuts }
    }
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let size = self.cuts.next_size().min(buffer.remaining());
        let (piece, rest) = self.rest.split_at(size.min(self.rest.len()));
        buffer.put_slice(piece);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// Sizes of pieces, from a seed: mostly small, sometimes large. A seed of 0 gives everything at once, 1 byte by byte.
#[derive(Debug, Clone, Copy)]
pub struct Cuts {
    state: u32,
}

impl Cuts {
    /// The sizes that `seed` stands for.
    pub fn from_seed(seed: u8) -> Self {
        Self {
            state: u32::from(seed),
        }
    }

    /// How many bytes the next piece has, at least one.
    pub fn next_size(&mut self) -> usize {
        match self.state {
            0 => usize::MAX,
            1 => 1,
            _ => {
                // A linear congruence (Numerical Recipes); its upper bits are the random ones.
                self.state = self
                    .state
                    .wrapping_mul(1_664_525)
                    .wrapping_add(1_013_904_223)
                    | 2;
                let draw = (self.state >> 16) as usize;
                if draw.is_multiple_of(8) {
                    1 + draw / 8 % 600
                } else {
                    1 + draw / 8 % 12
                }
            }
        }
    }
}

/// A stream for hyper: gives the bytes once it may, then waits or ends; swallows what is written.
pub(crate) struct Wire {
    rest: Vec<u8>,
    at: usize,
    ends: bool,
    /// Whether bytes may be read: a client is answered after it has asked.
    open: bool,
}

impl Wire {
    /// For a server: everything is there from the start, and the client stays.
    pub(crate) fn to_server(bytes: &[u8]) -> Self {
        Self {
            rest: bytes.to_vec(),
            at: 0,
            ends: false,
            open: true,
        }
    }

    /// For a client: the bytes come behind the request, then the server closes.
    pub(crate) fn to_client(bytes: &[u8]) -> Self {
        Self {
            ends: true,
            open: false,
            ..Self::to_server(bytes)
        }
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let at = self.at;
        let size = buffer.remaining().min(self.rest.len() - at);
        if !self.open || (size == 0 && !self.ends) {
            return Poll::Pending;
        }
        buffer.put_slice(&self.rest[at..at + size]);
        self.at += size;
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !std::mem::replace(&mut self.open, true) {
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
