//! A definition that was read; references in it, which are not followed.

use crate::tyk::definition::Definition;
use plimsoll_base::document::{Document, MOST_PROBLEMS, Node, Path, Problems, Segment, Value};

/// A definition that was read, with its place.
pub(in crate::tyk) struct Api {
    pub(in crate::tyk) document: Document,
    pub(in crate::tyk) definition: Definition,
    pub(in crate::tyk) id: String,
    pub(in crate::tyk) file: std::path::PathBuf,
}

/// References that Tyk replaces by values wherever in a definition they stand, before it reads it (`gateway/api_definition.go`,
/// `replaceSecrets`).
const REFERENCES: [&str; 7] = [
    "env://",
    "secrets://",
    "consul://",
    "vault://",
    "file://",
    "kv://",
    "$kv{",
];

impl Api {
    /// Problems for texts in which Tyk would put something else.
    pub(in crate::tyk) fn references(&self) -> Problems {
        let mut problems = Problems::default();
        self.refer(&mut Path::root(), self.document.root(), &mut problems);
        problems
    }

    /// `at` is the way to `node`. Depth is bounded by the parser.
    fn refer(&self, at: &mut Path, node: &Node, problems: &mut Problems) {
        match node.value() {
            Value::Text(text) => self.refuse_reference(at, text, problems),
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    at.within(Segment::Index(index), |at| self.refer(at, item, problems));
                }
            }
            Value::Mapping(entries) => {
                for entry in entries {
                    self.refuse_reference(at, entry.key(), problems);
                    at.within(Segment::Key(entry.key().to_owned()), |at| {
                        self.refer(at, entry.node(), problems);
                    });
                }
            }
            _ => {}
        }
    }

    /// A problem if Tyk would put something else in this text.
    fn refuse_reference(&self, at: &Path, text: &str, problems: &mut Problems) {
        let mut references = REFERENCES.into_iter();
        let Some(reference) = references.find(|reference| text.contains(reference)) else {
            return;
        };
        if problems.len() >= MOST_PROBLEMS {
            problems.count_further(1);
            return;
        }
        let message = format!(
            "`{reference}` is not followed in definitions in this version: write the value itself"
        );
        problems.extend([self.document.problem(at.clone(), message)]);
    }
}
