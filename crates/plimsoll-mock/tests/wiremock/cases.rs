//! The corpus: `tests/data/wiremock/*.json`, and what WireMock answered to each in `tests/data/wiremock/answers/`.
//!
//! A file is a list of cases. A case has `stubs`, which are put to an empty server in their order, and `requests`. A request is a
//! line `METHOD target`, or an object `{"line", "headers": [[name, value]…], "body" or "base64", "take", "differs", "ours"}`: where this mock means to answer
//! otherwise, `differs` says why, in the words of docs/mock.md, and `ours` is what it answers. A stub that is meant to be
//! treated otherwise is an object `{"differs", "ours", "stub"}` likewise. `"take": [index, pointer]` puts a text out of an answer
//! before into the line, in the place of `{taken}`. Requests may be calls of the admin API.
//! `"table": true` compares what an unmatched request is told.
//! Among the `fields` of an answer, `["matched-stub-id", null]` stands for one that names no stub.
//! Stubs that send requests on name the server that is asked `ITSELF`, as it is named in answers.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// All files.
pub struct Corpus(Vec<File>);

/// One file of cases.
pub struct File {
    path: PathBuf,
    cases: Vec<Case>,
}

/// Stubs and what is asked of them.
pub struct Case {
    pub name: String,
    pub stubs: Vec<Meant>,
    pub requests: Vec<Meant>,
}

/// A stub or a request, and where this mock means to differ on it.
pub struct Meant {
    pub what: Value,
    pub differs: Option<String>,
    pub ours: Value,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Where the corpus lies.
pub fn directory() -> PathBuf {
    root().join("tests/data/wiremock")
}

impl Corpus {
    pub fn load() -> Self {
        let entries = std::fs::read_dir(directory()).unwrap();
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .collect();
        paths.sort();
        Self(paths.into_iter().map(File::load).collect())
    }

    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.0.iter()
    }

    fn all(&self) -> impl Iterator<Item = &Case> {
        self.0.iter().flat_map(|file| &file.cases)
    }

    /// How many cases there are.
    pub fn cases(&self) -> usize {
        self.all().count()
    }

    /// How many of them call the admin API.
    pub fn admin_cases(&self) -> usize {
        let calls = |case: &&Case| case.requests.iter().any(Meant::is_admin);
        self.all().filter(calls).count()
    }

    /// Why this mock differs, once for each place where it does.
    pub fn differences(&self) -> impl Iterator<Item = &str> {
        let meant = self
            .all()
            .flat_map(|case| case.stubs.iter().chain(&case.requests));
        meant.filter_map(|meant| meant.differs.as_deref())
    }
}

impl File {
    fn load(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap();
        let cases: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let cases = cases.as_array().unwrap().iter().map(Case::of).collect();
        Self { path, cases }
    }

    pub fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    fn answers(&self) -> PathBuf {
        directory().join("answers").join(self.name())
    }

    /// WireMock's answers, case by case.
    pub fn expected(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.answers()).unwrap_or_else(|_| "[]".to_owned());
        serde_json::from_str(&text).unwrap()
    }

    /// Writes what WireMock answered, if asked to by `UPDATE=1`.
    pub fn update(&self, answers: &[Value]) -> bool {
        if std::env::var_os("UPDATE").is_none() {
            return false;
        }
        let lines: Vec<String> = answers.iter().map(Value::to_string).collect();
        std::fs::create_dir_all(directory().join("answers")).unwrap();
        std::fs::write(self.answers(), format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
        true
    }
}

impl Case {
    fn of(value: &Value) -> Self {
        let list = |name: &str| value[name].as_array().cloned().unwrap_or_default();
        Self {
            name: value["name"].as_str().unwrap().to_owned(),
            stubs: list("stubs").into_iter().map(Meant::of).collect(),
            requests: list("requests").into_iter().map(Meant::of).collect(),
        }
    }

    /// All that it sends, as text.
    pub fn text(&self) -> String {
        let meant = self.stubs.iter().chain(&self.requests);
        meant.map(|meant| meant.what.to_string()).collect()
    }
}

impl Meant {
    /// Whether this is a call of the admin API.
    pub fn is_admin(&self) -> bool {
        let line = self.what["line"].as_str();
        line.is_some_and(|line| line.contains(" /__admin"))
    }

    fn of(mut value: Value) -> Self {
        let differs = value
            .get("differs")
            .map(|why| why.as_str().unwrap().to_owned());
        let ours = value.get("ours").cloned().unwrap_or(Value::Null);
        if let Some(stub) = value.get_mut("stub") {
            value = stub.take();
        } else if value.is_string() {
            value = json!({"line": value});
        }
        Self {
            what: value,
            differs,
            ours,
        }
    }
}
