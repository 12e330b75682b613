//! Keys that a format spells in more than one way, brought to one spelling.

use super::Document;
use super::path::Path;
use super::problem::Problems;
use super::tree::{Node, NodeValue};

impl Document {
    /// The document with the keys of its mappings spelled as `spelling` says. It is asked with the way from the top to a mapping, where `*`
    /// stands for a place in a list, and a key of it; `None` leaves the key as it is.
    ///
    /// # Errors
    /// Keys of one mapping that would be spelled alike.
    pub fn with_spelling(
        mut self,
        spelling: &dyn Fn(&[String], &str) -> Option<String>,
    ) -> Result<Self, Problems> {
        let mut clashes = Vec::new();
        let mut way = Vec::new();
        rename(
            &mut self.root,
            &mut way,
            &Path::root(),
            spelling,
            &mut clashes,
        );
        let problems: Problems = clashes
            .into_iter()
            .map(|(path, first)| {
                let message = format!("this is `{first}` once more: keep one");
                self.key_problem(path, message)
            })
            .collect();
        problems.or_ok(self)
    }
}

/// Adds the paths of keys that another key of the mapping is spelled like, too, with that key.
fn rename(
    node: &mut Node,
    way: &mut Vec<String>,
    path: &Path,
    spelling: &dyn Fn(&[String], &str) -> Option<String>,
    clashes: &mut Vec<(Path, String)>,
) {
    match &mut node.value {
        NodeValue::Mapping(entries) => {
            let mut seen = std::collections::HashMap::with_capacity(entries.len());
            for entry in entries {
                let written = entry.key.clone();
                if let Some(spelled) = spelling(way, &entry.key) {
                    entry.key = spelled;
                }
                if let Some(first) = seen.insert(entry.key.clone(), written.clone()) {
                    // The key stays as it is written, so that the problem finds its place.
                    clashes.push((path.key(&written), first));
                    entry.key.clone_from(&written);
                }
                way.push(entry.key.clone());
                rename(
                    &mut entry.node,
                    way,
                    &path.key(&entry.key),
                    spelling,
                    clashes,
                );
                way.pop();
            }
        }
        NodeValue::Sequence(items) => {
            way.push("*".to_owned());
            for (index, item) in items.iter_mut().enumerate() {
                rename(item, way, &path.index(index), spelling, clashes);
            }
            way.pop();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let document = Document::parse_json("f.json", text).unwrap();
        let lower = |way: &[String], key: &str| {
            let is_free = way.last().is_some_and(|above| above == "free");
            (!is_free).then(|| key.to_lowercase())
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
            "f.json:1:16: l[0].a: this is `A` once more: keep one",
        );
    }
}
