//! Values that replace parts of a document: `--set load.rate=100/s`.

use super::path::{Path, Segment};
use super::problem::{Problem, Problems};
use super::tree::{Entry, MOST_SOURCES, Node, Position};
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
        let Some(own) = u8::try_from(self.sources.len()).ok() else {
            let message = format!("at most {} values are replaced", MOST_SOURCES - 1);
            return Err(refuse(message));
        };
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
            source: own,
            line: 0,
            column: 0,
        };
        node.relocate(at);
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

/// The node at `path`, with missing mappings and the last key created.
fn descend<'a>(root: &'a mut Node, path: &[Segment], at: Position) -> Result<&'a mut Node, String> {
    let mut node = root;
    let mut walked = Path::root();
    for segment in path {
        node = match segment {
            Segment::Key(key) => {
                let Some(entries) = node.entries_mut() else {
                    return Err(format!("`{walked}` is not a mapping, so it has no `{key}`"));
                };
                walked = walked.key(key);
                child(entries, key, at)
            }
            Segment::Index(index) => {
                let Some(items) = node.items_mut() else {
                    return Err(format!("`{walked}` is not a list, so it takes no index"));
                };
                let count = items.len();
                walked = walked.index(*index);
                items.get_mut(*index).ok_or_else(|| {
                    format!("`{walked}` does not exist: the list has {count} items, counted from 0")
                })?
            }
        };
    }
    Ok(node)
}

fn child<'a>(entries: &'a mut Box<[Entry]>, key: &str, at: Position) -> &'a mut Node {
    let found = entries.iter().position(|entry| entry.key() == key);
    let index = found.unwrap_or_else(|| {
        let mut more = std::mem::take(entries).into_vec();
        more.push(Entry::new(key, at, Node::mapping(at, Vec::new())));
        *entries = more.into_boxed_slice();
        entries.len() - 1
    });
    &mut entries[index].node
}
