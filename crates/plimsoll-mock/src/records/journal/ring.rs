//! The requests of one shard: so many, in so many bytes. The oldest makes room.
//!
//! A request is kept as it came: its head and its body are a text of the [`Log`], and what else is known of it is a small record. So noting one is two
//! copies and allocates nothing. An [`Entry`] is made of it when somebody asks.

use super::log::{Log, TextPlace};
use super::{Answered, Entry, JournalLimits, Outcome, SeenRequest};
use plimsoll_http::{RequestHead, Version};
use plimsoll_wiremock::request::Channel;
use plimsoll_wiremock::request::misread::Misread;
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub_id::StubId;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes of a record: a queue has up to twice the room that it fills.
const RECORD_BYTES: usize = 2 * size_of::<Record>();

/// Limits of a copy for a reader, who keeps the shard waiting meanwhile: so many requests, or so many bytes and one.
const COPIED: usize = 256;
const COPIED_BYTES: usize = 1 << 20;

/// A shard's part of the journal.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Oldest first.
    records: VecDeque<Record>,
    /// Their heads and bodies.
    log: Log,
    /// Bytes of what they have aside.
    aside: usize,
    /// How many were ever noted: numbers them.
    noted: u64,
    /// How many made room since it was last emptied.
    dropped: u64,
    /// When the requests came whose answers are on their way from another server: they are noted with them.
    fetched: Vec<Instant>,
}

/// Facts of a request beyond its bytes.
#[derive(Debug, Clone)]
struct Record {
    number: u64,
    place: TextPlace,
    /// Of its bytes, so many are the head.
    head: usize,
    version: Version,
    channel: Channel,
    received: Instant,
    delay: Duration,
    outcome: Outcome,
    misread: Misread,
    /// Facts that most requests do not have.
    aside: Option<Box<Aside>>,
}

#[derive(Debug, Clone, Default)]
struct Aside {
    /// The answer, where it was made for this request.
    answer: Option<Answer>,
    /// Its id, where it was shown before it was noted.
    id: Option<StubId>,
    /// Events after its answer, as JSON text.
    sub_events: Vec<String>,
}

/// A request as it was noted.
#[derive(Debug)]
pub(super) struct Noted {
    record: Record,
    text: Vec<u8>,
}

impl Ring {
    /// Notes a request; its number. `base` is where the shard's numbers begin.
    pub(super) fn note(&mut self, seen: &SeenRequest<'_>, limits: JournalLimits, base: u64) -> u64 {
        let number = base + self.noted;
        self.noted += 1;
        let aside = Aside::of(seen).map(Box::new);
        let aside_bytes = aside.as_deref().map_or(0, Aside::memory);
        let head = seen.head.text();
        let length = head.len() + seen.body.len();
        if RECORD_BYTES + Log::default().memory_with(length) + aside_bytes > limits.bytes {
            // It does not fit even alone: nothing need make room for it.
            self.dropped += 1;
            return number;
        }
        let mut spare = None;
        while self.records.len() >= limits.entries
            || self.memory_with(length, aside_bytes) > limits.bytes
        {
            // Alone it fits.
            let Some(oldest) = self.drop_oldest() else {
                break;
            };
            spare = Some(oldest.outcome);
        }
        self.aside += aside_bytes;
        self.records.push_back(Record {
            number,
            place: self.log.append(head, seen.body),
            head: head.len(),
            version: seen.head.version(),
            channel: seen.channel,
            received: seen.received,
            delay: seen.delay,
            outcome: outcome(seen.outcome, spare),
            misread: seen.misread,
            aside,
        });
        number
    }

    /// Adds to a request, if it is still there; in so many bytes of all.
    pub(super) fn add_sub_event(&mut self, number: u64, event: String, bytes: usize) {
        let place = self
            .records
            .binary_search_by_key(&number, |record| record.number);
        let record = place.ok().and_then(|place| self.records.get_mut(place));
        if let Some(record) = record {
            let before = record.aside.as_deref().map_or(0, Aside::memory);
            let aside = record.aside.get_or_insert_default();
            aside.sub_events.push(event);
            self.aside += aside.memory() - before;
        }
        while self.memory() > bytes && self.drop_oldest().is_some() {}
    }

    fn drop_oldest(&mut self) -> Option<Record> {
        let oldest = self.records.pop_front()?;
        self.log.forget(oldest.place);
        if let Some(aside) = &oldest.aside {
            self.aside -= aside.memory();
        }
        self.dropped += 1;
        if self.records.is_empty() {
            // What is kept for the next may be in the way of a long one.
            self.log = Log::default();
        }
        Some(oldest)
    }

    fn memory(&self) -> usize {
        self.records.len() * RECORD_BYTES + self.log.memory() + self.aside
    }

    /// Bytes of memory with one more request of so many bytes.
    fn memory_with(&self, length: usize, aside: usize) -> usize {
        (self.records.len() + 1) * RECORD_BYTES + self.log.memory_with(length) + self.aside + aside
    }

    /// How many were noted since it was last emptied, removed ones left out, and below which number they all are.
    pub(super) fn extent(&self, base: u64) -> (u64, u64) {
        let all = self.dropped + self.records.len() as u64;
        (all, base + self.noted)
    }

