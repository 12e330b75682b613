//! Keys that a mapping has twice.

use std::collections::HashMap;

use super::problem::MOST_PROBLEMS;
use super::tree::{Entry, Position};

/// Mappings of no more entries are searched, which takes no memory.
const SMALL: usize = 16;

/// Tells of each key that was written before in this mapping, its place and what is wrong, up to [`MOST_PROBLEMS`] of them; how many there are
/// beyond those.
pub(super) fn tell_twins(entries: &[Entry], mut tell: impl FnMut(Position, String)) -> usize {
    let mut told = 0;
    let mut tell = |entry: &Entry, earlier: &Entry| {
        told += 1;
        if told > MOST_PROBLEMS {
            return;
        }
        let (key, line) = (entry.key(), earlier.key_at().line);
        let message = format!("the key `{key}` is written twice (before on line {line}): keep one");
        tell(entry.key_at(), message);
    };
    if entries.len() <= SMALL {
        for (at, entry) in entries.iter().enumerate() {
            let mut before = entries[..at].iter().rev();
            if let Some(earlier) = before.find(|earlier| earlier.is_twin_of(entry)) {
                tell(entry, earlier);
            }
        }
    } else {
        let mut seen: HashMap<&[u8], &Entry> = HashMap::with_capacity(entries.len());
        for entry in entries {
            if let Some(earlier) = seen.insert(entry.key_bytes(), entry) {
                tell(entry, earlier);
            }
        }
    }
    told.saturating_sub(MOST_PROBLEMS)
}
