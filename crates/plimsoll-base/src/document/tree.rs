//! The tree behind a document: values, their positions and those of their keys.

use super::path::Segment;

/// A place in one of a document's sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Index into the document's sources.
    pub source: usize,
    /// From 1; 0 when the source has no lines (a command-line override).
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub value: NodeValue,
    pub at: Position,
}

#[derive(Debug, Clone)]
pub(super) enum NodeValue {
    Null,
    Boolean(bool),
    Integer(u64),
    /// Below zero.
    Negative(i64),
    Float(f64),
    Text(String),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: String,
    pub key_at: Position,
    pub node: Node,
}

impl Node {
    /// The position of the value at `path`, or, for a mapping or list inside a mapping, of its key: the first line of a
    /// block is already one of its children. Where the path leaves the tree, the last node on it counts.
    pub fn locate(&self, path: &[Segment]) -> Position {
        let (node, key_at, _) = self.follow(path);
        match (&node.value, key_at) {
            (NodeValue::Mapping(_) | NodeValue::Sequence(_) | NodeValue::Null, Some(key_at)) => {
                key_at
            }
            _ => node.at,
        }
    }

    /// The position of the key at `path`; of the value when it has none.
    pub fn locate_key(&self, path: &[Segment]) -> Position {
        let (node, key_at, _) = self.follow(path);
        key_at.unwrap_or(node.at)
    }

    pub fn contains(&self, path: &[Segment]) -> bool {
        self.follow(path).2 == path.len()
    }

    /// The whole number at `path`.
    pub fn integer(&self, path: &[Segment]) -> Option<u64> {
        let (node, _, walked) = self.follow(path);
        match node.value {
            NodeValue::Integer(number) if walked == path.len() => Some(number),
            _ => None,
        }
    }

    /// The value without positions. Depth is bounded by the parser.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            NodeValue::Null => serde_json::Value::Null,
            NodeValue::Boolean(value) => (*value).into(),
            NodeValue::Integer(value) => (*value).into(),
            NodeValue::Negative(value) => (*value).into(),
            NodeValue::Float(value) => (*value).into(),
            NodeValue::Text(text) => text.clone().into(),
            NodeValue::Sequence(items) => items.iter().map(Self::to_json).collect(),
            NodeValue::Mapping(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.node.to_json()))
                .collect(),
        }
    }

    /// Removes the mapping entry at `path`.
    pub fn remove(&mut self, path: &[Segment]) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut node = self;
        for segment in parents {
            let child = match (segment, &mut node.value) {
                (Segment::Key(key), NodeValue::Mapping(entries)) => entries
                    .iter_mut()
                    .find(|entry| entry.key == *key)
                    .map(|entry| &mut entry.node),
                (Segment::Index(index), NodeValue::Sequence(items)) => items.get_mut(*index),
                _ => None,
            };
            let Some(child) = child else {
                return;
            };
            node = child;
        }
        if let (Segment::Key(key), NodeValue::Mapping(entries)) = (last, &mut node.value) {
            entries.retain(|entry| entry.key != *key);
        }
    }

    /// The last node on `path` that exists, the position of its key, and how many segments led to it.
    fn follow(&self, path: &[Segment]) -> (&Self, Option<Position>, usize) {
        let mut node = self;
        let mut key_at = None;
        for (walked, segment) in path.iter().enumerate() {
            match (segment, &node.value) {
                (Segment::Key(key), NodeValue::Mapping(entries)) => {
                    let Some(entry) = entries.iter().find(|entry| entry.key == *key) else {
                        return (node, key_at, walked);
                    };
                    node = &entry.node;
                    key_at = Some(entry.key_at);
                }
                (Segment::Index(index), NodeValue::Sequence(items)) => {
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
