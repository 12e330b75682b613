//! Tree to wire struct: the glue between a document and `deserr`, and the wording of what is refused.

mod wording;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
pub(super) use wording::describe;
pub use wording::{list, nearest, suggestion};
use wording::{reword, wanted};

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Map, MergeWithError, Sequence, Value,
    ValueKind, ValuePointerRef,
};

use super::Document;
use super::path::{Path, Segment};
use super::problem::{MOST_PROBLEMS, Problem, Problems};
use super::tree::{self, Entry, Node};

/// How a document is decoded. The default is strict.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules<'a> {
    /// Keys of later versions: where they are unknown they are refused as "not available in this version".
    pub later: &'a [&'a str],
    /// Keys that had another name, with the name of today: where the old one is written, the new one is said.
    pub renamed: &'a [(&'a str, &'a str)],
    /// Meaning of a key without a value.
    pub nulls: Nulls,
}

impl Rules<'_> {
    /// The name of today of a key, if it is one of those that are accepted here.
    fn renamed_to(&self, key: &str, accepted: &[String]) -> Option<&str> {
        let mut renamed = self.renamed.iter();
        let found = renamed.find(|(old, new)| *old == key && accepted.iter().any(|it| it == new));
        found.map(|(_, new)| *new)
    }
}

/// Meaning of a key without a value (`key:` or `key: null`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nulls {
    /// A problem: a key whose content went missing must not count as absent.
    #[default]
    Refused,
    /// `null` is decoded like any value: for formats that have a meaning for it.
    Allowed,
}

/// Faults that `deserr` collects while it decodes, each with the path of its node. Decoding ends with the first [`MOST_PROBLEMS`] of them.
#[derive(Debug, Default)]
pub struct Faults {
    listed: Vec<Fault>,
}

/// All faults of a document by their number: those that are not listed have no message, which takes more than finding them.
#[derive(Debug, Default)]
pub struct FaultCount(usize);

/// A type that a document can be decoded to.
pub trait Wire: Deserr<Faults> + Deserr<FaultCount> {}

impl<T: Deserr<Faults> + Deserr<FaultCount>> Wire for T {}

#[derive(Debug)]
struct Fault {
    path: Path,
    kind: FaultKind,
}

#[derive(Debug)]
enum FaultKind {
    UnknownKey { key: String, accepted: Vec<String> },
    Other(String),
}

pub(super) fn decode<T: Wire>(document: &Document, rules: Rules<'_>) -> Result<T, Problems> {
    let mut problems = Problems::default();
    if rules.nulls == Nulls::Refused {
        let mut paths = Vec::new();
        problems.count_further(collect_nulls(&document.root, &mut Path::root(), &mut paths));
        problems.extend(
            paths
                .iter()
                .map(|path| document.problem(path, "has no value: write one, or remove the key")),
        );
    }
    match deserr::deserialize::<T, _, Faults>(&document.root) {
        Ok(value) => problems.or_ok(value),
        Err(Faults { listed }) => {
            let empty: HashSet<String> = problems
                .iter()
                .map(|problem| problem.path.clone())
                .collect();
            if listed.len() >= MOST_PROBLEMS {
                let all = count::<T>(document);
                problems.count_further(all.saturating_sub(listed.len()));
            }
            problems.extend(
                listed
                    .into_iter()
                    .map(|fault| fault.locate(document, rules))
                    .filter(|problem| !empty.contains(&problem.path)),
            );
            Err(problems)
        }
    }
}

/// How many faults there are.
fn count<T: Wire>(document: &Document) -> usize {
    match deserr::deserialize::<T, _, FaultCount>(&document.root) {
        Ok(_) => 0,
        Err(FaultCount(faults)) => faults,
    }
}

/// Finds the first ones, and counts those beyond. Depth is bounded by the parser.
fn collect_nulls(node: &Node, path: &mut Path, found: &mut Vec<Path>) -> usize {
    match node.value() {
        tree::Value::Null if found.len() == MOST_PROBLEMS => 1,
        tree::Value::Null => {
            found.push(path.clone());
            0
        }
        tree::Value::Sequence(items) => {
            let holding = items.iter().enumerate().filter(|(_, item)| may_hold(item));
            let further = holding.map(|(at, item)| {
                path.within(Segment::Index(at), |path| collect_nulls(item, path, found))
            });
            further.sum()
        }
        tree::Value::Mapping(entries) => {
            let holding = entries.iter().filter(|entry| may_hold(entry.node()));
            let further = holding.map(|entry| {
                let key = Segment::Key(entry.key().to_owned());
                path.within(key, |path| collect_nulls(entry.node(), path, found))
            });
            further.sum()
        }
        _ => 0,
    }
}

