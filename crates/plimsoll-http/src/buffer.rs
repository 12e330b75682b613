//! The buffer in which received bytes wait for the decoder.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// What an idle connection holds.
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
}

impl ReadBuffer {
    /// A buffer that grows as needed to hold a head of `head_bytes`, and no further than that or the streaming size.
    pub(crate) fn new(head_bytes: usize) -> Self {
        Self {
            storage: Vec::new(),
            start: 0,
            end: 0,
            largest: STREAMING_BYTES.max(head_bytes + 1),
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

    /// Reads once; returns how many bytes came, 0 at the end of the stream.
    pub(crate) async fn fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<usize> {
        if self.end == self.storage.len() {
            self.make_room();
        }
        let count = stream.read(&mut self.storage[self.end..]).await?;
        self.end += count;
        Ok(count)
    }

    /// Moves what is there to the front; if that frees nothing, doubles the storage.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.storage.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            let size = (self.storage.len() * 2).clamp(INITIAL_BYTES, self.largest);
            assert!(
                size > self.end,
                "invariant: the decoder refuses a head before it fills the largest buffer"
            );
            self.storage.resize(size, 0);
        }
    }
}
