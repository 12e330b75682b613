//! The writing half: bytes are queued, then flushed together.

use crate::codec::spare::{self, Spare};
use std::io;
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
        let mut buffer = std::mem::take(&mut self.buffer);
        self.written = 0;
        if buffer.capacity() > 0 {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES);
            spare::give(&SPARE, buffer);
        }
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
