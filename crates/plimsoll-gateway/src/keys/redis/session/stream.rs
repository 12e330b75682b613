//! Streams of Redis: the entries of that of changes, and where a stream begins and ends.

use crate::keys::KeyHash;
use crate::keys::key::Quotas as Becomes;
use crate::keys::redis::changes::Word;
use plimsoll_redis::Connection;
use redis::RedisResult;
use std::collections::HashMap;

/// Changes that the stream holds on to; whoever was away for longer reads all keys.
pub(super) const STREAM_LENGTH: usize = 100_000;
/// The stream of changes: the hash of each key that was made, changed or withdrawn.
pub(super) const CHANGES: &str = "plimsoll-key-changes";
/// Words on a key in the stream: it was changed and its quota kept, it was made or changed as a whole, it was withdrawn.
pub(super) const KEPT: &str = "0";
pub(super) const MADE: &str = "1";
pub(super) const WITHDRAWN: &str = "2";
/// An id before all others of a stream.
pub(super) const BEGINNING: &str = "0-0";

/// Entries of a stream: ids, and names and values one after the other.
pub(super) type Entries = Vec<(String, Vec<String>)>;

/// Words of others than `own` in these entries, one for each key.
pub(super) fn words(entries: Entries, own: &str) -> HashMap<KeyHash, Word> {
    let mut words = HashMap::new();
    for (_, fields) in entries {
        let [_, hex, _, said, _, by] = &fields[..] else {
            continue;
        };
        let Some(hash) = KeyHash::from_hex(hex).filter(|_| by != own) else {
            continue;
        };
        let word = words.entry(hash).or_insert(Word {
            hash,
            quotas: Becomes::Keep,
            is_new: false,
        });
        match said.as_str() {
            MADE => (word.quotas, word.is_new) = (Becomes::Reset, true),
            WITHDRAWN => word.is_new = false,
            _ => {}
        }
    }
    words
}

/// Content of a stream of changes.
pub(super) struct Stream {
    pub(super) oldest: Option<String>,
    pub(super) newest: Option<String>,
    /// The change that was read last is still there.
    pub(super) has_read: bool,
}

impl Stream {
    pub(super) fn look(connection: &mut Connection, read: Option<&str>) -> RedisResult<Self> {
        let mut request = redis::pipe();
        let read = read.unwrap_or(BEGINNING);
        for (order, from, to) in [
            ("XRANGE", "-", "+"),
            ("XREVRANGE", "+", "-"),
            ("XRANGE", read, read),
        ] {
            let range = request.cmd(order).arg(CHANGES).arg(from).arg(to);
            range.arg("COUNT").arg(1);
        }
        let (oldest, newest, read): (Entries, Entries, Entries) = request.query(connection)?;
        let id = |entries: Entries| entries.into_iter().next().map(|(id, _)| id);
        Ok(Self {
            oldest: id(oldest),
            newest: id(newest),
            has_read: !read.is_empty(),
        })
    }

    /// Whether all that it has came after `read`.
    pub(super) fn is_behind(&self, read: &str) -> bool {
        let oldest = self.oldest.as_deref();
        oldest.is_some_and(|oldest| is_before(read, oldest))
    }
}

/// The newest id of a stream, if it has any.
pub(super) fn newest(connection: &mut Connection, stream: &str) -> RedisResult<Option<String>> {
    let mut request = redis::pipe();
    let range = request.cmd("XREVRANGE").arg(stream).arg("+").arg("-");
    range.arg("COUNT").arg(1);
    let (entries,): (Entries,) = request.query(connection)?;
    Ok(entries.into_iter().next().map(|(id, _)| id))
}

/// Whether one id of a stream (milliseconds, a dash, a number) is before another.
pub(super) fn is_before(one: &str, other: &str) -> bool {
    let parts = |id: &str| -> Option<(u64, u64)> {
        let (time, number) = id.split_once('-')?;
        Some((time.parse().ok()?, number.parse().ok()?))
    };
    parts(one) < parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_by_number() {
        assert!(is_before("0-0", "1-0"));
        assert!(is_before("9-5", "10-0"));
        assert!(is_before("10-9", "10-10"));
        assert!(!is_before("10-10", "10-10"));
    }
}
