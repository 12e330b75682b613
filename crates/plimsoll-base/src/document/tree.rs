//! The tree behind a document: values, their positions and those of their keys.
//!
//! Small collections and short texts are what makes a tree larger than its text, so a [`Node`] is packed into 24 bytes: a position has seven
//! beside the variant's tag, and a text of a few letters no allocation of its own. [`Node::value`] is what others read.

use super::allowance::Counted;
use super::path::Segment;

/// A place in one of a document's sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Index into the document's sources.
    pub source: u8,
    /// From 1; 0 when the source has no lines (a command-line override).
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

/// A position in seven bytes: three for the line, three for the column, one for the source.
#[derive(Debug, Clone, Copy)]
struct PackedPlace([u8; 7]);

/// The last line and the last column that a place can name: no text that is parsed is longer.
const LAST: u32 = 0xff_ffff;
const _: () = assert!(super::MAX_TEXT_BYTES <= LAST as usize + 1);

/// How many sources a place can tell apart.
pub(super) const MOST_SOURCES: usize = 256;

impl PackedPlace {
    fn of(position: Position) -> Self {
        let [_, line @ ..] = position.line.min(LAST).to_be_bytes();
        let [_, column @ ..] = position.column.min(LAST).to_be_bytes();
        let ([a, b, c], [d, e, f]) = (line, column);
        Self([a, b, c, d, e, f, position.source])
    }

    fn position(self) -> Position {
        let [a, b, c, d, e, f, source] = self.0;
        Position {
            source,
            line: u32::from_be_bytes([0, a, b, c]),
            column: u32::from_be_bytes([0, d, e, f]),
        }
    }
}

/// Text of at most `ROOM` bytes where it stands, longer text elsewhere.
#[derive(Debug, Clone)]
enum Words<const ROOM: usize> {
    Short(u8, [u8; ROOM]),
    Long(Box<str>),
}

impl<const ROOM: usize> Words<ROOM> {
    fn of(text: &str) -> Self {
        match short(text) {
            Some((length, bytes)) => Self::Short(length, bytes),
            None => Self::Long(text.into()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Short(length, bytes) => shown(*length, bytes),
            Self::Long(text) => text,
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => &bytes[..usize::from(*length)],
            Self::Long(text) => text.as_bytes(),
        }
    }
}

/// The text's length and its bytes, if there is room for them.
fn short<const ROOM: usize>(text: &str) -> Option<(u8, [u8; ROOM])> {
    let mut bytes = [0; ROOM];
    let own = bytes.get_mut(..text.len())?;
    own.copy_from_slice(text.as_bytes());
    Some((u8::try_from(text.len()).ok()?, bytes))
}

fn shown(length: u8, bytes: &[u8]) -> &str {
    str::from_utf8(&bytes[..usize::from(length)]).expect("invariant: made of text")
}

/// How many bytes of a key stand in its entry.
const KEY_ROOM: usize = 22;
/// How many bytes of a text stand in its node.
const TEXT_ROOM: usize = 15;

/// A value with its position.
#[derive(Debug, Clone)]
pub struct Node(Packed);

#[derive(Debug, Clone)]
enum Packed {
    Null(PackedPlace),
    Boolean(PackedPlace, bool),
    Integer(PackedPlace, u64),
    Negative(PackedPlace, i64),
    Float(PackedPlace, f64),
    Short(PackedPlace, u8, [u8; TEXT_ROOM]),
    Long(PackedPlace, Box<str>),
    Sequence(PackedPlace, Box<[Node]>),
    Mapping(PackedPlace, Box<[Entry]>),
}

/// A node's content, to be looked at.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// `null`, or nothing.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(u64),
    /// A whole number below zero.
    Negative(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// A list.
    Sequence(&'a [Node]),
    /// A mapping, in the order of the file. No key is there twice.
    Mapping(&'a [Entry]),
}

/// One key of a mapping and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    key: Words<KEY_ROOM>,
    key_at: PackedPlace,
    pub(super) node: Node,
}

impl Entry {
    pub(super) fn new(key: &str, key_at: Position, node: Node) -> Self {
        Self {
            key: Words::of(key),
            key_at: PackedPlace::of(key_at),
            node,
        }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        self.key.as_str()
    }

    /// The value.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Whether this is the key: its bytes are compared, which need not be known to be text for that.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.key_bytes() == key.as_bytes()
    }

    /// Whether it has the key of another one.
    pub(super) fn is_twin_of(&self, other: &Self) -> bool {
        self.key_bytes() == other.key_bytes()
    }

    pub(super) fn key_bytes(&self) -> &[u8] {
        self.key.as_bytes()
    }

    pub(super) fn key_at(&self) -> Position {
        self.key_at.position()
    }

    pub(super) fn rename(&mut self, key: &str) {
        self.key = Words::of(key);
    }
}

impl Node {
    pub(super) fn null(at: Position) -> Self {
        Self(Packed::Null(PackedPlace::of(at)))
    }

