//! The layout of the counters file in which a server's totals survive its death.
//!
//! A file is a magic line, a count of rows, then one row per shard of [`COUNTERS`] little-endian 64-bit words. The server maps
//! and increments it; anyone may read a copy of its bytes with [`Totals::read`], also after the server was killed.

/// How many words one shard's row has.
pub const COUNTERS: usize = 8;
/// Bytes before the first row.
pub const HEADER_BYTES: usize = 64;
/// Bytes of one row: one cache line, so that shards do not share one.
pub const ROW_BYTES: usize = COUNTERS * 8;
/// The first bytes of every counters file.
pub const MAGIC: &[u8; 16] = b"plimsoll-count1\n";

/// The meaning of a word within a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Requests whose head was received complete.
    Received = 0,
    /// Answers written to the socket in full.
    Served = 1,
    /// Connections accepted.
    Accepted = 2,
    /// Requests refused as malformed.
    Malformed = 3,
    /// Requests that matched no stub.
    Unmatched = 4,
    /// Answers that were faults on purpose.
    Faulted = 5,
}

/// Sums over all shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    words: [u64; COUNTERS],
}

/// A counters file that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a counters file")]
pub struct NotCounters;

impl Totals {
    /// The total of one counter.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.words[counter as usize]
    }

    /// Sums the rows of a counters file.
    ///
    /// # Errors
    /// [`NotCounters`] when the bytes are not of this layout.
    pub fn read(bytes: &[u8]) -> Result<Self, NotCounters> {
        let rows = bytes
            .strip_prefix(MAGIC)
            .and_then(|_| bytes.get(HEADER_BYTES..))
            .ok_or(NotCounters)?;
        if rows.len() % ROW_BYTES != 0 {
            return Err(NotCounters);
        }
        let mut totals = Self::default();
        for row in rows.chunks_exact(ROW_BYTES) {
            for (total, word) in totals.words.iter_mut().zip(row.chunks_exact(8)) {
                *total += u64::from_le_bytes(word.try_into().expect("invariant: chunks of eight"));
            }
        }
        Ok(totals)
    }

    /// The bytes of an empty file for `shards` shards.
    #[must_use]
    pub fn empty_file(shards: usize) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES + shards * ROW_BYTES];
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed() {
        let mut bytes = Totals::empty_file(2);
        bytes[HEADER_BYTES] = 3;
        bytes[HEADER_BYTES + ROW_BYTES] = 4;
        let totals = Totals::read(&bytes).unwrap();
        assert_eq!(
            (totals.get(Counter::Received), totals.get(Counter::Served)),
            (7, 0)
        );
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(Totals::read(b"something else"), Err(NotCounters));
        assert_eq!(
            Totals::read(&Totals::empty_file(1)[..100]),
            Err(NotCounters)
        );
    }
}
