//! Texts in the order in which they came, in a few large pieces of memory: a piece is used again, or given back, when the last text in it goes. Most
//! often that is the oldest text of all.
//!
//! So adding a text allocates nothing, and writes where the processor has just written.

use std::collections::VecDeque;

/// Bytes of a piece; a longer text has one of its own.
const PIECE_BYTES: usize = 64 * 1024;

/// The texts.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Oldest first; texts are added to the last.
    pieces: VecDeque<Piece>,
    /// How many pieces have gone: numbers the first.
    gone: u64,
    /// An empty piece, for the next.
    spare: Option<Vec<u8>>,
    /// Bytes of all of them.
    memory: usize,
}

#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    /// How many texts it has that have not gone.
    texts: usize,
}

/// Where a text is.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlace {
    piece: u64,
    start: usize,
    length: usize,
}

impl Log {
    /// Bytes of memory that this would take with a text of so many bytes more.
    pub(super) fn memory_with(&self, length: usize) -> usize {
        if self.has_room(length) || (length <= PIECE_BYTES && self.spare.is_some()) {
            self.memory
        } else {
            self.memory + length.max(PIECE_BYTES)
        }
    }

    /// Bytes of memory that this takes.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes of memory that this takes, counted anew.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let pieces = self.pieces.iter().map(|piece| piece.bytes.capacity());
        pieces.sum::<usize>() + self.spare.as_ref().map_or(0, Vec::capacity)
    }

    /// Adds a text of two parts.
    pub(super) fn append(&mut self, head: &[u8], rest: &[u8]) -> TextPlace {
        let length = head.len() + rest.len();
        if !self.has_room(length) {
            self.add_piece(length);
        }
        let index = self.pieces.len() - 1;
        let piece = &mut self.pieces[index];
        let start = piece.bytes.len();
        piece.bytes.extend_from_slice(head);
        piece.bytes.extend_from_slice(rest);
        piece.texts += 1;
        TextPlace {
            piece: self.gone + index as u64,
            start,
            length,
        }
    }

    /// Forgets a text that has not gone. Its piece goes with the last text in it.
    pub(super) fn forget(&mut self, place: TextPlace) {
        let index = self.index(place);
        let piece = &mut self.pieces[index];
        piece.texts -= 1;
        if piece.texts > 0 {
            return;
        }
        let mut bytes = std::mem::take(&mut piece.bytes);
        if bytes.capacity() == PIECE_BYTES && self.spare.is_none() {
            bytes.clear();
            self.spare = Some(bytes);
        } else {
            self.memory -= bytes.capacity();
        }
        // Their places in the order stay until it is their turn.
        while self.pieces.pop_front_if(|first| first.texts == 0).is_some() {
            self.gone += 1;
        }
    }

    /// A text that has not gone.
    pub(super) fn text(&self, place: TextPlace) -> &[u8] {
        &self.pieces[self.index(place)].bytes[place.start..place.start + place.length]
    }

    fn index(&self, place: TextPlace) -> usize {
        usize::try_from(place.piece - self.gone).unwrap_or(usize::MAX)
    }

    /// Whether so many bytes more have room in the last piece.
    fn has_room(&self, length: usize) -> bool {
        let last = self.pieces.back();
        last.is_some_and(|piece| piece.bytes.capacity() - piece.bytes.len() >= length)
    }

    fn add_piece(&mut self, length: usize) {
        let spare = self.spare.take_if(|_| length <= PIECE_BYTES);
        let bytes = spare.unwrap_or_else(|| {
            let bytes = Vec::with_capacity(length.max(PIECE_BYTES));
            self.memory += bytes.capacity();
            bytes
        });
        self.pieces.push_back(Piece { bytes, texts: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_oldest_is_used_again() {
        let mut log = Log::default();
        let text = vec![b'x'; PIECE_BYTES / 2 - 1];
        let places: Vec<TextPlace> = (0..4).map(|_| log.append(&text, b"y")).collect();
        assert_eq!(log.memory(), 2 * PIECE_BYTES);
        assert!(log.text(places[3]).ends_with(b"xy"));
        log.forget(places[0]);
        assert_eq!(log.memory_with(1), 3 * PIECE_BYTES);
        log.forget(places[1]);
        assert_eq!(log.memory_with(1), 2 * PIECE_BYTES);
        let next = log.append(b"a", b"bc");
        assert_eq!(
            (log.text(next), log.memory()),
            (&b"abc"[..], 2 * PIECE_BYTES)
        );
        assert!(log.text(places[2]).starts_with(b"xx"));
    }

    #[test]
    fn a_long_text_has_a_piece_of_its_own_that_goes_with_it() {
        let mut log = Log::default();
        let first = log.append(b"", b"");
        let long = vec![b'x'; 3 * PIECE_BYTES];
        assert_eq!(log.memory_with(long.len()), 4 * PIECE_BYTES);
        let place = log.append(&long, b"");
        assert_eq!(
            (log.text(place).len(), log.memory()),
            (long.len(), 4 * PIECE_BYTES)
        );
        let last = log.append(b"z", b"");
        log.forget(first);
        log.forget(place);
        assert_eq!((log.text(last), log.memory()), (&b"z"[..], 2 * PIECE_BYTES));
    }

    #[test]
    fn what_goes_out_of_turn_gives_its_memory_back() {
        let mut log = Log::default();
        let text = vec![b'x'; 2 * PIECE_BYTES];
        let places: Vec<TextPlace> = (0..4).map(|_| log.append(&text, b"")).collect();
        log.forget(places[1]);
        log.forget(places[3]);
        assert_eq!(log.memory(), 2 * text.len());
        assert_eq!((log.text(places[0]), log.text(places[2])), (&*text, &*text));
        let next = log.append(b"a", b"b");
        log.forget(places[0]);
        assert_eq!((log.text(places[2]), log.text(next)), (&*text, &b"ab"[..]));
        log.forget(places[2]);
        assert_eq!((log.text(next), log.memory()), (&b"ab"[..], PIECE_BYTES));
    }
}
