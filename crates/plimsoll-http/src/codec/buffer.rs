//! The buffer in which received bytes wait for the decoder.

use plimsoll_base::spare::{self, Spare};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

/// Bytes of the memory into which a message is read first; it is the shard's.
const INITIAL_BYTES: usize = 4 * 1024;
/// How much is read at once when a body streams; it is the shard's, too.
const STREAMING_BYTES: usize = 64 * 1024;
/// Memory that a shard keeps for the next read: few reads leave something behind, so few are needed at a time.
const SPARE_BUFFERS: usize = 64;
/// Memory that a shard keeps for bodies that stream: 1 MiB.
const SPARE_STREAMING_BUFFERS: usize = 16;

thread_local! {
    static SPARE: Spare<Vec<u8>> = const { Spare::new(SPARE_BUFFERS) };
    static SPARE_STREAMING: Spare<Vec<u8>> = const { Spare::new(SPARE_STREAMING_BUFFERS) };
}

/// Received bytes that are not consumed yet, contiguous. Without any, it holds no memory, and while it waits for more of a few, no more than a
/// message is read into first.
#[derive(Debug)]
pub(crate) struct ReadBuffer {
    storage: Vec<u8>,
    start: usize,
    end: usize,
    largest: usize,
    /// Whether a read took all the room there was: a body streams, and more room brings more at once.
    hungry: bool,
}

impl ReadBuffer {
    /// A buffer that grows as needed to hold a head of `head_bytes`, and no further than that or the streaming size.
    pub(crate) fn new(head_bytes: usize) -> Self {
        Self {
            storage: Vec::new(),
            start: 0,
            end: 0,
            largest: STREAMING_BYTES.max(head_bytes + 1),
            hungry: false,
        }
    }

    #[inline]
    pub(crate) fn filled(&self) -> &[u8] {
        &self.storage[self.start..self.end]
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            self.release();
        }
    }

    /// Nobody streams a body any more: the next bytes begin a message.
    #[inline]
    pub(crate) fn rest(&mut self) {
        self.hungry &= !self.is_empty();
    }

    /// Reads once; returns how many bytes came, 0 at the end of the stream.
    #[inline]
    pub(crate) async fn fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<usize> {
        poll_fn(|context| self.poll_fill(context, stream)).await
    }

    fn poll_fill(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> Poll<io::Result<usize>> {
        self.make_room();
        let mut room = ReadBuf::new(&mut self.storage[self.end..]);
        let read = Pin::new(stream).poll_read(context, &mut room);
        let count = room.filled().len();
        if count == 0 {
            self.shrink();
            return read.map_ok(|()| 0);
        }
        read.map_ok(|()| {
            self.end += count;
            self.hungry |= self.end == self.storage.len();
            count
        })
    }

    /// Gives back what the bytes that are here do not need: others may be long in coming.
    #[inline]
    fn shrink(&mut self) {
        let count = self.end - self.start;
        if count == 0 {
            self.release();
        } else if count < INITIAL_BYTES && self.storage.len() == STREAMING_BYTES {
            let mut small = spare::take(&SPARE).unwrap_or_else(|| vec![0; INITIAL_BYTES]);
            small[..count].copy_from_slice(self.filled());
            self.release();
            (self.storage, self.start, self.end) = (small, 0, count);
        }
    }

    /// Gives the shard its memory back; there is nothing in it.
    #[inline]
    fn release(&mut self) {
        let storage = std::mem::take(&mut self.storage);
        match storage.len() {
            INITIAL_BYTES => spare::give(&SPARE, storage),
            STREAMING_BYTES => spare::give(&SPARE_STREAMING, storage),
            _ => {}
        }
    }

    /// Makes room for a read: more than there was, if the last one took all of it.
    fn make_room(&mut self) {
        if self.storage.is_empty() {
            let (spare, size) = match self.hungry {
                false => (&SPARE, INITIAL_BYTES),
                true => (&SPARE_STREAMING, STREAMING_BYTES),
            };
            self.storage = spare::take(spare).unwrap_or_else(|| vec![0; size]);
        }
        if self.end < self.storage.len() {
            return;
        }
        if self.start > 0 {
            self.storage.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            let size = (self.storage.len() * 2).min(self.largest);
            self.storage.resize(size, 0);
            assert!(
                self.storage.len() > self.end,
                "invariant: the decoder refuses a head before it fills the largest buffer"
            );
        }
    }
}

