//! Kept bodies of requests, and the room for them: all connections together get so much and no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of all bodies that are held at a time.
const MOST: usize = 64 << 20;

/// Bytes of a request's body for which memory is kept from one request to the next.
const KEPT_BYTES: usize = 64 * 1024;

/// Bytes of a body that the journal keeps at most; a longer one is noted without.
const JOURNAL_BODY_BYTES: usize = 1 << 20;

/// The room for bodies, over all shards: how many bytes of it are taken.
#[derive(Debug, Default)]
pub(crate) struct BodyRoom(AtomicUsize);

/// The body of a request, as far as somebody wants it.
#[derive(Debug)]
pub(crate) struct KeptBody {
    bytes: Vec<u8>,
    held: Held,
}

/// Who wants a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Nobody,
    /// The journal, which does without sooner than turn a request away.
    Journal,
    /// An answer needs it.
    Needed,
}

/// Room of one body; it is given back with it.
#[derive(Debug)]
pub(crate) struct Held {
    room: Arc<BodyRoom>,
    bytes: usize,
}

/// There is no room left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl KeptBody {
    /// Nothing is kept yet.
    pub(crate) fn new(room: Arc<BodyRoom>) -> Self {
        Self {
            bytes: Vec::new(),
            held: Held::new(room),
        }
    }

    /// Keeps the next piece, if somebody wants it; what the journal does not get is forgotten.
    pub(crate) fn keep(&mut self, wish: &mut Wish, data: &[u8]) -> Result<(), Full> {
        if *wish == Wish::Nobody {
            return Ok(());
        }
        let held = self.held.grow(data.len());
        if *wish == Wish::Needed {
            held?;
        } else if held.is_err() || self.bytes.len() + data.len() > JOURNAL_BODY_BYTES {
            *wish = Wish::Nobody;
            self.bytes.clear();
            self.held.release();
            return Ok(());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// The kept bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes what is kept; the room that it takes stays taken until it is released.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Forgets the body and gives its room back.
    pub(crate) fn release(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.held.release();
    }
}

impl Held {
    /// Nothing is held yet.
    pub(crate) fn new(room: Arc<BodyRoom>) -> Self {
        Self { room, bytes: 0 }
    }

    /// Takes room for so many bytes more.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        self.room.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives everything back.
    fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            self.room.give_back(bytes);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

impl BodyRoom {
    fn take(&self, bytes: usize) -> Result<(), Full> {
        if self.0.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST {
            self.give_back(bytes);
            return Err(Full);
        }
        Ok(())
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_no_room() {
        let room = BodyRoom::default();
        assert_eq!(room.take(MOST - 1), Ok(()));
        assert_eq!(room.take(2), Err(Full));
        assert_eq!(room.take(1), Ok(()));
    }
}
