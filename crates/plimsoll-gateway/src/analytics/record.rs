//! One request as an exchange leaves it, numbers and words, and batches of such records on their way to the sinks.

use super::entry::{Api, Entry, SEPARATOR};
use crate::config::{GatewayConfig, RouteConfig, Serves};
use crate::ending::Ending;
use crate::origin::Origin;
use crate::phases::Phases;
use crate::policy::key::{Accepted, KeyIndex};
use crate::tracing::Context;
use std::sync::Arc;

/// The numbers of one exchange. Times are microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Record {
    /// When the request's head had arrived, since the gateway started.
    pub(crate) start_micros: u64,
    /// The route, if one covers the path.
    pub(crate) route: Option<usize>,
    /// The key that was accepted.
    pub(crate) key: Option<KeyIndex>,
    /// The status that was sent; 0 if nothing was.
    pub(crate) status: u16,
    /// Whether the exchange was cut off before its end.
    pub(crate) aborted: bool,
    pub(crate) ending: Ending,
    /// Bytes of the request's body, as it was stated; -1: it was not.
    pub(crate) content_length: i64,
    /// Bytes of the request's body.
    pub(crate) bytes_in: u64,
    /// Bytes of the response's body.
    pub(crate) bytes_out: u64,
    /// From the request's head to the last byte of the response: the sum of the three below.
    pub(crate) total_micros: u64,
    /// The gateway's own share.
    pub(crate) gateway_micros: u64,
    /// Waiting for the upstream: connecting, its response head, its body.
    pub(crate) upstream_micros: u64,
    /// Waiting for the client: sending its body, taking the response.
    pub(crate) client_micros: u64,
    /// The trace that it belongs to, if it is sampled.
    pub(crate) trace: Option<Context>,
}

/// Words of a record, in the order in which they are put down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Method,
    /// Normalised; as it came if it could not be.
    Path,
    Host,
    Agent,
    /// The client's address.
    Peer,
    /// The hash of its session's key.
    Key,
    Alias,
    /// Each followed by [`SEPARATOR`].
    Tags,
    /// The request and the response as they came, in Base64.
    Request,
    Response,
}

/// How many parts there are.
const PARTS: usize = 10;

/// The words of one exchange, in one allocation that is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Words {
    text: String,
    lengths: [usize; PARTS],
}

impl Words {
    /// None, in the allocation that there is.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.lengths = [0; PARTS];
    }

    /// Puts down more of a part; of none after it may there be anything yet.
    pub(crate) fn put(&mut self, part: Part, text: &str) {
        debug_assert!(self.lengths[part as usize + 1..].iter().all(|l| *l == 0));
        self.text.push_str(text);
        self.lengths[part as usize] += text.len();
    }

    /// Puts down a tag.
    pub(crate) fn tag(&mut self, kind: &str, text: &str) {
        if text.contains(SEPARATOR) {
            return;
        }
        self.put(Part::Tags, kind);
        self.put(Part::Tags, text);
        self.put(Part::Tags, SEPARATOR.encode_utf8(&mut [0; 4]));
    }
}

/// Records with their words, in two allocations that are used again and again.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// Where it goes back to when it has been written.
    pub(super) shard: usize,
    /// Names that its records refer to: all of them were begun under one configuration.
    pub(super) names: Arc<Names>,
    /// Number of the first record, among those of the shard.
    pub(super) first: u64,
    records: Vec<(Record, [usize; PARTS])>,
    /// One for each record, or none at all.
    phases: Vec<Phases>,
    text: String,
}

impl Batch {
    pub(super) fn new(shard: usize, names: Arc<Names>) -> Self {
        Self {
            shard,
            names,
            first: 0,
            records: Vec::with_capacity(super::BATCH_RECORDS),
            phases: Vec::new(),
            text: String::new(),
        }
    }

