//! Values that replace parts of a document: `--set load.rate=100/s`.

use super::path::{Path, Segment};
use super::problem::{Problem, Problems};
use super::tree::{Entry, Node, NodeValue, Position};
use super::{Document, yaml};

impl Document {
    /// Replaces or adds the value at a path; `text` is `path=value`, the value written as in the file.
    ///
    /// Mappings on the way are created; a list takes an index that exists. Later problems with the value are located at
    /// `option` and `text` (`--set load.rate=100`).
    ///
    /// # Errors
    /// Text without `=`, a malformed path, a value that is not YAML, or a path through a scalar.
    pub fn set(&mut self, option: &str, text: &str) -> Result<(), Problems> {
        let source = format!("{option} {text}");
        let refuse = |message: String| Problems::from(Problem::of_file(&source, message));
        let Some((path_text, value_text)) = text.split_once('=') else {
            return Err(refuse(
                "has no `=`: write `path=value`, for instance `load.rate=100/s`".to_owned(),
            ));
        };
        let path = Path::parse(path_text).filter(|path| !path.segments().is_empty());
        let Some(path) = path else {
            let message = format!(
                "`{path_text}` is not a path: write for instance `load.rate` or `scenario[0].get`"
            );
            return Err(refuse(message));
        };
        let mut node = yaml::parse(&source, value_text).map_err(|problems| {
            problems
                .into_iter()
                .map(without_place)
                .collect::<Problems>()
        })?;
        let at = Position {
            source: self.sources.len(),
            line: 0,
            column: 0,
        };
        relocate(&mut node, at);
        // On a copy: a path that fails halfway must leave the document as it was.
        let mut root = self.root.clone();
        let target = descend(&mut root, path.segments(), at).map_err(refuse)?;
        *target = node;
        self.root = root;
        self.sources.push(source);
        Ok(())
    }
}

fn without_place(problem: Problem) -> Problem {
    Problem {
        line: 0,
        column: 0,
        ..problem
    }
}

/// Depth is bounded by the parser.
fn relocate(node: &mut Node, at: Position) {
    node.at = at;
    match &mut node.value {
        NodeValue::Sequence(items) => items.iter_mut().for_each(|item| relocate(item, at)),
        NodeValue::Mapping(entries) => {
            for entry in entries {
                entry.key_at = at;
                relocate(&mut entry.node, at);
            }
        }
        _ => {}
    }
}

/// The node at `path`, with missing mappings and the last key created.
fn descend<'a>(root: &'a mut Node, path: &[Segment], at: Position) -> Result<&'a mut Node, String> {
    let mut node = root;
    let mut walked = Path::root();
    for segment in path {
        node = match (segment, &mut node.value) {
            (Segment::Key(key), NodeValue::Mapping(entries)) => {
                walked = walked.key(key);
                child(entries, key, at)
            }
            (Segment::Index(index), NodeValue::Sequence(items)) => {
                let count = items.len();
                walked = walked.index(*index);
                items.get_mut(*index).ok_or_else(|| {
                    format!("`{walked}` does not exist: the list has {count} items, counted from 0")
                })?
            }
            (Segment::Key(key), _) => {
                return Err(format!("`{walked}` is not a mapping, so it has no `{key}`"));
            }
            (Segment::Index(_), _) => {
                return Err(format!("`{walked}` is not a list, so it takes no index"));
            }
        };
    }
    Ok(node)
}

fn child<'a>(entries: &'a mut Vec<Entry>, key: &str, at: Position) -> &'a mut Node {
    let index = entries
        .iter()
        .position(|entry| entry.key == key)
        .unwrap_or_else(|| {
            let node = Node {
                value: NodeValue::Mapping(Vec::new()),
                at,
            };
            entries.push(Entry {
                key: key.to_owned(),
                key_at: at,
                node,
            });
            entries.len() - 1
        });
    &mut entries[index].node
}