    /// When the requests came whose answers are on their way from another server.
    pub(super) fn fetched(&self) -> &[Instant] {
        &self.fetched
    }

    /// The answer to a request that came then is to come from another server.
    pub(super) fn begin_fetch(&mut self, received: Instant) {
        self.fetched.push(received);
    }

    /// It has come, or nobody waits for it any more.
    pub(super) fn end_fetch(&mut self, received: Instant) {
        let place = self.fetched.iter().position(|other| *other == received);
        if let Some(place) = place {
            self.fetched.swap_remove(place);
        }
    }

    /// Some of those with these numbers, oldest first; none if there are no more.
    pub(super) fn noted(&self, numbers: Range<u64>) -> Vec<Noted> {
        let first = self
            .records
            .partition_point(|record| record.number < numbers.start);
        let mut bytes = 0;
        let records = self.records.range(first..).take(COPIED);
        let records = records.take_while(|record| {
            let is_wanted = record.number < numbers.end && bytes <= COPIED_BYTES;
            bytes += self.log.text(record.place).len();
            is_wanted
        });
        let noted = records.map(|record| Noted {
            record: record.clone(),
            text: self.log.text(record.place).to_vec(),
        });
        noted.collect()
    }

    /// Removes those with these numbers; they are not counted as dropped. No text is copied.
    pub(super) fn remove(&mut self, numbers: &HashSet<u64>) {
        let Self {
            records,
            log,
            aside,
            ..
        } = self;
        records.retain(|record| {
            let is_unwanted = numbers.contains(&record.number);
            if is_unwanted {
                log.forget(record.place);
                *aside -= record.aside.as_deref().map_or(0, Aside::memory);
            }
            !is_unwanted
        });
        if self.records.is_empty() {
            self.log = Log::default();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self {
            noted: self.noted,
            fetched: std::mem::take(&mut self.fetched),
            ..Self::default()
        };
    }
}

impl Aside {
    /// Rare facts of a request, if there are any.
    fn of(seen: &SeenRequest<'_>) -> Option<Self> {
        (seen.answer.is_some() || seen.id.is_some()).then(|| Self {
            answer: seen.answer.cloned(),
            id: seen.id,
            sub_events: Vec::new(),
        })
    }

    fn memory(&self) -> usize {
        let events = self.sub_events.iter();
        let events: usize = events.map(|event| size_of::<String>() + event.len()).sum();
        let answer = self.answer.as_ref().map_or(0, Answer::memory);
        size_of::<Self>() + events + answer
    }
}

impl Noted {
    pub(super) fn number(&self) -> u64 {
        self.record.number
    }