    pub(super) fn boolean(at: Position, value: bool) -> Self {
        Self(Packed::Boolean(PackedPlace::of(at), value))
    }

    pub(super) fn integer_of(at: Position, value: u64) -> Self {
        Self(Packed::Integer(PackedPlace::of(at), value))
    }

    pub(super) fn negative(at: Position, value: i64) -> Self {
        Self(Packed::Negative(PackedPlace::of(at), value))
    }

    pub(super) fn float(at: Position, value: f64) -> Self {
        Self(Packed::Float(PackedPlace::of(at), value))
    }

    pub(super) fn text(at: Position, text: &str) -> Self {
        let at = PackedPlace::of(at);
        Self(match short(text) {
            Some((length, bytes)) => Packed::Short(at, length, bytes),
            None => Packed::Long(at, text.into()),
        })
    }

    /// Collections are shrunk to their items: a tree of many small ones would else be several times as large.
    pub(super) fn sequence(at: Position, items: Vec<Self>) -> Self {
        Self(Packed::Sequence(
            PackedPlace::of(at),
            items.into_boxed_slice(),
        ))
    }

    pub(super) fn mapping(at: Position, entries: Vec<Entry>) -> Self {
        Self(Packed::Mapping(
            PackedPlace::of(at),
            entries.into_boxed_slice(),
        ))
    }

    /// The node's content.
    #[must_use]
    pub fn value(&self) -> Value<'_> {
        match &self.0 {
            Packed::Null(_) => Value::Null,
            Packed::Boolean(_, value) => Value::Boolean(*value),
            Packed::Integer(_, value) => Value::Integer(*value),
            Packed::Negative(_, value) => Value::Negative(*value),
            Packed::Float(_, value) => Value::Float(*value),
            Packed::Short(_, length, bytes) => Value::Text(shown(*length, bytes)),
            Packed::Long(_, text) => Value::Text(text),
            Packed::Sequence(_, items) => Value::Sequence(items),
            Packed::Mapping(_, entries) => Value::Mapping(entries),
        }
    }

    pub(super) fn at(&self) -> Position {
        let (Packed::Null(place)
        | Packed::Boolean(place, _)
        | Packed::Integer(place, _)
        | Packed::Negative(place, _)
        | Packed::Float(place, _)
        | Packed::Short(place, _, _)
        | Packed::Long(place, _)
        | Packed::Sequence(place, _)
        | Packed::Mapping(place, _)) = &self.0;
        place.position()
    }

