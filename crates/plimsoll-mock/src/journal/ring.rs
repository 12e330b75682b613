//! The entries of one shard: so many, in so many bytes. The oldest makes room, and its memory is used again.

use super::{Answered, Entry, JournalLimits, Outcome, Seen};
use crate::answer::Answer;
use plimsoll_http::RequestHead;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of an entry beyond its head and body: itself, its pointer and what the allocator adds.
const ENTRY_BYTES: usize = size_of::<Entry>() + 32;

/// A shard's part of the journal.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Oldest first.
    entries: VecDeque<Arc<Entry>>,
    /// What they take.
    bytes: usize,
    /// How many were ever noted: numbers the entries.
    noted: u64,
    /// How many made room since it was last emptied.
    dropped: u64,
}

impl Ring {
    /// Notes a request; its number. `base` is where the shard's numbers begin.
    pub(super) fn note(&mut self, seen: &Seen<'_>, limits: JournalLimits, base: u64) -> u64 {
        let number = base + self.noted;
        self.noted += 1;
        let mut spare = None;
        let answer = seen.answer.map_or(0, Answer::memory);
        let wanted = ENTRY_BYTES + seen.head.fields().memory() + seen.body.len() + answer;
        while self.entries.len() >= limits.entries
            || (self.bytes + wanted > limits.bytes && !self.entries.is_empty())
        {
            spare = self.drop_oldest();
        }
        let mut entry = spare.unwrap_or_else(|| Arc::new(Entry::blank(seen)));
        match Arc::get_mut(&mut entry) {
            Some(reused) => reused.fill(seen, number),
            // A reader still has it.
            None => {
                let mut fresh = Entry::blank(seen);
                fresh.fill(seen, number);
                entry = Arc::new(fresh);
            }
        }
        self.bytes += memory(&entry);
        self.entries.push_back(entry);
        // Memory is taken in steps, so that an entry may have more of it than it fills; one may not fit even alone.
        while self.bytes > limits.bytes {
            self.drop_oldest();
        }
        number
    }

    /// Adds to an entry, if it is still there; in so many bytes of all.
    pub(super) fn add_sub_event(&mut self, number: u64, event: String, bytes: usize) {
        let place = self
            .entries
            .binary_search_by_key(&number, |entry| entry.number);
        if let Ok(place) = place {
            let entry = &self.entries[place];
            self.bytes += event.len();
            entry
                .sub_event_bytes
                .fetch_add(event.len(), Ordering::Relaxed);
            sub_events(entry).push(event);
        }
        while self.bytes > bytes {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) -> Option<Arc<Entry>> {
        let oldest = self.entries.pop_front()?;
        self.bytes -= memory(&oldest);
        self.dropped += 1;
        Some(oldest)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Arc<Entry>> {
        self.entries.iter().cloned()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn remove(&mut self, numbers: &HashSet<u64>) {
        let bytes = &mut self.bytes;
        self.entries.retain(|entry| {
            let unwanted = numbers.contains(&entry.number);
            *bytes -= if unwanted { memory(entry) } else { 0 };
            !unwanted
        });
    }

    pub(super) fn clear(&mut self) {
        *self = Self {
            noted: self.noted,
            ..Self::default()
        };
    }
}

impl Entry {
    fn blank(seen: &Seen<'_>) -> Self {
        Self {
            number: 0,
            head: RequestHead::default(),
            body: Vec::new(),
            channel: seen.channel,
            received: seen.received,
            delay: seen.delay,
            outcome: Outcome::Unmatched,
            answer: None,
            sub_events: Mutex::default(),
            sub_event_bytes: AtomicUsize::new(0),
        }
    }

    fn fill(&mut self, seen: &Seen<'_>, number: u64) {
        self.number = number;
        self.head.clone_from(seen.head);
        self.body.clear();
        // Memory for a long body is not kept for a short one.
        self.body.shrink_to(seen.body.len());
        self.body.extend_from_slice(seen.body);
        self.channel = seen.channel;
        self.received = seen.received;
        self.delay = seen.delay;
        self.answer = seen.answer.cloned();
        // Most often there are none, and nothing is locked.
        if std::mem::take(self.sub_event_bytes.get_mut()) > 0 {
            sub_events(self).clear();
        }
        self.outcome = match (seen.outcome, &self.outcome) {
            // Most often the same: then its count of users, which all shards share, is left alone.
            (Answered::Stub(stub), Outcome::Stub(own)) if Arc::ptr_eq(stub, own) => return,
            (Answered::Stub(stub), _) => Outcome::Stub(Arc::clone(stub)),
            (Answered::Own(status), _) => Outcome::Own(status),
            (Answered::Unmatched, _) => Outcome::Unmatched,
        };
    }
}

fn memory(entry: &Entry) -> usize {
    let answer = entry.answer.as_ref().map_or(0, Answer::memory);
    let events = entry.sub_event_bytes.load(Ordering::Relaxed);
    ENTRY_BYTES + entry.head.fields().memory() + entry.body.capacity() + answer + events
}

/// Events are added one by one, so what a panic leaves is whole.
pub(super) fn sub_events(entry: &Entry) -> MutexGuard<'_, Vec<String>> {
    let events = entry.sub_events.lock();
    events.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Channel;
    use std::time::Duration;
    use tokio::time::Instant;

    fn ring_of(bodies: &[&str], limits: JournalLimits) -> Ring {
        let mut ring = Ring::default();
        for body in bodies {
            let seen = Seen {
                head: &RequestHead::default(),
                body: body.as_bytes(),
                channel: Channel::default(),
                received: Instant::now(),
                delay: Duration::ZERO,
                outcome: Answered::Unmatched,
                answer: None,
            };
            ring.note(&seen, limits, 0);
        }
        ring
    }

    fn check(bodies: &[&str], limits: JournalLimits, kept: &[&str], dropped: u64) {
        let ring = ring_of(bodies, limits);
        let bodies: Vec<_> = ring.entries().map(|entry| entry.body.clone()).collect();
        let kept: Vec<_> = kept.iter().map(|body| body.as_bytes().to_vec()).collect();
        assert_eq!((bodies, ring.dropped()), (kept, dropped));
        assert_eq!(
            ring.bytes,
            ring.entries().map(|entry| memory(&entry)).sum::<usize>()
        );
        assert!(ring.bytes <= limits.bytes);
    }

    #[test]
    fn the_oldest_make_room() {
        let limits = JournalLimits {
            entries: 2,
            bytes: 1 << 20,
        };
        check(&["a", "b"], limits, &["a", "b"], 0);
        check(&["a", "b", "c", "d"], limits, &["c", "d"], 2);
        let three = JournalLimits {
            entries: 100,
            bytes: 3 * ENTRY_BYTES + 30,
        };
        check(&["a", "b", "c", "d"], three, &["b", "c", "d"], 1);
        let long = "x".repeat(3 * ENTRY_BYTES);
        check(&["a", &long], three, &[], 2);
    }

    #[test]
    fn what_a_reader_has_does_not_change_under_it() {
        let limits = JournalLimits {
            entries: 1,
            bytes: 1 << 20,
        };
        let mut ring = ring_of(&["a"], limits);
        let read: Vec<_> = ring.entries().collect();
        let seen = Seen {
            head: &RequestHead::default(),
            body: b"b",
            channel: Channel::default(),
            received: Instant::now(),
            delay: Duration::ZERO,
            outcome: Answered::Unmatched,
            answer: None,
        };
        ring.note(&seen, limits, 0);
        assert_eq!(
            (&*read[0].body, &*ring.entries[0].body),
            (&b"a"[..], &b"b"[..])
        );
    }
}
