//! The journal: the last requests and what answered each, for the admin API.
//!
//! Each shard writes to a ring of its own, whose lock nobody else takes but an admin call; what is read is copied in small parts, so
//! the shard waits for no rendering, and what is removed is not copied at all. A ring keeps so many requests and so many bytes; what it drops it has
//! counted, so totals are exact. How an entry is shown is left to `journal/shown.rs`.

pub(crate) mod described;
mod log;
mod ring;
pub(crate) mod shown;
pub(crate) mod sub_event;

use jiff::Timestamp;
use plimsoll_http::RequestHead;
use plimsoll_wiremock::clock;
use plimsoll_wiremock::request::misread::Misread;
use plimsoll_wiremock::request::{Channel, Request};
use plimsoll_wiremock::response::answer::{Answer, Shown};
use plimsoll_wiremock::stub::Stub;
use plimsoll_wiremock::stub_id::StubId;
use ring::Ring;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How much a journal keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalLimits {
    /// Requests; 0 keeps no journal.
    pub entries: usize,
    /// Bytes of memory, over all shards.
    pub bytes: usize,
    /// Bytes that are shown of the body of an answer.
    pub shown_body: usize,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self {
            entries: 10_000,
            bytes: 32 << 20,
            shown_body: usize::MAX,
        }
    }
}

/// The journal of a running mock.
#[derive(Debug)]
pub(crate) struct Journal {
    /// One ring per shard. A blocking lock: it is held for one request, or for a copy of some.
    rings: Box<[Mutex<Ring>]>,
    /// Of one ring; so many entries are shown of all.
    limits: JournalLimits,
    seed: u64,
    /// One moment on both clocks: entries carry instants, answers tell the time.
    anchor: (Instant, Timestamp),
    /// Counts how often it was emptied, from 1: stubs remember in which of these times they last answered.
    epoch: AtomicU64,
}

/// One request and what answered it, as it was when somebody asked.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Unlike that of any other: the shard and how many it had noted before.
    pub(crate) number: u64,
    pub(crate) head: RequestHead,
    pub(crate) body: Vec<u8>,
    pub(crate) channel: Channel,
    pub(crate) received: Instant,
    /// The delay that was asked for.
    pub(crate) delay: Duration,
    pub(crate) outcome: Outcome,
    /// The answer, where it was made for this request.
    pub(crate) answer: Option<Answer>,
    /// Its id, where it was shown before it was noted.
    shown_id: Option<StubId>,
    /// Formats that patterns could not read its body as.
    misread: Misread,
    /// Events after its answer, as JSON text.
    sub_events: Vec<String>,
}

/// Outcome of a request.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Stub(Arc<Stub>),
    /// A built-in endpoint, with this status.
    Own(u16),
    /// Nothing, so it gets this status.
    Unmatched(u16),
}

/// A request to be noted.
#[derive(Debug)]
pub(crate) struct SeenRequest<'a> {
    pub(crate) head: &'a RequestHead,
    pub(crate) body: &'a [u8],
    pub(crate) channel: Channel,
    pub(crate) received: Instant,
    pub(crate) delay: Duration,
    pub(crate) outcome: Answered<'a>,
    /// The answer, where it was made for this request.
    pub(crate) answer: Option<&'a Answer>,
    /// Its id, where somebody has seen it already.
    pub(crate) id: Option<StubId>,
    /// Formats that patterns could not read its body as.
    pub(crate) misread: Misread,
}

/// Answer to a request that is to be noted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answered<'a> {
    Stub(&'a Arc<Stub>),
    Own(u16),
    /// Nothing, so it gets this status.
    Unmatched(u16),
}

/// Content of the journal at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Oldest first.
    pub(crate) entries: Vec<Arc<Entry>>,
    /// How many more there were since the journal was last emptied.
    pub(crate) dropped: u64,
    /// When further requests came whose answers were still on their way from another server.
    pub(crate) fetched: Vec<Instant>,
}

/// A request whose answer is on its way from another server. Until it is noted or dropped, snapshots tell of it.
#[derive(Debug)]
pub(crate) struct Fetch<'a> {
    journal: &'a Journal,
    shard: usize,
    /// When it came; nothing once it was noted.
    received: Option<Instant>,
}

