//! Keys that a mapping has twice.

use std::collections::HashMap;

use super::tree::{Entry, Position};

/// Mappings of no more entries are searched, which takes no memory.
const SMALL: usize = 16;

/// Tells of each key that was written before in this mapping: its place, and what is wrong.
pub(super) fn tell_twins(entries: &[Entry], mut tell: impl FnMut(Position, String)) {
    let mut tell = |entry: &Entry, earlier: &Entry| {
        let (key, line) = (entry.key(), earlier.key_at().line);
        let message = format!("the key `{key}` is written twice (before on line {line}): keep one");
        tell(entry.key_at(), message);
    };
    if entries.len() <= SMALL {
        for (at, entry) in entries.iter().enumerate() {
            let mut before = entries[..at].iter().rev();
            if let Some(earlier) = before.find(|earlier| earlier.key() == entry.key()) {
                tell(entry, earlier);
            }
        }
        return;
    }
    let mut seen: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
    for entry in entries {
        if let Some(earlier) = seen.insert(entry.key(), entry) {
            tell(entry, earlier);
        }
    }
}
