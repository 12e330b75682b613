//! Stub mappings: WireMock's JSON read once into values that can be matched and sent without further checks.
//!
//! Reading reports every problem of a document at once. What is understood and what is refused is decided by the reader of each
//! part below; which stub wins is left to [`set`].

pub mod behaviour;
pub mod differences;
mod document;
mod kept_files;
mod membership;
pub mod place;
mod raw;
pub mod request_pattern;
pub(crate) mod response;
pub mod set;
mod source_file;
pub mod state;
pub mod webhook;

use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Surroundings;
use crate::reader::{Node, Object, Problems};
use crate::response::answer::{Answer, Coding};
use crate::response::delay::Delay;
use crate::response::delivery::Delivery;
use crate::stub::state::{Membership, StateMachines, Step};
use crate::stub_id::StubId;
use behaviour::{Alternative, Alternatives, Behaviour, RateLimit, Replay, Room, SlowStart};
pub use document::{Shape, read_document, read_import, read_mapping, read_matcher, read_pattern};
use place::StubRow;
use proxy::Proxy;
use request_pattern::RequestPattern;
use response::{Response, identity};
pub use response::{proxy, templated};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
pub use source_file::SourceFile;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use templated::Templated;
use webhook::Webhook;

/// The priority of a stub mapping that has none; 1 is the highest.
const DEFAULT_PRIORITY: i32 = 5;

/// A stub mapping as read: correct, not yet placed in a set.
#[derive(Debug, Clone)]
pub struct StubMapping {
    /// The id it came with.
    pub id: Option<StubId>,
    name: Option<String>,
    priority: i32,
    /// Its place in a scenario, if it has one.
    pub membership: Option<Membership>,
    request: RequestPattern,
    response: Response,
    webhooks: Arc<[Webhook]>,
    behaviour: Option<Behaviour>,
    document: Value,
    /// The file that it was read from, if it was.
    file: Option<SourceFile>,
}

/// A stub mapping of a set, ready to answer.
#[derive(Debug)]
pub struct Stub {
    /// Its id.
    pub id: StubId,
    /// Lower wins.
    pub priority: i32,
    /// When it was added, as a count of additions: among equal priorities the newest wins.
    pub insertion: u64,
    /// Its step, ready to be taken.
    pub step: Option<Step>,
    /// Which requests it answers.
    pub request: RequestPattern,
    /// How long it waits before.
    pub delay: Delay,
    /// How its answer goes out.
    pub delivery: Delivery,
    /// Its answer, where nothing of that depends on the request.
    pub answer: Answer,
    /// Its answer packed, once a client wants it so; `None` if it is not to be.
    packed: OnceLock<Option<Box<Answer>>>,
    /// Its answer otherwise.
    pub templated: Option<Box<Templated>>,
    /// Whose answer it gives, where it is another server's.
    pub proxy: Option<Box<Proxy>>,
    /// The webhooks sent after its answer. The alternatives of one stub share them.
    pub webhooks: Arc<[Webhook]>,
    /// Additions of its metadata.
    pub behaviour: Option<Box<Behaving>>,
    /// The mapping as it was given, with its id.
    pub document: Value,
    /// About how many bytes the mapping has as a text.
    pub bytes: usize,
    /// The file that it is written in, once it is in one. What an edit puts in its place shares it.
    pub file: Arc<OnceLock<SourceFile>>,
    /// In which of the journal's times it last answered, 0 before its first. The alternatives of one stub share it.
    seen: Arc<AtomicU64>,
    /// Where it is counted; shared in the same way.
    pub place: Arc<StubRow>,
}

/// A stub's behaviour, with its other responses ready to be sent.
#[derive(Debug)]
pub struct Behaving {
    /// `rateLimit`.
    pub rate_limit: Option<RateLimit>,
    /// `maxConcurrency`.
    pub room: Option<Room>,
    /// `slowStart`.
    pub slow_start: Option<SlowStart>,
    /// `replay`.
    pub replay: Option<Replay>,
    /// `None` is the stub itself.
    pub alternatives: Option<Alternatives<Option<Arc<Stub>>>>,
}

