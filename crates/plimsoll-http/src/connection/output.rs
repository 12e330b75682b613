//! The writing half: bytes are queued, then flushed together.

use crate::codec::spare::{self, Spare};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::Poll;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Above this, the buffer's memory is returned after a flush.
const KEPT_BYTES: usize = 64 * 1024;
/// Memory that a shard keeps for the next write: most are taken by the system at once, so few are under way at a time.
const SPARE_BUFFERS: usize = 64;

thread_local! {
    static SPARE: Spare<Vec<u8>> = const { Spare::new(SPARE_BUFFERS) };
}

/// Bytes on their way to the peer. The caller bounds the queue by flushing before it adds more. Between two flushes it holds no memory.
#[derive(Debug)]
pub struct Output<W> {
    stream: W,
    buffer: Vec<u8>,
    written: usize,
}

impl<W> Output<W> {
    pub(super) fn new(stream: W) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            written: 0,
        }
    }

    /// The queue: append to it. What is already in it must not be changed once a flush has begun.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.buffer.capacity() == 0 {
            self.buffer = spare::take(&SPARE).unwrap_or_default();
        }
        &mut self.buffer
    }

    /// How many bytes wait to be written.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.buffer.len() - self.written
    }

    pub(super) fn stream(&self) -> &W {
        &self.stream
    }

    pub(super) fn into_stream(self) -> W {
        self.stream
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Writes everything queued. If cancelled, a later flush goes on where this one was.
    ///
    /// # Errors
    /// The transport's; [`io::ErrorKind::WriteZero`] if it takes no more.
    pub async fn flush(&mut self) -> io::Result<()> {
        while self.flush_some().await? {}
        Ok(())
    }

    /// Writes what is queued and `data` behind it, as far as the transport takes them at once, and queues what is left: only that is copied.
    /// A flush must follow, even if nothing is queued. It never waits for the peer.
    ///
    /// # Errors
    /// As [`Self::flush`].
    pub async fn write_behind(&mut self, data: &[u8]) -> io::Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let queued = self.queued();
        let slices = [
            IoSlice::new(&self.buffer[self.written..]),
            IoSlice::new(data),
        ];
        let stream = &mut self.stream;
        let taken =
            poll_fn(
                |context| match Pin::new(&mut *stream).poll_write_vectored(context, &slices) {
                    Poll::Ready(Ok(0)) => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(taken) => Poll::Ready(taken),
                    Poll::Pending => Poll::Ready(Ok(0)),
                },
            )
            .await?;
        self.written += taken.min(queued);
        let left = &data[taken.saturating_sub(queued)..];
        if !left.is_empty() {
            self.buffer.drain(..self.written);
            self.written = 0;
            self.buffer().extend_from_slice(left);
        } else if self.queued() == 0 {
            self.give_back();
        }
        Ok(())
    }

    /// Gives the shard its memory back; all of it is written.
    fn give_back(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.written = 0;
        if buffer.capacity() > 0 {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES);
            spare::give(&SPARE, buffer);
        }
    }

    /// Writes as much of what is queued as the transport takes at once; whether anything is left.
    ///
    /// # Errors
    /// As [`Self::flush`].
    pub async fn flush_some(&mut self) -> io::Result<bool> {
        if self.written < self.buffer.len() {
            let count = self.stream.write(&self.buffer[self.written..]).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.written += count;
        }
        if self.written < self.buffer.len() {
            return Ok(true);
        }
        self.give_back();
        self.stream.flush().await?;
        Ok(false)
    }

    /// Flushes, then tells the peer that nothing more will come (FIN on TCP).
    ///
    /// # Errors
    /// The transport's.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        self.flush().await?;
        self.stream.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Context;
    use tokio::io::AsyncReadExt as _;

    /// Takes only so many bytes of each write, and none of every second.
    #[derive(Debug, Default)]
    struct Slow {
        taken: Vec<u8>,
        rests: bool,
    }

    impl AsyncWrite for Slow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.rests = !self.rests;
            if self.rests {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let count = bytes.len().min(5);
            self.taken.extend_from_slice(&bytes[..count]);
            Poll::Ready(Ok(count))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Queued bytes go first, whatever part of both the transport takes.
    #[tokio::test]
    async fn data_goes_behind_what_is_queued() {
        let mut output = Output::new(Slow::default());
        output.buffer().extend_from_slice(b"head ");
        for data in [&b"one "[..], b"", b"two and more ", b"three"] {
            output.write_behind(data).await.unwrap();
        }
        output.flush().await.unwrap();
        assert_eq!(output.queued(), 0);
        assert_eq!(output.stream.taken, b"head one two and more three");
    }

    /// A transport that takes all of it at once gets it without a copy.
    #[tokio::test]
    async fn what_is_taken_at_once_is_not_queued() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut output = Output::new(near);
        output.write_behind(b"data").await.unwrap();
        assert_eq!((output.queued(), output.buffer.capacity()), (0, 0));
        let mut received = [0; 4];
        far.read_exact(&mut received).await.unwrap();
        assert_eq!(&received, b"data");
    }
}