    /// The request as readers see it.
    pub(super) fn into_entry(self) -> Entry {
        let Record {
            number,
            head,
            version,
            channel,
            received,
            delay,
            outcome,
            misread,
            aside,
            ..
        } = self.record;
        let aside = aside.map_or_else(Aside::default, |aside| *aside);
        let mut text = self.text;
        let body = text.split_off(head);
        Entry {
            number,
            head: RequestHead::from_text(&text, version)
                .expect("invariant: what was a head once is one again"),
            body,
            channel,
            received,
            delay,
            outcome,
            answer: aside.answer,
            shown_id: aside.id,
            misread,
            sub_events: aside.sub_events,
        }
    }
}

/// The outcome of a request. Most often it is that of the one that made room, too: then its count of users, which all shards share, is left alone.
fn outcome(seen: Answered<'_>, spare: Option<Outcome>) -> Outcome {
    match (seen, spare) {
        (Answered::Stub(stub), Some(Outcome::Stub(own))) if Arc::ptr_eq(stub, &own) => {
            Outcome::Stub(own)
        }
        (Answered::Stub(stub), _) => Outcome::Stub(Arc::clone(stub)),
        (Answered::Own(status), _) => Outcome::Own(status),
        (Answered::Unmatched(status), _) => Outcome::Unmatched(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_http::Limits;
    use plimsoll_http::decode::RequestDecoder;

    /// The shortest head.
    const HEAD: &[u8] = b"M / HTTP/1.0\r\n\r\n";

    fn seen<'a>(head: &'a RequestHead, body: &'a [u8]) -> SeenRequest<'a> {
        SeenRequest {
            head,
            body,
            channel: Channel::default(),
            received: Instant::now(),
            delay: Duration::ZERO,
            outcome: Answered::Unmatched(404),
            answer: None,
            id: None,
            misread: Misread::default(),
        }
    }

    fn ring_of(bodies: &[&str], limits: JournalLimits) -> Ring {
        let mut ring = Ring::default();
        let head = RequestHead::from_text(HEAD, Version::Http10).unwrap();
        for body in bodies {
            ring.note(&seen(&head, body.as_bytes()), limits, 0);
        }
        ring
    }

    fn bodies(ring: &Ring) -> Vec<Vec<u8>> {
        let noted = ring.noted(0..u64::MAX);
        noted.into_iter().map(|one| one.into_entry().body).collect()
    }

    fn check(texts: &[&str], limits: JournalLimits, kept: &[&str], dropped: u64) {
        let ring = ring_of(texts, limits);
        let kept: Vec<_> = kept.iter().map(|body| body.as_bytes().to_vec()).collect();
        assert_eq!((bodies(&ring), ring.dropped), (kept, dropped));
        assert_eq!(ring.extent(0), (texts.len() as u64, texts.len() as u64));
        assert!(ring.memory() <= limits.bytes);
    }

    #[test]
    fn the_oldest_make_room() {
        let limits = JournalLimits {
            entries: 2,
            bytes: 1 << 20,
            ..JournalLimits::default()
        };
        check(&["a", "b"], limits, &["a", "b"], 0);
        check(&["a", "b", "c", "d"], limits, &["c", "d"], 2);
        let log = Log::default().memory_with(1);
        let three = JournalLimits {
            entries: 100,
            bytes: 3 * RECORD_BYTES + log,
            ..JournalLimits::default()
        };
        check(&["a", "b", "c", "d"], three, &["b", "c", "d"], 1);
        let long = "x".repeat(2 * log);
        // What cannot be kept makes nobody else go.
        check(&["a", &long], three, &["a"], 1);
        check(&["a", &long, "b"], three, &["a", "b"], 1);
    }

    #[test]
    fn it_never_takes_more_memory_than_it_may() {
        let limits = JournalLimits {
            entries: 10_000,
            bytes: 1 << 20,
            ..JournalLimits::default()
        };
        let body = vec![b'x'; 4_000];
        let mut decoder = RequestDecoder::new(Limits::default());
        decoder
            .decode(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            .unwrap();
        let mut ring = Ring::default();
        for _ in 0..2_000 {
            ring.note(&seen(decoder.head(), &body), limits, 0);
            assert!(ring.log.held() + ring.records.len() * RECORD_BYTES <= limits.bytes);
        }
        assert!(ring.records.len() > 200);
    }

    #[test]
    fn a_request_comes_back_as_it_came() {
        let mut decoder = RequestDecoder::new(Limits::default());
        decoder
            .decode(b"PUT /a?b=c HTTP/1.0\r\nX: 1\r\nContent-Length: 4\r\n\r\n")
            .unwrap();
        let mut ring = Ring::default();
        ring.note(&seen(decoder.head(), b"body"), JournalLimits::default(), 7);
        let entry = ring.noted(7..8).remove(0).into_entry();
        assert_eq!((entry.number, &*entry.body), (7, &b"body"[..]));
        assert_eq!(
            (entry.head.method(), entry.head.target()),
            ("PUT", "/a?b=c")
        );
        assert_eq!(entry.head.version(), Version::Http10);
        assert_eq!(entry.head.fields().get("x"), Some(&b"1"[..]));
    }

    #[test]
    fn who_reads_gets_all_of_it_piece_by_piece() {
        let texts: Vec<String> = (0..600).map(|number| number.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let ring = ring_of(&texts, JournalLimits::default());
        let (mut from, mut read) = (0, Vec::new());
        loop {
            let some = ring.noted(from..599);
            assert!(some.len() <= COPIED);
            let Some(last) = some.last() else { break };
            from = last.number() + 1;
            read.extend(some.into_iter().map(|one| one.into_entry().body));
        }
        assert!(
            read.iter()
                .eq(texts[..599].iter().map(|text| text.as_bytes()))
        );
    }

    #[test]
    fn what_is_removed_is_gone_and_events_find_their_request() {
        let limits = JournalLimits::default();
        let mut ring = ring_of(&["a", "b", "c"], limits);
        ring.remove(&HashSet::from([0, 1, 9]));
        assert_eq!((bodies(&ring), ring.dropped), (vec![b"c".to_vec()], 0));
        let before = ring.memory();
        ring.add_sub_event(1, "\"lost\"".to_owned(), limits.bytes);
        assert_eq!(ring.memory(), before);
        ring.add_sub_event(2, "\"kept\"".to_owned(), limits.bytes);
        let entry = ring.noted(0..9).remove(0).into_entry();
        assert_eq!(entry.sub_events, ["\"kept\""]);
        assert!(ring.memory() > before);
        ring.add_sub_event(2, "x".repeat(100), ring.memory());
        assert_eq!((ring.memory(), ring.dropped), (0, 1));
    }

    #[test]
    fn what_is_removed_gives_its_memory_back_and_leaves_the_rest_in_place() {
        let long = "x".repeat(1 << 20);
        let limits = JournalLimits::default();
        let mut ring = ring_of(&["a", &long, "b"], limits);
        let text_of_b = |ring: &Ring| ring.log.text(ring.records.back().unwrap().place).as_ptr();
        let (before, place) = (ring.memory(), text_of_b(&ring));
        ring.remove(&HashSet::from([0, 1]));
        assert_eq!(bodies(&ring), [b"b"]);
        assert!(ring.memory() + long.len() <= before);
        assert_eq!(text_of_b(&ring), place);
        ring.remove(&HashSet::from([2]));
        assert_eq!((ring.memory(), ring.dropped), (0, 0));
    }
}
