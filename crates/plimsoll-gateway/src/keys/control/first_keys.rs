//! Keys that are there from the start: a file of JSON, `{"<key>": <session>, …}`, each made as `POST /tyk/keys/{id}` makes it.

use super::Control;
use super::new_key::{self, Refused};
use crate::keys::session::Session;
use plimsoll_base::document::{
    Allowance, Counted, Document, MOST_PROBLEMS, Path, Problem, Problems, Value,
};
use std::collections::HashMap;

/// Makes the keys of a file.
///
/// # Errors
/// Every problem of the text. None names a key.
pub(super) fn make(control: &Control, name: &str, text: &str) -> Result<(), Problems> {
    /// Of a few bytes one takes some thousand instructions.
    const KEYS: Allowance = Allowance {
        any: 8_000,
        bytes_each: 40,
    };
    let document = Document::parse_json(name, text).map_err(unnamed)?;
    document.bound(Counted::Entries, KEYS).map_err(unnamed)?;
    let Value::Mapping(keys) = document.root().value() else {
        let message = "the file holds no keys: write `{\"<key>\": { … }}`, a session for each";
        return Err(Problem::of_file(name, message.to_owned()).into());
    };
    let mut sessions = Sessions::default();
    let mut refused = Problems::default();
    for entry in keys {
        // A session at a time: all of them as JSON would be a second text.
        let session = serde_json::to_string(entry.node());
        let session = session.expect("invariant: a document has a text");
        let made = new_key::make_of(control, || sessions.read(session), entry.key());
        let most = SESSIONS.of(document.bytes());
        if sessions.reads > most {
            let message = format!(
                "more than {most} sessions that differ in {} bytes: give keys the same ones, or make some by the control API",
                document.bytes()
            );
            refused.extend([document.problem(Path::root().key(entry.key()), message)]);
            break;
        }
        let message = match made {
            Ok(answer) if answer.status() == 200 => continue,
            // The place of each is looked for among all keys.
            _ if refused.len() >= MOST_PROBLEMS => {
                refused.count_further(1);
                continue;
            }
            Ok(answer) => answer.message().to_owned(),
            Err(refused) => refused.message,
        };
        let path = Path::root().key(entry.key());
        refused.extend([document.problem(path, message)]);
    }
    refused.or_ok(()).map_err(unnamed)
}

/// One of a few bytes takes some ten thousand instructions.
const SESSIONS: Allowance = Allowance {
    any: 8_000,
    bytes_each: 200,
};

/// Sessions by their text: most keys of a file have one that others have, too.
#[derive(Default)]
struct Sessions {
    known: HashMap<String, Result<Session, Refused>>,
    /// How many were read.
    reads: usize,
}

impl Sessions {
    /// How many are known at a time, and of how many bytes each.
    const MOST: usize = 64;
    const LONGEST: usize = 4096;

    fn read(&mut self, text: String) -> Result<Session, Refused> {
        if let Some(known) = self.known.get(&text) {
            return known.clone();
        }
        self.reads += 1;
        let read = new_key::read(text.as_bytes());
        if text.len() <= Self::LONGEST {
            if self.known.len() == Self::MOST {
                self.known.clear();
            }
            self.known.insert(text, read.clone());
        }
        read
    }
}

/// Problems at their places alone: whoever reads a key in them has it.
fn unnamed(problems: Problems) -> Problems {
    let further = problems.len() - problems.iter().count();
    let unnamed = |mut problem: Problem| {
        problem.path.clear();
        if problem.message.contains("is written twice") {
            "a key is written twice: keep one".clone_into(&mut problem.message);
        }
        problem
    };
    let mut problems = Problems::from_iter(problems.into_iter().map(unnamed));
    problems.count_further(further);
    problems
}

#[cfg(test)]
mod tests {
    use crate::config::Surroundings;
    use crate::keys::KeyHash;
    use crate::tyk::Tyk;
    use std::path::PathBuf;

    #[test]
    fn a_file_may_hold_as_many_keys_as_its_length_allows() {
        let directory = tempfile::tempdir().unwrap();
        let conf = directory.path().join("tyk.conf");
        let text = serde_json::json!({ "secret": "s", "app_path": directory.path().join("apps") });
        std::fs::create_dir(directory.path().join("apps")).unwrap();
        std::fs::write(&conf, text.to_string()).unwrap();
        let (tyk, _, _) = Tyk::open(&conf, false, Surroundings::none()).unwrap();
        let key = |n| {
            format!(
                r#""key{n}":{{"rate":1000,"per":60,"quota_max":-1,"org_id":"default","access_rights":{{"a":{{"api_id":"a","versions":["Default"]}}}}}}"#
            )
        };
        let make = |count, key: &dyn Fn(usize) -> String| {
            let keys: Vec<String> = (0..count).map(key).collect();
            tyk.make_keys("keys.json", &format!("{{{}}}", keys.join(",")))
        };
        make(10_000, &key).unwrap();
        let refused = make(20_000, &|n| format!(r#""k{n}":{{}}"#)).unwrap_err();
        assert!(refused.to_string().contains(" entries in "), "{refused}");
        let own = |n| format!(r#""key{n}":{{"tags":["{n}"],"access_rights":{{"a":{{}}}}}}"#);
        let refused = make(20_000, &own).unwrap_err();
        assert!(
            refused.to_string().contains(" sessions that differ in "),
            "{refused}"
        );
    }

    #[test]
    fn keys_of_a_file_are_made_and_wrong_ones_are_all_told() {
        let directory = tempfile::tempdir().unwrap();
        let conf: PathBuf = directory.path().join("tyk.conf");
        let apps = directory.path().join("apps");
        std::fs::create_dir(&apps).unwrap();
        let text = serde_json::json!({ "secret": "s", "app_path": apps });
        std::fs::write(&conf, text.to_string()).unwrap();
        let (tyk, config, _) = Tyk::open(&conf, false, Surroundings::none()).unwrap();
        let rights = r#"{ "access_rights": { "a": { "api_id": "a" } } }"#;
        tyk.make_keys(
            "keys.json",
            &format!("{{ \"first\": {rights}, \"second\": {rights} }}"),
        )
        .unwrap();
        let keys = &config.control.as_ref().unwrap().keys;
        let known = |key: &str| keys.with(KeyHash::of(key.as_bytes()), |_| ()).is_some();
        assert!(known("first") && known("second") && !known("third"));
        let wrong = format!(
            "{{\n \"ab\": {rights},\n \"third\": {{}},\n \"fourth\": {{ \"access_rights\": 1 }},\n \"fifth\": {rights}\n}}"
        );
        let told = tyk.make_keys("keys.json", &wrong).unwrap_err().to_string();
        insta::assert_snapshot!(told);
        assert!(known("fifth") && !known("third"));
        insta::assert_snapshot!(tyk.make_keys("keys.json", "[]").unwrap_err().to_string(), @"keys.json: the file holds no keys: write `{\"<key>\": { … }}`, a session for each");
        let twice = format!("{{ \"first\": {rights}, \"first\": {rights} }}");
        insta::assert_snapshot!(tyk.make_keys("keys.json", &twice).unwrap_err().to_string(), @"keys.json:1:61: a key is written twice: keep one");
    }
}