/// Whether a node is null or may hold one: a path is made only for these.
fn may_hold(node: &Node) -> bool {
    matches!(
        node.value(),
        tree::Value::Null | tree::Value::Sequence(_) | tree::Value::Mapping(_)
    )
}

impl Fault {
    fn locate(self, document: &Document, rules: Rules<'_>) -> Problem {
        match self.kind {
            FaultKind::Other(message) => document.problem(self.path, message),
            FaultKind::UnknownKey { key, accepted } if rules.later.contains(&key.as_str()) => {
                let others = list(&accepted);
                let message = format!("`{key}` is not available in this version: write {others}");
                document.key_problem(self.path.key(&key), message)
            }
            FaultKind::UnknownKey { key, accepted } => {
                if let Some(new) = rules.renamed_to(&key, &accepted) {
                    let message = format!("`{key}` is called `{new}` now");
                    return document.key_problem(self.path.key(&key), message);
                }
                let message = format!("unknown key `{key}`: {}", suggestion(&key, &accepted));
                document.key_problem(self.path.key(&key), message)
            }
        }
    }
}

impl MergeWithError<Self> for Faults {
    fn merge(
        earlier: Option<Self>,
        other: Self,
        _at: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let mut faults = earlier.unwrap_or_default();
        faults.listed.extend(other.listed);
        faults.listed.truncate(MOST_PROBLEMS);
        match faults.listed.len() {
            MOST_PROBLEMS => ControlFlow::Break(faults),
            _ => ControlFlow::Continue(faults),
        }
    }
}

impl MergeWithError<Self> for FaultCount {
    fn merge(
        earlier: Option<Self>,
        other: Self,
        _at: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        ControlFlow::Continue(Self(earlier.unwrap_or_default().0 + other.0))
    }
}

impl DeserializeError for FaultCount {
    fn error<V: IntoValue>(
        earlier: Option<Self>,
        _error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        Self::merge(earlier, Self(1), location)
    }
}

impl DeserializeError for Faults {
    fn error<V: IntoValue>(
        earlier: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let owned = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let kind = match error {
            ErrorKind::IncorrectValueKind { actual, accepted } => FaultKind::Other(format!(
                "found {}: write {}",
                describe(&actual),
                wanted(accepted, &actual)
            )),
            ErrorKind::MissingField { field } => {
                FaultKind::Other(format!("the key `{field}` is missing: add it"))
            }
            ErrorKind::UnknownKey { key, accepted } => FaultKind::UnknownKey {
                key: key.to_owned(),
                accepted: owned(accepted),
            },
            ErrorKind::UnknownValue { value, accepted } => FaultKind::Other(format!(
                "unknown value `{value}`: {}",
                suggestion(value, &owned(accepted))
            )),
            ErrorKind::BadSequenceLen { actual, expected } => FaultKind::Other(format!(
                "found a list of {} items: write exactly {expected}",
                Sequence::len(&actual)
            )),
            ErrorKind::Unexpected { msg } => FaultKind::Other(reword(msg)),
        };
        let fault = Fault {
            path: Path::from(location),
            kind,
        };
        let listed = vec![fault];
        Self::merge(earlier, Self { listed }, location)
    }
}

impl<'a> IntoValue for &'a Node {
    type Sequence = Items<'a>;
    type Map = Remaining<'a>;

    fn kind(&self) -> ValueKind {
        match self.value() {
            tree::Value::Null => ValueKind::Null,
            tree::Value::Boolean(_) => ValueKind::Boolean,
            tree::Value::Integer(_) => ValueKind::Integer,
            tree::Value::Negative(_) => ValueKind::NegativeInteger,
            tree::Value::Float(_) => ValueKind::Float,
            tree::Value::Text(_) => ValueKind::String,
            tree::Value::Sequence(_) => ValueKind::Sequence,
            tree::Value::Mapping(_) => ValueKind::Map,
        }
    }

    fn into_value(self) -> Value<Self> {
        match self.value() {
            tree::Value::Null => Value::Null,
            tree::Value::Boolean(value) => Value::Boolean(value),
            tree::Value::Integer(value) => Value::Integer(value),
            tree::Value::Negative(value) => Value::NegativeInteger(value),
            tree::Value::Float(value) => Value::Float(value),
            tree::Value::Text(text) => Value::String(text.to_owned()),
            tree::Value::Sequence(items) => Value::Sequence(Items(items)),
            tree::Value::Mapping(entries) => Value::Map(Remaining::new(entries)),
        }
    }
}