    /// The items of a list, to be changed; none of anything else.
    pub(super) fn items_mut(&mut self) -> Option<&mut [Self]> {
        match &mut self.0 {
            Packed::Sequence(_, items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a mapping, to be changed; none of anything else.
    pub(super) fn entries_mut(&mut self) -> Option<&mut Box<[Entry]>> {
        match &mut self.0 {
            Packed::Mapping(_, entries) => Some(entries),
            _ => None,
        }
    }

    /// It and all below it at one place. Depth is bounded by the parser.
    pub(super) fn relocate(&mut self, at: Position) {
        match &mut self.0 {
            Packed::Sequence(_, items) => items.iter_mut().for_each(|item| item.relocate(at)),
            Packed::Mapping(_, entries) => {
                for entry in entries {
                    entry.key_at = PackedPlace::of(at);
                    entry.node.relocate(at);
                }
            }
            _ => {}
        }
        let (Packed::Null(place)
        | Packed::Boolean(place, _)
        | Packed::Integer(place, _)
        | Packed::Negative(place, _)
        | Packed::Float(place, _)
        | Packed::Short(place, _, _)
        | Packed::Long(place, _)
        | Packed::Sequence(place, _)
        | Packed::Mapping(place, _)) = &mut self.0;
        *place = PackedPlace::of(at);
    }

    /// The position of the value at `path`, or, for a mapping or list inside a mapping, of its key: the first line of a
    /// block is already one of its children. Where the path leaves the tree, the last node on it counts.
    pub(super) fn locate(&self, path: &[Segment]) -> Position {
        let (node, key_at, _) = self.follow(path);
        match (node.value(), key_at) {
            (Value::Mapping(_) | Value::Sequence(_) | Value::Null, Some(key_at)) => key_at,
            _ => node.at(),
        }
    }

    /// The position of the key at `path`; of the value when it has none.
    pub(super) fn locate_key(&self, path: &[Segment]) -> Position {
        let (node, key_at, _) = self.follow(path);
        key_at.unwrap_or(node.at())
    }

    pub(super) fn contains(&self, path: &[Segment]) -> bool {
        self.follow(path).2 == path.len()
    }

    /// The whole number at `path`.
    pub(super) fn integer(&self, path: &[Segment]) -> Option<u64> {
        let (node, _, walked) = self.follow(path);
        match node.value() {
            Value::Integer(number) if walked == path.len() => Some(number),
            _ => None,
        }
    }

    /// The value without positions. Depth is bounded by the parser.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self.value() {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(value) => value.into(),
            Value::Integer(value) => value.into(),
            Value::Negative(value) => value.into(),
            Value::Float(value) => value.into(),
            Value::Text(text) => text.into(),
            Value::Sequence(items) => items.iter().map(Self::to_json).collect(),
            Value::Mapping(entries) => entries
                .iter()
                .map(|entry| (entry.key().to_owned(), entry.node.to_json()))
                .collect(),
        }
    }

    /// Counts down at each that is counted; the place of the first for which nothing is left.
    pub(super) fn bound(&self, counted: Counted, left: &mut usize) -> Result<(), Position> {
        self.bound_at(0, false, counted, left)
    }

    /// Counts down in a node below so many others, which stands in a list or not. Depth is bounded by the parser.
    fn bound_at(
        &self,
        depth: usize,
        in_list: bool,
        counted: Counted,
        left: &mut usize,
    ) -> Result<(), Position> {
        let counts = match (counted, self.value()) {
            (Counted::Values, _)
            | (Counted::Collections, Value::Sequence(_) | Value::Mapping(_)) => true,
            (Counted::Records, Value::Mapping(_)) => in_list || depth == 2,
            (Counted::Entries, _) => depth == 1,
            _ => false,
        };
        if counts {
            *left = left.checked_sub(1).ok_or(self.at())?;
        }
        match self.value() {
            Value::Sequence(items) => {
                (items.iter()).try_for_each(|item| item.bound_at(depth + 1, true, counted, left))
            }
            Value::Mapping(entries) => (entries.iter())
                .try_for_each(|entry| entry.node.bound_at(depth + 1, false, counted, left)),
            _ => Ok(()),
        }
    }

    /// Removes the mapping entry at `path`.
    pub(super) fn remove(&mut self, path: &[Segment]) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut node = self;
        for segment in parents {
            let child = match (segment, &mut node.0) {
                (Segment::Key(key), Packed::Mapping(_, entries)) => entries
                    .iter_mut()
                    .find(|entry| entry.has_key(key))
                    .map(|entry| &mut entry.node),
                (Segment::Index(index), Packed::Sequence(_, items)) => items.get_mut(*index),
                _ => None,
            };
            let Some(child) = child else {
                return;
            };
            node = child;
        }
        if let (Segment::Key(key), Some(entries)) = (last, node.entries_mut()) {
            let mut left = std::mem::take(entries).into_vec();
            if let Some(at) = left.iter().position(|entry| entry.has_key(key)) {
                left.remove(at);
            }
            *entries = left.into_boxed_slice();
        }
    }

    /// The last node on `path` that exists, the position of its key, and how many segments led to it.
    fn follow(&self, path: &[Segment]) -> (&Self, Option<Position>, usize) {
        let mut node = self;
        let mut key_at = None;
        for (walked, segment) in path.iter().enumerate() {
            match (segment, node.value()) {
                (Segment::Key(key), Value::Mapping(entries)) => {
                    let Some(entry) = entries.iter().find(|entry| entry.has_key(key)) else {
                        return (node, key_at, walked);
                    };
                    node = &entry.node;
                    key_at = Some(entry.key_at());
                }
                (Segment::Index(index), Value::Sequence(items)) => {
                    let Some(item) = items.get(*index) else {
                        return (node, key_at, walked);
                    };
                    node = item;
                    key_at = None;
                }
                _ => return (node, key_at, walked),
            }
        }
        (node, key_at, path.len())
    }
}

/// As JSON, without a copy of the tree.
impl serde::Serialize for Node {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Value::Null => serializer.serialize_unit(),
            Value::Boolean(value) => serializer.serialize_bool(value),
            Value::Integer(value) => serializer.serialize_u64(value),
            Value::Negative(value) => serializer.serialize_i64(value),
            Value::Float(value) => serializer.serialize_f64(value),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Sequence(items) => serializer.collect_seq(items),
            Value::Mapping(entries) => {
                let members = entries.iter().map(|entry| (entry.key(), entry.node()));
                serializer.collect_map(members)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_entries_are_small() {
        assert_eq!(size_of::<Node>(), 24);
        assert_eq!(size_of::<Entry>(), 56);
    }

    #[test]
    fn texts_and_positions_are_packed_without_loss() {
        for length in [0, TEXT_ROOM, TEXT_ROOM + 1, KEY_ROOM, KEY_ROOM + 1, 300] {
            let text = "x".repeat(length);
            let at = Position {
                source: 255,
                line: LAST,
                column: 7,
            };
            let node = Node::text(at, &text);
            assert!(matches!(node.value(), Value::Text(own) if own == text));
            let entry = Entry::new(&text, at, node);
            assert_eq!(
                (entry.key(), entry.key_at(), entry.node.at()),
                (&*text, at, at)
            );
        }
    }
}