impl Drop for ReadBuffer {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;

    /// Reads everything that `stream` has, consuming as it goes; gives the size of each read.
    async fn sizes(buffer: &mut ReadBuffer, mut stream: &[u8]) -> Vec<usize> {
        let mut sizes = Vec::new();
        loop {
            let count = buffer.fill(&mut stream).await.unwrap();
            if count == 0 {
                return sizes;
            }
            sizes.push(count);
            buffer.consume(count);
        }
    }

    #[tokio::test]
    async fn a_stream_gets_more_room_and_holds_none_while_it_waits() {
        let mut buffer = ReadBuffer::new(1024);
        let kib = |sizes: Vec<usize>| sizes.iter().map(|size| size / 1024).collect::<Vec<_>>();
        let body = vec![0; 196 * 1024];
        assert_eq!(kib(sizes(&mut buffer, &body).await), [4, 64, 64, 64]);
        assert_eq!(buffer.storage.capacity(), 0);
        let (mut stream, mut sender) = tokio::io::duplex(body.len());
        let mut room_for = async |buffer: &mut ReadBuffer, count: usize| {
            sender.write_all(&body[..count]).await.unwrap();
            assert_eq!(buffer.fill(&mut stream).await.unwrap(), count);
            buffer.storage.len()
        };
        // It streams whatever comes at a time, until the body is over.
        for count in [100, STREAMING_BYTES, 100] {
            assert_eq!(room_for(&mut buffer, count).await, STREAMING_BYTES);
            buffer.consume(count);
            assert_eq!(buffer.storage.capacity(), 0);
        }
        buffer.rest();
        assert_eq!(room_for(&mut buffer, 100).await, INITIAL_BYTES);
    }

    #[tokio::test]
    async fn who_waits_holds_what_its_bytes_need() {
        let mut buffer = ReadBuffer::new(1024);
        let body: Vec<u8> = (0..=255).cycle().take(2 * STREAMING_BYTES).collect();
        let (mut stream, mut sender) = tokio::io::duplex(body.len());
        sender
            .write_all(&body[..INITIAL_BYTES + 8_000])
            .await
            .unwrap();
        for count in [INITIAL_BYTES, 8_000] {
            assert_eq!(buffer.fill(&mut stream).await.unwrap(), count);
            buffer.consume(count - usize::from(count == 8_000) * 5_000);
        }
        let left = body[INITIAL_BYTES + 3_000..][..5_000].to_vec();
        for (consumed, expected) in [(0, STREAMING_BYTES), (4_990, INITIAL_BYTES)] {
            buffer.consume(consumed);
            let filled =
                poll_fn(|context| Poll::Ready(buffer.poll_fill(context, &mut stream))).await;
            assert!(filled.is_pending());
            assert_eq!(buffer.storage.len(), expected);
            assert_eq!(buffer.filled(), &left[consumed..]);
        }
        sender.write_all(b"more").await.unwrap();
        assert_eq!(buffer.fill(&mut stream).await.unwrap(), 4);
        assert_eq!(buffer.filled(), [&left[4_990..], b"more"].concat());
        buffer.consume(14);
        assert_eq!(buffer.storage.capacity(), 0);
        let filled = poll_fn(|context| Poll::Ready(buffer.poll_fill(context, &mut stream))).await;
        assert!(filled.is_pending());
        assert_eq!(buffer.storage.capacity(), 0);
    }

    #[tokio::test]
    async fn bytes_that_wait_keep_their_memory_and_the_next_to_read_gets_it() {
        let address = |buffer: &ReadBuffer| buffer.filled().as_ptr();
        let [mut one, mut other] = [ReadBuffer::new(1024), ReadBuffer::new(1024)];
        one.fill(&mut &b"one"[..]).await.unwrap();
        other.fill(&mut &b"other"[..]).await.unwrap();
        let (of_one, of_other) = (address(&one), address(&other));
        assert_ne!(of_one, of_other);
        assert_eq!(one.filled(), b"one");
        one.consume(3);
        let mut third = ReadBuffer::new(1024);
        third.fill(&mut &b"third"[..]).await.unwrap();
        assert_eq!(address(&third), of_one);
        drop(other);
        one.fill(&mut &b"again"[..]).await.unwrap();
        assert_eq!(address(&one), of_other);
    }
}