impl Journal {
    /// An empty journal for so many shards. `seed` decides the ids of its entries.
    pub(crate) fn new(limits: JournalLimits, shards: usize, seed: u64) -> Self {
        let ring = |_| Mutex::new(Ring::default());
        Self {
            rings: (0..shards).map(ring).collect(),
            limits: JournalLimits {
                bytes: limits.bytes / shards.max(1),
                ..limits
            },
            seed,
            anchor: (Instant::now(), clock::now()),
            epoch: AtomicU64::new(1),
        }
    }

    /// Whether requests are noted.
    pub(crate) fn is_on(&self) -> bool {
        self.limits.entries > 0
    }

    /// Notes a request of a shard; its number, unless there is no journal.
    pub(crate) fn note(&self, shard: usize, seen: &SeenRequest<'_>) -> Option<u64> {
        let note = || {
            let mut ring = self.ring_for(shard, seen);
            ring.note(seen, self.limits, base(shard))
        };
        self.is_on().then(note)
    }

    /// The ring in which this is to be noted.
    fn ring_for(&self, shard: usize, seen: &SeenRequest<'_>) -> MutexGuard<'_, Ring> {
        if let Answered::Stub(stub) = seen.outcome {
            stub.saw(self.epoch.load(Ordering::Relaxed));
        }
        lock(&self.rings[shard])
    }

    /// Says that a shard's request, which came then, is to be noted when its answer has come from another server.
    pub(crate) fn begin_fetch(&self, shard: usize, received: Instant) -> Option<Fetch<'_>> {
        self.is_on().then(|| {
            lock(&self.rings[shard]).begin_fetch(received);
            Fetch {
                journal: self,
                shard,
                received: Some(received),
            }
        })
    }

    /// Adds to a shard's request what came of it after its answer, if it is still there.
    pub(crate) fn add_sub_event(&self, shard: usize, number: u64, event: &Value) {
        let event = event.to_string();
        lock(&self.rings[shard]).add_sub_event(number, event, self.limits.bytes);
    }

    /// The newest entries of all shards, oldest first.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let (mut entries, mut all, mut fetched) = (Vec::new(), 0, Vec::new());
        for (shard, ring) in self.rings.iter().enumerate() {
            let (mut from, base) = (0, base(shard));
            let (noted, until) = {
                let ring = lock(ring);
                fetched.extend_from_slice(ring.fetched());
                ring.extent(base)
            };
            all += noted;
            loop {
                let some = lock(ring).noted(from..until);
                let Some(last) = some.last() else { break };
                from = last.number() + 1;
                entries.extend(some.into_iter().map(|noted| Arc::new(noted.into_entry())));
            }
        }
        entries.sort_by_key(|entry| entry.received);
        let beyond = entries.len().saturating_sub(self.limits.entries);
        entries.drain(..beyond);
        Snapshot {
            dropped: all.saturating_sub(entries.len() as u64),
            entries,
            fetched,
        }
    }

    /// Removes these entries.
    pub(crate) fn remove(&self, unwanted: &[Arc<Entry>]) {
        let numbers: HashSet<u64> = unwanted.iter().map(|entry| entry.number).collect();
        for ring in &self.rings {
            lock(ring).remove(&numbers);
        }
    }

    /// Forgets everything, the totals included.
    pub(crate) fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
        for ring in &self.rings {
            lock(ring).clear();
        }
    }

    /// Whether a stub has answered a request since the journal was last emptied.
    pub(crate) fn has_seen(&self, stub: &Stub) -> bool {
        stub.last_saw() == self.epoch.load(Ordering::Relaxed)
    }

    /// The part of an answer's body that is shown.
    pub(crate) fn shown_of<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        &body[..body.len().min(self.limits.shown_body)]
    }

    /// The time at which an entry's request was received.
    pub(crate) fn time_of(&self, entry: &Entry) -> Timestamp {
        let (instant, time) = self.anchor;
        let since = entry.received.saturating_duration_since(instant);
        time.checked_add(since).unwrap_or(Timestamp::MAX)
    }

    /// The id of an entry.
    pub(crate) fn id_of_entry(&self, entry: &Entry) -> StubId {
        entry.shown_id.unwrap_or_else(|| self.id_of(entry.number))
    }

    /// The id of the request with this number, made when somebody wants to see it, unless it was shown before it was noted.
    pub(crate) fn id_of(&self, number: u64) -> StubId {
        /// Keeps these ids apart from those of stubs under the same seed.
        const DOMAIN: u64 = 0x0065_7665_6e74_6964;
        StubId::minted(self.seed ^ DOMAIN, number)
    }
}

