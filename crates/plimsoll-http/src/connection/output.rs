//! The writing half: bytes are queued, then flushed together.

use plimsoll_base::spare::{self, Spare};
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

    /// Queues these bytes. Where nothing else is queued they are not copied.
    pub(super) fn queue(&mut self, bytes: Vec<u8>) {
        match self.buffer.capacity() {
            0 => self.buffer = bytes,
            _ => self.buffer.extend_from_slice(&bytes),
        }
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

    /// Writes what is queued and both pieces behind it, as far as the transport takes them at once, and queues what is left: only that is
    /// copied. It never waits, so it is never cancelled half done. A flush must follow, even if nothing is queued.
    ///
    /// # Errors
    /// As [`Self::flush`].
    pub async fn write_behind(&mut self, pieces: [&[u8]; 2]) -> io::Result<()> {
        let all = [&self.buffer[self.written..], pieces[0], pieces[1]];
        if all.iter().all(|piece| piece.is_empty()) {
            return Ok(());
        }
        let all = all.map(IoSlice::new);
        let stream = &mut self.stream;
        let written = poll_fn(|context| {
            let written = Pin::new(&mut *stream).poll_write_vectored(context, &all);
            Poll::Ready(match written {
                Poll::Ready(Ok(0)) => Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(written) => written,
                Poll::Pending => Ok(0),
            })
        });
        let mut taken = written.await?;
        let of_queue = taken.min(self.queued());
        taken -= of_queue;
        self.buffer.drain(..self.written + of_queue);
        self.written = 0;
        for piece in pieces {
            let (_, left) = piece.split_at(taken.min(piece.len()));
            taken -= piece.len() - left.len();
            if !left.is_empty() {
                self.buffer().extend_from_slice(left);
            }
        }
        if self.buffer.is_empty() {
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

    /// Takes so many bytes of each write, whichever pieces they are of, and none of every second.
    #[derive(Debug)]
    struct Slow {
        most: usize,
        taken: Vec<u8>,
        rests: bool,
    }

    impl AsyncWrite for Slow {
        fn poll_write(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.poll_write_vectored(context, &[IoSlice::new(bytes)])
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            pieces: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.rests = !self.rests;
            if self.rests {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let before = self.taken.len();
            let most = self.most;
            let bytes = pieces.iter().flat_map(|piece| piece.iter().copied());
            self.taken.extend(bytes.take(most));
            Poll::Ready(Ok(self.taken.len() - before))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn slow(most: usize) -> Output<Slow> {
        Output::new(Slow {
            most,
            taken: Vec::new(),
            rests: true,
        })
    }

    /// Queued bytes go first, wherever in them or in the pieces each write ends.
    #[tokio::test]
    async fn pieces_go_behind_what_is_queued() {
        let pieces: [[&[u8]; 2]; 4] = [
            [b"one", b"\r\n"],
            [b"", b""],
            [b"", b"two, "],
            [b"and a longer one", b" at the end"],
        ];
        for most in 1..48 {
            let mut output = slow(most);
            output.buffer().extend_from_slice(b"head ");
            for pieces in pieces {
                output.write_behind(pieces).await.unwrap();
            }
            output.flush().await.unwrap();
            assert_eq!(output.queued(), 0);
            let taken = String::from_utf8(output.stream.taken).unwrap();
            assert_eq!(
                taken, "head one\r\ntwo, and a longer one at the end",
                "{most}"
            );
        }
    }

    /// A transport that takes all of it at once gets it without a copy; one that takes nothing, ever, has failed.
    #[tokio::test]
    async fn only_what_is_not_taken_is_queued() {
        let queued = |output: &Output<Slow>| (output.queued(), output.buffer.capacity() > 0);
        let mut output = slow(100);
        output.write_behind([b"data", b"end"]).await.unwrap();
        assert_eq!(queued(&output), (0, false));
        // It rests.
        output.write_behind([b"data", b"end"]).await.unwrap();
        assert_eq!(queued(&output), (7, true));
        output.stream.most = 9;
        output.write_behind([b"data", b"end"]).await.unwrap();
        assert_eq!(queued(&output), (5, true));
        assert_eq!(output.stream.taken, b"dataenddataendda");
        output.stream.most = 0;
        output.stream.rests = true;
        let error = output.write_behind([b"data", b"end"]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }
}
