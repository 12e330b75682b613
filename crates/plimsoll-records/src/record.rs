//! One request as an exchange leaves it, numbers and words, and batches of such records on their way to the sinks.

use super::entry::{Api, Entry, SEPARATOR};
use crate::ending::Ending;
use crate::phases::Phases;
use crate::tracing::Context;
use std::sync::Arc;

/// Records in a batch.
pub(crate) const BATCH_RECORDS: usize = 256;
/// Bytes of words in a batch, beyond which it is handed over early.
pub(crate) const BATCH_TEXT_BYTES: usize = 64 * 1024;

/// The numbers of one exchange. Times are microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Record {
    /// When the request's head had arrived, since the gateway started.
    pub start_micros: u64,
    /// The route, if one covers the path.
    pub route: Option<usize>,
    /// The place of the key that was accepted, in its route's list.
    pub key: Option<u32>,
    /// The status that was sent; 0 if nothing was.
    pub status: u16,
    /// Whether the exchange was cut off before its end.
    pub aborted: bool,
    /// How the exchange ended.
    pub ending: Ending,
    /// Bytes of the request's body, as it was stated; -1: it was not.
    pub content_length: i64,
    /// Bytes of the request's body.
    pub bytes_in: u64,
    /// Bytes of the response's body.
    pub bytes_out: u64,
    /// From the request's head to the last byte of the response: the sum of the three below.
    pub total_micros: u64,
    /// The gateway's own share.
    pub gateway_micros: u64,
    /// Waiting for the upstream: connecting, its response head, its body.
    pub upstream_micros: u64,
    /// Waiting for the client: sending its body, taking the response.
    pub client_micros: u64,
    /// The trace that it belongs to, if it is sampled.
    pub trace: Option<Context>,
}

/// Words of a record, in the order in which they are put down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordWord {
    /// The request's method.
    Method,
    /// Normalised; as it came if it could not be.
    Path,
    /// The host that the client addressed.
    Host,
    /// The client's `User-Agent`.
    Agent,
    /// The client's address.
    Peer,
    /// The hash of its session's key.
    Key,
    /// The alias of its session's key.
    Alias,
    /// Each followed by a separator.
    Tags,
    /// The request as it came, in Base64.
    Request,
    /// The response as it came, in Base64.
    Response,
}

/// How many parts there are.
const PARTS: usize = 10;

/// The words of one exchange, in one allocation that is used again and again.
#[derive(Debug, Default)]
pub struct Words {
    text: String,
    lengths: [usize; PARTS],
}

impl Words {
    /// None, in the allocation that there is.
    #[inline]
    pub fn clear(&mut self) {
        self.text.clear();
        self.lengths = [0; PARTS];
    }

    /// How many bytes its allocation holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.capacity()
    }

    /// Puts down more of a part; of none after it may there be anything yet.
    #[inline]
    pub fn put(&mut self, part: RecordWord, text: &str) {
        debug_assert!(self.lengths[part as usize + 1..].iter().all(|l| *l == 0));
        self.text.push_str(text);
        self.lengths[part as usize] += text.len();
    }

    /// Puts down a tag.
    pub fn tag(&mut self, kind: &str, text: &str) {
        if text.contains(SEPARATOR) {
            return;
        }
        self.put(RecordWord::Tags, kind);
        self.put(RecordWord::Tags, text);
        self.put(RecordWord::Tags, SEPARATOR.encode_utf8(&mut [0; 4]));
    }
}

/// Records with their words, in two allocations that are used again and again.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// Where it goes back to when it has been written.
    pub(crate) shard: usize,
    /// Names that its records refer to: all of them were begun under one configuration.
    pub(crate) names: Arc<Names>,
    /// Number of the first record, among those of the shard.
    pub(crate) first: u64,
    records: Vec<(Record, [usize; PARTS])>,
    /// One for each record, or none at all.
    phases: Vec<Phases>,
    text: String,
}

impl Batch {
    pub(crate) fn new(shard: usize, names: Arc<Names>) -> Self {
        Self {
            shard,
            names,
            first: 0,
            records: Vec::with_capacity(BATCH_RECORDS),
            phases: Vec::new(),
            text: String::new(),
        }
    }