    pub(super) fn push(&mut self, record: Record, phases: Option<Phases>, words: &Words) {
        // A reload may change whether they are shown; those who have none then show nothing but zeros.
        if phases.is_some() || !self.phases.is_empty() {
            self.phases.resize(self.records.len(), Phases::default());
            self.phases.push(phases.unwrap_or_default());
        }
        self.records.push((record, words.lengths));
        self.text.push_str(&words.text);
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Bytes of memory that it has.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity()
            + self.records.capacity() * size_of::<(Record, [usize; PARTS])>()
            + self.phases.capacity() * size_of::<Phases>()
    }

    /// A batch in no more memory than its records need, if that is much less.
    pub(super) fn compact(batch: Arc<Self>) -> Arc<Self> {
        let needed =
            batch.text.len() + size_of_val(&batch.records[..]) + size_of_val(&batch.phases[..]);
        if needed <= batch.bytes() / 2 {
            Arc::new(Self::clone(&batch))
        } else {
            batch
        }
    }

    /// Empties it; what detailed records have made large becomes small again.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.phases.clear();
        self.text.clear();
        self.text.shrink_to(2 * super::BATCH_TEXT_BYTES);
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
        let word = |part: Part| words[part as usize];
        let stated = |part: Part| Some(word(part)).filter(|word| !word.is_empty());
        let listed = || {
            let KeyIndex(key) = record.key?;
            names.keys[record.route?]
                .get(key as usize)
                .map(String::as_str)
        };
        Entry {
            origin: &names.origin,
            shard: self.shard as u64,
            number,
            arrived: names.start_micros + record.start_micros,
            route: record.route.map(|route| names.routes[route].as_str()),
            api: record.route.map(|route| names.apis[route].as_api()),
            key: stated(Part::Key).or_else(listed),
            method: word(Part::Method),
            path: word(Part::Path),
            host: word(Part::Host),
            agent: word(Part::Agent),
            peer: word(Part::Peer),
            alias: word(Part::Alias),
            tags: word(Part::Tags),
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
            request: word(Part::Request),
            response: word(Part::Response),
            trace: record.trace,
        }
    }
}

/// The names that records refer to by index.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// This gateway's, among all that there ever are.
    pub(crate) origin: String,
    /// When the gateway started, microseconds since 1970.
    pub(crate) start_micros: u64,
    /// Path of each route.
    pub(crate) routes: Vec<String>,
    /// Hexadecimal SHA-256 of each key of each route, or of where it is kept.
    pub(crate) keys: Vec<Vec<String>>,
    /// Each route's names as an API.
    pub(crate) apis: Vec<ApiNames>,
}

/// A route as an API.
#[derive(Debug, Default)]
pub(crate) struct ApiNames {
    id: String,
    name: String,
    organisation: String,
    target: String,
    strips: bool,
    expires_after: u64,
}

impl ApiNames {
    fn of(route: &RouteConfig, config: &GatewayConfig) -> Self {
        let upstream = match route.serves {
            Serves::Upstream(index) => config.upstreams.get(index),
            Serves::Shard | Serves::Control => None,
        };
        let endpoint = upstream.and_then(|upstream| upstream.endpoints.first());
        let recording = &route.recording;
        Self {
            id: recording.id.clone().unwrap_or_else(|| route.path.clone()),
            name: recording.name.clone().unwrap_or_else(|| route.path.clone()),
            organisation: recording.organisation.clone(),
            target: endpoint.map_or_else(String::new, |endpoint| endpoint.authority()),
            strips: route.strip,
            expires_after: recording.expires_after,
        }
    }

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

impl Names {
    /// The names of a configuration of this gateway.
    pub(crate) fn of(config: &GatewayConfig, origin: &Origin) -> Self {
        let keys = |route: &RouteConfig| {
            let keys = route.key.iter().flat_map(|key| &key.keys);
            keys.map(Accepted::name).collect()
        };
        let routes = config.routes.iter();
        let start_micros = u64::try_from(origin.since_epoch.as_micros()).unwrap_or(0);
        Self {
            // The pseudonym alone may come again, once in four billion starts.
            origin: format!("{}-{start_micros:x}", origin.pseudonym()),
            start_micros,
            routes: routes.clone().map(|route| route.path.clone()).collect(),
            keys: routes.clone().map(keys).collect(),
            apis: routes.map(|route| ApiNames::of(route, config)).collect(),
        }
    }
}
