//! Keys that a format spells in more than one way, brought to one spelling.

use std::collections::{HashMap, HashSet};

use super::Document;
use super::path::{Path, Segment};
use super::problem::{MOST_PROBLEMS, Problems};
use super::tree::{Entry, Node, Position, Value};

/// How the keys of the mapping at the end of a way are spelled. In the way, `*` stands for a place in a list.
pub type Spelling<'a> = dyn Fn(&[String]) -> KeySpelling<'a> + 'a;

/// How the keys of one mapping are spelled; `None` leaves a key as it is.
pub type KeySpelling<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;

impl Document {
    /// The document with the keys of its mappings spelled as `spelling` says, which is asked once for each mapping.
    ///
    /// # Errors
    /// Keys of one mapping that would be spelled alike.
    pub fn with_spelling(mut self, spelling: &Spelling<'_>) -> Result<Self, Problems> {
        let mut clashes = Clashes::default();
        rename(
            &mut self.root,
            &mut Vec::new(),
            &mut Path::root(),
            spelling,
            &mut clashes,
        );
        let listed = clashes.listed.into_iter().map(|(at, path, first)| {
            let message = format!("this is `{first}` once more: keep one");
            self.located(at, path, message)
        });
        let mut problems: Problems = listed.collect();
        problems.count_further(clashes.further);
        problems.or_ok(self)
    }
}

/// Keys that another key of their mapping is spelled like.
#[derive(Default)]
struct Clashes {
    /// The first [`MOST_PROBLEMS`], each with its place and with that other key as it is written.
    listed: Vec<(Position, Path, String)>,
    further: usize,
}

/// A node and all below it. Depth is bounded by the parser.
fn rename(
    node: &mut Node,
    way: &mut Vec<String>,
    path: &mut Path,
    spelling: &Spelling<'_>,
    clashes: &mut Clashes,
) {
    if let Some(items) = node.items_mut() {
        way.push("*".to_owned());
        for (index, item) in items.iter_mut().enumerate() {
            path.within(Segment::Index(index), |path| {
                rename(item, way, path, spelling, clashes);
            });
        }
        way.pop();
        return;
    }
    let Some(entries) = node.entries_mut() else {
        return;
    };
    respell(entries, way, path, spelling, clashes);
    for entry in entries {
        if !matches!(entry.node.value(), Value::Sequence(_) | Value::Mapping(_)) {
            continue;
        }
        let key = entry.key().to_owned();
        way.push(key.clone());
        path.within(Segment::Key(key), |path| {
            rename(&mut entry.node, way, path, spelling, clashes);
        });
        way.pop();
    }
}

/// The keys of one mapping.
fn respell(
    entries: &mut [Entry],
    way: &[String],
    path: &Path,
    spelling: &Spelling<'_>,
    clashes: &mut Clashes,
) {
    let of_key = spelling(way);
    let places = entries.iter().enumerate();
    let spelled: HashMap<usize, String> = places
        .filter_map(|(at, entry)| Some((at, of_key(entry.key())?)))
        .collect();
    // Keys differ as they are written, so that only these can meet.
    let names: HashSet<&str> = spelled.values().map(String::as_str).collect();
    if names.is_empty() {
        return;
    }
    let mut seen: HashMap<&str, String> = HashMap::new();
    for (at, entry) in entries.iter_mut().enumerate() {
        let written = entry.key();
        let Some(name) = names.get(spelled.get(&at).map_or(written, String::as_str)) else {
            continue;
        };
        match seen.insert(name, written.to_owned()) {
            None => entry.rename(name),
            // The key stays as it is written.
            Some(first) if clashes.listed.len() < MOST_PROBLEMS => {
                let at = entry.key_at();
                clashes.listed.push((at, path.key(written), first));
            }
            Some(_) => clashes.further += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let document = Document::parse_json("f.json", text).unwrap();
        let lower = |way: &[String]| -> KeySpelling<'_> {
            let is_free = way.last().is_some_and(|above| above == "free");
            Box::new(move |key| (!is_free).then(|| key.to_lowercase()))
        };
        let told = match document.with_spelling(&lower) {
            Ok(document) => document.to_json().to_string(),
            Err(problems) => problems.to_string(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn keys_are_spelled_alike_and_those_that_become_one_are_told() {
        check(
            r#"{"A": [{"Bc": 1}], "free": {"X": 1, "x": 2}}"#,
            r#"{"a":[{"bc":1}],"free":{"X":1,"x":2}}"#,
        );
        check(
            "{\"a\": 1,\n\"A\": 2}",
            "f.json:2:1: A: this is `a` once more: keep one",
        );
        check(
            "{\"l\": [{\"A\": 1, \"a\": 2}]}",
            "f.json:1:17: l[0].a: this is `A` once more: keep one",
        );
    }
}