impl StubMapping {
    fn read(
        node: &Node<'_>,
        json_body: Option<&RawValue>,
        around: &Surroundings,
    ) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mapping = Self::read_parts(node, json_body, around, &mut problems);
        match mapping {
            Some(mapping) if problems.is_empty() => Ok(mapping),
            _ => Err(problems),
        }
    }

    fn read_parts(
        node: &Node<'_>,
        json_body: Option<&RawValue>,
        around: &Surroundings,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut object = node.object(problems)?;
        let id = read_id(&mut object, problems);
        let name = object.get("name").and_then(|node| node.text(problems));
        let priority = object.get("priority");
        let priority = priority.and_then(|node| read_priority(&node, problems));
        let request = object.get("request").map_or_else(
            || Some(RequestPattern::default()),
            |node| RequestPattern::read(&node, problems),
        );
        let response = object.get("response");
        let response = response.as_ref().map_or_else(
            || Some(Response::default()),
            |node| Response::read(node, json_body, around, problems),
        );
        let metadata = object.get("metadata");
        let behaviour = metadata.and_then(|node| read_metadata(&node, around, problems));
        let membership = membership::read(&mut object, problems);
        let webhooks = webhook::read_all(&mut object, around, problems);
        object.ignore(&["$schema", "insertionIndex", "persistent"]);
        object.finish(&[], problems);
        let (request, response) = (request?, response?);
        if !request.method.is_head_only() {
            response.check_length(&node.pointer, problems);
        }
        Some(Self {
            id,
            name,
            priority: priority.unwrap_or(DEFAULT_PRIORITY),
            membership,
            request,
            response,
            webhooks: webhooks.into(),
            behaviour,
            document: Value::Null,
            file: None,
        })
    }

    fn with_document(self, document: Value) -> Self {
        Self { document, ..self }
    }

    /// The mapping as one of this file.
    pub fn in_file(self, file: SourceFile) -> Self {
        Self {
            file: Some(file),
            ..self
        }
    }

    /// The mapping as the admin API would show it under this id.
    pub fn shown(&self, id: StubId) -> Value {
        shown_document(self.document.clone(), &id.to_string())
    }

    /// Whether it asks to be written to the root directory; one that was read from there need not be.
    pub fn is_persistent(&self) -> bool {
        self.document.get("persistent") == Some(&Value::Bool(true))
    }

    /// Gives the mapping its identity and its place among the others.
    pub fn place(self, id: StubId, insertion: u64, machines: &mut StateMachines) -> Stub {
        let membership = self.membership.as_ref();
        let step = membership.map(|membership| machines.step(membership));
        let shared = (&Arc::default(), &Arc::default());
        self.place_with(id, insertion, step, shared)
    }

    fn place_with(
        mut self,
        id: StubId,
        insertion: u64,
        step: Option<Step>,
        shared: (&Arc<AtomicU64>, &Arc<StubRow>),
    ) -> Stub {
        let behaviour = self.behaviour.take();
        let behaviour = behaviour.map(|behaviour| {
            if let Some(delivery) = behaviour.delivery {
                self.response.delivery = delivery;
            }
            let place = |alternative| self.place_alternative(alternative, id, insertion, shared);
            Box::new(Behaving {
                rate_limit: behaviour.rate_limit,
                room: behaviour.room,
                slow_start: behaviour.slow_start,
                replay: behaviour.replay,
                alternatives: behaviour.alternatives.map(|all| all.map(place)),
            })
        });
        let shown = id.to_string();
        let name = self.name.as_deref();
        let identity = identity(&shown, name);
        let templated = self.response.templated.as_ref();
        let templated =
            templated.map(|templated| templated.as_ref().clone().with_fields(&identity));
        let document = shown_document(self.document, &shown);
        let bytes = bytes_in(&document);
        let answer = self.response.prepare(&shown, name);
        // A short one is packed when a client first wants it so; a long one would keep that client's shard from the others.
        let packed = match answer.is_long() {
            true => OnceLock::from(answer.packed().map(Box::new)),
            false => OnceLock::new(),
        };
        Stub {
            id,
            priority: self.priority,
            insertion,
            step,
            answer,
            packed,
            request: self.request,
            delay: self.response.delay,
            delivery: self.response.delivery,
            templated: templated.map(Box::new),
            proxy: self.response.proxy,
            webhooks: self.webhooks,
            behaviour,
            document,
            bytes,
            file: Arc::new(self.file.map_or_else(OnceLock::new, OnceLock::from)),
            seen: Arc::clone(shared.0),
            place: Arc::clone(shared.1),
        }
    }

    /// Another answer of the same stub, as a stub of its own that nothing can match; `None` if it is the stub's own.
    fn place_alternative(
        &self,
        alternative: Alternative,
        id: StubId,
        insertion: u64,
        shared: (&Arc<AtomicU64>, &Arc<StubRow>),
    ) -> Option<Arc<Stub>> {
        if alternative.response.is_none() && alternative.delivery.is_none() {
            return None;
        }
        let mut mapping = self.clone();
        if let Some(response) = alternative.response {
            mapping.response = response;
        }
        if let Some(delivery) = alternative.delivery {
            mapping.response.delivery = delivery;
        }
        Some(Arc::new(mapping.place_with(id, insertion, None, shared)))
    }
}

