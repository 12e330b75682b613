//! The buffer in which received bytes wait for the decoder.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes that an idle connection holds.
const INITIAL_BYTES: usize = 4 * 1024;
/// How much is read at once when a body streams, unless the limit of the head is larger.
const STREAMING_BYTES: usize = 64 * 1024;

/// Received bytes that are not consumed yet, contiguous.
#[derive(Debug)]
pub(crate) struct ReadBuffer {
    storage: Vec<u8>,
    start: usize,
    end: usize,
    largest: usize,
    /// Whether the last read took all the room there was, so that more room would have brought more.
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

    pub(crate) fn filled(&self) -> &[u8] {
        &self.storage[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Gives back what streaming a body took: an idle connection holds little.
    pub(crate) fn rest(&mut self) {
        if self.is_empty() && self.storage.len() > INITIAL_BYTES {
            self.storage.truncate(INITIAL_BYTES);
            self.storage.shrink_to_fit();
            self.hungry = false;
        }
    }

    /// Reads once; returns how many bytes came, 0 at the end of the stream.
    pub(crate) async fn fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<usize> {
        if self.end == self.storage.len() {
            self.make_room();
        } else if self.hungry && self.is_empty() && self.storage.len() < STREAMING_BYTES {
            self.grow();
        }
        let count = stream.read(&mut self.storage[self.end..]).await?;
        self.end += count;
        self.hungry = self.end == self.storage.len();
        Ok(count)
    }

    /// Moves what is there to the front; if that frees nothing, doubles the storage.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.storage.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            self.grow();
            assert!(
                self.storage.len() > self.end,
                "invariant: the decoder refuses a head before it fills the largest buffer"
            );
        }
    }

    fn grow(&mut self) {
        let size = (self.storage.len() * 2).clamp(INITIAL_BYTES, self.largest);
        self.storage.resize(size, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    async fn a_stream_gets_more_room_and_an_idle_connection_gives_it_back() {
        let mut buffer = ReadBuffer::new(1024);
        let kib = |sizes: Vec<usize>| sizes.iter().map(|size| size / 1024).collect::<Vec<_>>();
        assert_eq!(
            kib(sizes(&mut buffer, &[0; 252 * 1024]).await),
            [4, 8, 16, 32, 64, 64, 64]
        );
        buffer.rest();
        assert_eq!(buffer.storage.capacity(), INITIAL_BYTES);
        assert_eq!(sizes(&mut buffer, &[0; 100]).await, [100]);
    }
}