    pub(crate) fn push(&mut self, record: Record, phases: Option<Phases>, words: &Words) {
        // A reload may change whether they are shown; those who have none then show nothing but zeros.
        if phases.is_some() || !self.phases.is_empty() {
            self.phases.resize(self.records.len(), Phases::default());
            self.phases.push(phases.unwrap_or_default());
        }
        self.records.push((record, words.lengths));
        self.text.push_str(&words.text);
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Bytes of memory that it has.
    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity()
            + self.records.capacity() * size_of::<(Record, [usize; PARTS])>()
            + self.phases.capacity() * size_of::<Phases>()
    }

    /// A batch in no more memory than its records need, if that is much less.
    pub(crate) fn compact(batch: Arc<Self>) -> Arc<Self> {
        let needed =
            batch.text.len() + size_of_val(&batch.records[..]) + size_of_val(&batch.phases[..]);
        if needed <= batch.bytes() / 2 {
            Arc::new(Self::clone(&batch))
        } else {
            batch
        }
    }

    /// Empties it; what detailed records have made large becomes small again.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.phases.clear();
        self.text.clear();
        self.text.shrink_to(2 * BATCH_TEXT_BYTES);
    }

    /// The records with everything that they refer to.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut rest = self.text.as_str();
        let mut phases = self.phases.iter();
        let records = (self.first..).zip(&self.records);
        records.map(move |(number, (record, lengths))| {
            let words = lengths.map(|length| {
                let (word, after) = rest.split_at(length);
                rest = after;
                word
            });
            let phases = phases.next().copied();
            self.entry(number, record, &words, phases)
        })
    }

    fn entry<'a>(
        &'a self,
        number: u64,
        record: &Record,
        words: &[&'a str; PARTS],
        phases: Option<Phases>,
    ) -> Entry<'a> {
        let names = &*self.names;
        let word = |part: RecordWord| words[part as usize];
        let stated = |part: RecordWord| Some(word(part)).filter(|word| !word.is_empty());
        let listed = || {
            let key = record.key? as usize;
            names.keys[record.route?].get(key).map(String::as_str)
        };
        Entry {
            origin: &names.origin,
            shard: self.shard as u64,
            number,
            arrived: names.start_micros + record.start_micros,
            route: record.route.map(|route| names.routes[route].as_str()),
            api: record.route.map(|route| names.apis[route].as_api()),
            key: stated(RecordWord::Key).or_else(listed),
            method: word(RecordWord::Method),
            path: word(RecordWord::Path),
            host: word(RecordWord::Host),
            agent: word(RecordWord::Agent),
            peer: word(RecordWord::Peer),
            alias: word(RecordWord::Alias),
            tags: word(RecordWord::Tags),
            status: record.status,
            aborted: record.aborted,
            ending: record.ending.name(),
            content_length: record.content_length,
            bytes_in: record.bytes_in,
            bytes_out: record.bytes_out,
            total: record.total_micros,
            gateway: record.gateway_micros,
            upstream: record.upstream_micros,
            client: record.client_micros,
            phases,
            request: word(RecordWord::Request),
            response: word(RecordWord::Response),
            trace: record.trace,
        }
    }
}

/// The names that records refer to by index.
#[derive(Debug, Default)]
pub struct Names {
    /// This gateway's, among all that there ever are.
    pub origin: String,
    /// When the gateway started, microseconds since 1970.
    pub start_micros: u64,
    /// Path of each route.
    pub routes: Vec<String>,
    /// Hexadecimal SHA-256 of each key of each route, or of where it is kept.
    pub keys: Vec<Vec<String>>,
    /// Each route's names as an API.
    pub apis: Vec<ApiNames>,
}

/// A route as an API.
#[derive(Debug, Default)]
pub struct ApiNames {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whose API it is; empty: nobody's.
    pub organisation: String,
    /// Host and port of its first endpoint.
    pub target: String,
    /// Its path is not forwarded.
    pub strips: bool,
    /// Seconds after which its records expire; 0: never.
    pub expires_after: u64,
}

impl ApiNames {
    fn as_api(&self) -> Api<'_> {
        Api {
            id: &self.id,
            name: &self.name,
            organisation: &self.organisation,
            target: &self.target,
            strips: self.strips,
            expires_after: self.expires_after,
        }
    }
}