impl Stub {
    /// The stub as the one that takes the place of `old`: in the same file, if that is in one.
    pub fn in_place_of(self, old: &Self) -> Self {
        Self {
            file: Arc::clone(&old.file),
            ..self
        }
    }

    /// Whether clients get all of its answer.
    pub fn goes_out_whole(&self) -> bool {
        matches!(self.delivery, Delivery::Plain | Delivery::Paced(_))
    }

    /// Its answer, where nothing of that depends on the request but how it may be coded. It is packed once.
    pub fn answer_in(&self, coding: Coding) -> &Answer {
        if coding == Coding::Identity || !self.goes_out_whole() {
            return &self.answer;
        }
        let packed = self
            .packed
            .get_or_init(|| self.answer.packed().map(Box::new));
        packed.as_deref().unwrap_or(&self.answer)
    }

    /// Whether it looks at bodies.
    pub fn wants_body(&self) -> bool {
        let others = self
            .behaviour
            .as_ref()
            .and_then(|own| own.alternatives.as_ref());
        self.request.wants_body()
            || self.templated.is_some()
            || self.proxy.is_some()
            || !self.webhooks.is_empty()
            || others.is_some_and(|others| others.iter().flatten().any(|stub| stub.wants_body()))
    }

    /// Remembers that it answered in this time of the journal. Most often it has already: then nothing is written that shards share.
    pub fn saw(&self, epoch: u64) {
        if self.last_saw() != epoch {
            self.seen.store(epoch, Ordering::Relaxed);
        }
    }

    /// In which of the journal's times it last answered.
    pub fn last_saw(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }
}

/// The mapping as the admin API shows it: with its id under both names, and with WireMock's defaults.
fn shown_document(mut document: Value, id: &str) -> Value {
    if let Value::Object(map) = &mut document {
        map.shift_remove("id");
        map.shift_remove("uuid");
        map.shift_insert(0, "id".to_owned(), Value::from(id));
        for (part, property, default) in [
            ("request", "method", Value::from("ANY")),
            ("response", "status", Value::from(200)),
        ] {
            let part = map.entry(part).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(part) = part {
                part.entry(property).or_insert(default);
            }
        }
        map.insert("uuid".to_owned(), Value::from(id));
    }
    document
}

/// About how many bytes a document has as a text.
fn bytes_in(document: &Value) -> usize {
    /// Quotes, colons and commas.
    const SIGNS: usize = 4;
    match document {
        Value::String(text) => SIGNS + text.len(),
        Value::Array(items) => SIGNS + items.iter().map(bytes_in).sum::<usize>(),
        Value::Object(map) => {
            let member = |(name, value): (&String, &Value)| name.len() + bytes_in(value);
            SIGNS + map.iter().map(member).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 2 * SIGNS,
    }
}

/// `id`, or its older name `uuid`.
fn read_id(object: &mut Object<'_>, problems: &mut Problems) -> Option<StubId> {
    let (id, uuid) = (object.get("id"), object.get("uuid"));
    let mut read = |node: Node<'_>| {
        let text = node.text(problems)?;
        // As Jackson reads it: none.
        if text.trim().is_empty() {
            return None;
        }
        StubId::parse(&text).or_else(|| node.wrong("a UUID", problems))
    };
    let (id, uuid) = (id.and_then(&mut read), uuid.and_then(&mut read));
    if let (Some(id), Some(uuid)) = (id, uuid)
        && id != uuid
    {
        let message = "\"id\" and \"uuid\" differ: write one";
        problems.push(StubProblem::invalid(&object.pointer, message));
    }
    id.or(uuid)
}

fn read_priority(node: &Node<'_>, problems: &mut Problems) -> Option<i32> {
    let priority = i32::try_from(node.integer(problems)?).ok();
    priority.or_else(|| node.wrong("a priority that fits 32 bits", problems))
}

/// Metadata is the user's own, but for the part that is named after us.
fn read_metadata(
    node: &Node<'_>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Option<Behaviour> {
    let own = node.object(problems)?.get("plimsoll")?;
    Behaviour::read(&own, around, problems)
}