impl Fetch<'_> {
    /// Notes the request with its answer; its number.
    pub(crate) fn note(mut self, seen: &SeenRequest<'_>) -> u64 {
        let mut ring = self.journal.ring_for(self.shard, seen);
        // Both at once, so that nobody sees it twice, or not at all.
        if let Some(received) = self.received.take() {
            ring.end_fetch(received);
        }
        ring.note(seen, self.journal.limits, base(self.shard))
    }
}

impl Drop for Fetch<'_> {
    fn drop(&mut self) {
        if let Some(received) = self.received {
            lock(&self.journal.rings[self.shard]).end_fetch(received);
        }
    }
}

impl Entry {
    /// The request as matchers see it.
    pub(crate) fn request(&self) -> Request<'_> {
        Request::of(&self.head, &self.body, self.channel)
    }

    /// Events of the search for a stub, and those after its answer.
    fn sub_events(&self) -> Vec<Value> {
        let mut events = sub_event::of_misread(self.misread, &self.request().body);
        let parsed = |text: &String| serde_json::from_str(text).unwrap_or_default();
        events.extend(self.sub_events.iter().map(parsed));
        events
    }

    /// The parts of its answer; of one of our own, the status.
    pub(crate) fn shown_answer(&self) -> Shown<'_> {
        let status = match (&self.answer, &self.outcome) {
            (Some(answer), _) => return answer.shown(),
            (None, Outcome::Stub(stub)) => return stub.answer.shown(),
            (None, Outcome::Own(status) | Outcome::Unmatched(status)) => *status,
        };
        Shown {
            status,
            fields: Vec::new(),
            body: b"",
        }
    }

    /// Whether nothing answered it.
    pub(crate) fn is_unmatched(&self) -> bool {
        matches!(self.outcome, Outcome::Unmatched(_))
    }

    /// The stub that answered it.
    pub(crate) fn stub(&self) -> Option<&Arc<Stub>> {
        match &self.outcome {
            Outcome::Stub(stub) => Some(stub),
            Outcome::Own(_) | Outcome::Unmatched(_) => None,
        }
    }
}

/// Where the numbers of a shard begin.
fn base(shard: usize) -> u64 {
    (shard as u64) << 48
}

/// A shard that panicked between two entries has left whole entries, and one that panicked ends the mock.
fn lock(ring: &Mutex<Ring>) -> MutexGuard<'_, Ring> {
    ring.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_http::Version;

    #[test]
    fn who_reads_is_told_of_what_is_fetched() {
        let journal = Journal::new(JournalLimits::default(), 2, 0);
        let head = RequestHead::from_text(b"GET / HTTP/1.0\r\n\r\n", Version::Http10).unwrap();
        let (first, second) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        let seen = |received| SeenRequest {
            head: &head,
            body: b"",
            channel: Channel::default(),
            received,
            delay: Duration::ZERO,
            outcome: Answered::Unmatched(404),
            answer: None,
            id: None,
            misread: Misread::default(),
        };
        let check = |noted: &[Instant], fetched: &[Instant]| {
            let snapshot = journal.snapshot();
            let entries = snapshot.entries.iter().map(|entry| entry.received);
            assert!(entries.eq(noted.iter().copied()), "{snapshot:?}");
            assert_eq!(
                (snapshot.fetched.as_slice(), snapshot.dropped),
                (fetched, 0)
            );
        };
        let one = journal.begin_fetch(0, first).unwrap();
        let other = journal.begin_fetch(1, second).unwrap();
        check(&[], &[first, second]);
        // Emptying the journal ends no exchange.
        journal.clear();
        check(&[], &[first, second]);
        one.note(&seen(first));
        check(&[first], &[second]);
        drop(other);
        check(&[first], &[]);
    }
}