/// The items of a list.
pub struct Items<'a>(&'a [Node]);

impl<'a> Sequence for Items<'a> {
    type Value = &'a Node;
    type Iter = std::slice::Iter<'a, Node>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn into_iter(self) -> Self::Iter {
        self.0.iter()
    }
}

/// The rest of a mapping while it is decoded, in the order of the file. A wire struct asks for each of its fields, so large mappings
/// are asked by name and not searched.
pub struct Remaining<'a> {
    entries: Vec<Option<&'a Entry>>,
    /// The places of keys, in a mapping that is large.
    places: Option<HashMap<&'a [u8], usize>>,
    left: usize,
}

/// Mappings of more entries are not searched.
const LARGE: usize = 16;

impl<'a> Remaining<'a> {
    fn new(entries: &'a [Entry]) -> Self {
        let keys = entries.iter().enumerate();
        let places = || keys.map(|(at, entry)| (entry.key_bytes(), at)).collect();
        Self {
            entries: entries.iter().map(Some).collect(),
            places: (entries.len() > LARGE).then(places),
            left: entries.len(),
        }
    }
}

impl<'a> Map for Remaining<'a> {
    type Value = &'a Node;
    type Iter = Left<'a>;

    fn len(&self) -> usize {
        self.left
    }

    fn remove(&mut self, key: &str) -> Option<Self::Value> {
        let at = match &self.places {
            Some(places) => *places.get(key.as_bytes())?,
            None => {
                let is_it = |entry: &Option<&Entry>| entry.is_some_and(|entry| entry.has_key(key));
                self.entries.iter().position(is_it)?
            }
        };
        let entry = self.entries.get_mut(at)?.take()?;
        self.left -= 1;
        Some(entry.node())
    }

    fn into_iter(self) -> Self::Iter {
        Left(self.entries.into_iter().flatten())
    }
}

/// The entries that nobody has asked for by name. Their keys are copied one after the other: all of them at once would be a second tree.
pub struct Left<'a>(std::iter::Flatten<std::vec::IntoIter<Option<&'a Entry>>>);

impl<'a> Iterator for Left<'a> {
    type Item = (String, &'a Node);

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.0.next()?;
        Some((entry.key().to_owned(), entry.node()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::Entries;
    use super::*;

    thread_local! {
        /// How many values were refused with a message.
        static TOLD: Cell<usize> = const { Cell::new(0) };
    }

    /// Refuses every value.
    struct Never;

    /// Whether faults of this kind have messages.
    trait Told: DeserializeError {
        const IS_TOLD: bool;
    }

    impl Told for Faults {
        const IS_TOLD: bool = true;
    }

    impl Told for FaultCount {
        const IS_TOLD: bool = false;
    }

    impl<E: Told> Deserr<E> for Never {
        fn deserialize_from_value<V: IntoValue>(
            _value: Value<V>,
            at: ValuePointerRef<'_>,
        ) -> Result<Self, E> {
            TOLD.set(TOLD.get() + usize::from(E::IS_TOLD));
            let msg = "never".to_owned();
            let refused = E::error::<V>(None, ErrorKind::Unexpected { msg }, at);
            Err(deserr::take_cf_content(refused))
        }
    }

    #[test]
    fn faults_beyond_many_cost_no_message() {
        let check = |text: &str, faults: usize, told: usize| {
            TOLD.set(0);
            let document = Document::parse_json("f.json", text).unwrap();
            let problems = document.decode::<Entries<Vec<Never>>>().err().unwrap();
            assert_eq!((problems.len(), TOLD.get()), (faults, told), "{problems}");
        };
        let list = |count: usize| vec!["1"; count].join(",");
        check(&format!(r#"{{"a": [{}]}}"#, list(99)), 99, 99);
        check(&format!(r#"{{"a": [{}]}}"#, list(100)), 100, 100);
        check(&format!(r#"{{"a": [{}]}}"#, list(101)), 101, 100);
        let [a, b, c] = [60, 70, 80].map(list);
        let text = format!(r#"{{"a": [{a}], "b": [{b}], "c": [{c}]}}"#);
        // What stands within a value is told before it is known how many are told beside it.
        check(&text, 210, 130);
    }
}
