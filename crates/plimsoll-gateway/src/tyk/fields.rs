//! Every field of Tyk's files and what becomes of it here: the one list, from which files are judged and `docs/tyk.md` is written.
//!
//! A field that is left at nothing (`false`, `0`, `""`, `[]`, `{}`, `null`) says nothing, whatever its class. What supported fields mean
//! is [`super::compile`]'s.

mod access_rights;
mod conf;
mod definition;
#[cfg(test)]
mod page;
mod policy;
mod session;

use super::notes::Account;
use plimsoll_base::document::{Document, Path, Problems, suggestion};
use serde_json::Value;

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It means here what it means to Tyk, but for what the note says.
    Supported,
    /// It cannot change who gets in or what is sent; named at start and at each reload.
    Ignored,
    /// It could, and is not supported: the file is refused. These values alone are harmless.
    Refused(&'static [&'static str]),
}

const OVERRIDE_FLAG: &str = "one that no error has here matches none, which is told";
const OVERRIDE_PATTERN: &str =
    "an expression of Go; one that is none takes its rule out, as in Tyk, which is told";
const OVERRIDE_FIELD: &str =
    "names and places with dots between; of upstreams' errors alone, in their first 4096 bytes";
const OVERRIDE_STATUS: &str = "200 to 599 that goes with a body";
const OVERRIDE_BODY: &str = "with `{{.StatusCode}}` and `{{.Message}}` alone";
const OVERRIDE_TEMPLATE: &str = "files of templates are not read: write the text as `body`";

/// A field: its path, with `*` for any key or place in a list; its class, which holds for everything below it that is not listed itself;
/// a note for people.
pub(crate) struct Field(
    pub(super) &'static str,
    pub(super) Class,
    pub(super) &'static str,
);

/// The fields of one kind of file.
pub(crate) struct Kind {
    /// What it is called in messages and on the page.
    pub(crate) name: &'static str,
    /// In parts, of which some kinds have one in common.
    pub(crate) fields: &'static [&'static [Field]],
}

/// `tyk.conf`.
pub(crate) const CONF: &Kind = &conf::KIND;
/// A classic API definition.
pub(crate) const DEFINITION: &Kind = &definition::KIND;
/// One policy of `policies.json`.
pub(crate) const POLICY: &Kind = &policy::KIND;
/// A session, as the control API takes it.
pub(crate) const SESSION: &Kind = &session::KIND;

/// What a file says that is not supported.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// How many fields say something and are supported.
    pub(crate) supported: usize,
    /// Paths of fields that say something and are ignored.
    pub(crate) ignored: Vec<String>,
    refused: Problems,
}

impl Verdict {
    /// Nothing, if nothing is refused.
    pub(crate) fn refused_only(self) -> Result<(), Problems> {
        self.refused.or_ok(())
    }

    /// What is refused, and what the file called `name` says besides.
    pub(crate) fn into_parts(self, name: &str) -> (Problems, Account) {
        let account = Account {
            name: name.to_owned(),
            supported: self.supported,
            ignored: self.ignored,
        };
        (self.refused, account)
    }
}

/// The document with its fields spelled as they are listed. Go reads a field in any case, and of several the last one counts; which that is
/// nobody sees, so they are refused. With `named` the document is an object of such documents.
pub(crate) fn spelled(kind: &Kind, document: Document, named: bool) -> Result<Document, Problems> {
    document.with_spelling(&|way, key| match (named, way) {
        (true, []) => None,
        (true, [_, way @ ..]) => kind.spelling(way, key),
        (false, way) => kind.spelling(way, key),
    })
}

/// Judges every field of a document.
pub(crate) fn judge(kind: &Kind, document: &Document) -> Verdict {
    judge_below(kind, document, &Path::root(), &document.to_json())
}

/// Judges every field of `value`, which lies at `at`.
pub(crate) fn judge_below(kind: &Kind, document: &Document, at: &Path, value: &Value) -> Verdict {
    let mut judge = Judge {
        kind,
        document,
        at,
        verdict: Verdict::default(),
    };
    judge.node(&mut Vec::new(), &Path::root(), value);
    judge.verdict
}

struct Judge<'a> {
    kind: &'a Kind,
    document: &'a Document,
    at: &'a Path,
    verdict: Verdict,
}

impl Judge<'_> {
    /// `names` is the way from the top of the file to here, `path` the same as it is shown.
    fn node(&mut self, names: &mut Vec<String>, path: &Path, value: &Value) {
        let goes_on =
            matches!(value, Value::Object(_) | Value::Array(_)) && self.kind.goes_on(names);
        if !goes_on && !names.is_empty() && self.says_nothing(names, value) {
            return;
        }
        match value {
            Value::Object(entries) if goes_on => {
                for (name, value) in entries {
                    names.push(name.clone());
                    self.entry(names, &path.key(name), value);
                    names.pop();
                }
            }
            Value::Array(items) if goes_on => {
                for (index, value) in items.iter().enumerate() {
                    names.push("*".to_owned());
                    self.node(names, &path.index(index), value);
                    names.pop();
                }
            }
            _ => self.leaf(names, path, value),
        }
    }

    /// Whether a value says nothing. In a list that is refused any entry is something: an empty pattern matches every path.
    fn says_nothing(&self, names: &[String], value: &Value) -> bool {
        let covering = self.kind.covering(names);
        let is_refused = covering.is_some_and(|field| matches!(field.1, Class::Refused(_)));
        match value {
            Value::Array(items) if is_refused => items.is_empty(),
            value => is_nothing(value),
        }
    }

    /// A field below which no others are listed.
    fn leaf(&mut self, names: &[String], path: &Path, value: &Value) {
        match self.kind.covering(names) {
            // Of the wrong kind, if there are fields below: which is found when it is decoded.
            Some(Field(_, Class::Supported, _)) => self.verdict.supported += 1,
            None if self.kind.is_read_below(names) => {}
            None => self.refuse(
                path,
                "it holds fields, and this is none: write an object".to_owned(),
            ),
            Some(Field(_, Class::Ignored, _)) => self.verdict.ignored.push(path.to_string()),
            Some(Field(_, Class::Refused(harmless), note)) => {
                let written = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                if !harmless.contains(&&*written) {
                    self.refuse(
                        path,
                        format!("not supported, and it cannot be ignored: {note}"),
                    );
                }
            }
        }
    }

    fn entry(&mut self, names: &mut Vec<String>, path: &Path, value: &Value) {
        if self.kind.covering(names).is_some() || self.kind.goes_on(names) {
            return self.node(names, path, value);
        }
        if is_nothing(value) {
            return self.verdict.ignored.push(path.to_string());
        }
        let (name, above) = names.split_last().expect("invariant: an entry has a name");
        let known = self.kind.names_below(above);
        let message = format!(
            "there is no such field in {}: {}",
            self.kind.name,
            match plimsoll_base::document::nearest(name, &known) {
                Some(_) => suggestion(name, &known),
                None => "remove it".to_owned(),
            }
        );
        self.refuse(path, message);
    }

    fn refuse(&mut self, path: &Path, message: String) {
        let mut whole = self.at.clone();
        for segment in path.segments() {
            whole = match segment {
                plimsoll_base::document::Segment::Key(key) => whole.key(key),
                plimsoll_base::document::Segment::Index(index) => whole.index(*index),
            };
        }
        let problem = self.document.problem(whole, message);
        self.verdict.refused.extend([problem]);
    }
}

impl Kind {
    /// Every field.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().copied().flatten()
    }

    /// The field at the end of this way, or the nearest above it.
    fn covering(&self, names: &[String]) -> Option<&Field> {
        (1..=names.len()).rev().find_map(|length| {
            let mut fields = self.fields();
            fields
                .find(|field| field.way().count() == length && field.begins_with(&names[..length]))
        })
    }

    /// Whether there are fields below this way.
    fn goes_on(&self, names: &[String]) -> bool {
        let mut fields = self.fields();
        fields.any(|field| field.way().count() > names.len() && field.begins_with(names))
    }

    /// Whether a field below this way is read, so that decoding finds what is wrong here.
    fn is_read_below(&self, names: &[String]) -> bool {
        let mut below = self.fields().filter(|field| field.begins_with(names));
        below.any(|field| field.1 == Class::Supported)
    }

    /// How a field is listed that is the same to Go, if it is written otherwise. Names that a file chooses are as they are.
    fn spelling(&self, above: &[String], name: &str) -> Option<String> {
        let below = self.fields().filter(|field| field.begins_with(above));
        let names: Vec<&str> = below
            .filter_map(|field| field.way().nth(above.len()))
            .collect();
        if names.contains(&"*") || names.contains(&name) {
            return None;
        }
        let listed = names.iter().find(|listed| folded(listed) == folded(name));
        listed.map(|listed| (*listed).to_owned())
    }

    fn names_below(&self, above: &[String]) -> Vec<String> {
        let fields = self.fields().filter(|field| field.begins_with(above));
        let names = fields.filter_map(|field| field.way().nth(above.len()));
        let mut names: Vec<String> = names
            .filter(|name| *name != "*")
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }
}

impl Field {
    fn way(&self) -> impl Iterator<Item = &'static str> {
        self.0.split('.')
    }

    fn begins_with(&self, names: &[String]) -> bool {
        let mut way = self.way();
        names
            .iter()
            .all(|name| way.next().is_some_and(|own| own == "*" || own == name))
    }
}

/// A name as Go compares it: two letters outside of ASCII are folded to `k` and `s`, too (`encoding/json`, `foldName`).
pub(super) fn folded(name: &str) -> String {
    let fold = |letter: char| match letter {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        letter => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).collect()
}

/// Whether a value is what a field has that nobody wrote.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(entries) => entries.values().all(is_nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> String {
        let document = Document::parse_json("api.json", text).unwrap();
        let (refused, account) = judge(DEFINITION, &document).into_parts("api.json");
        format!("{refused}\nignored: {}", account.ignored.join(", "))
    }

    #[test]
    fn fields_are_judged_by_what_they_say() {
        insta::assert_snapshot!(judged(
            r#"{
  "name": "x", "use_jwt": true, "enable_jwt": true, "slug": "x", "new_one": 0,
  "enable_ip_whitelisting": false, "allowed_ips": [], "CORS": { "enable": false, "max_age": 24 },
  "custom_middleware": { "pre": [{ "name": "f" }], "driver": "otto" },
  "protocol": "http", "proxy": { "listen_pth": "/x/", "transport": { "proxy_url": "http://p" } },
  "version_data": { "versions": { "v1": { "extended_paths": { "virtual": [{ "path": "/" }], "white_list": [{ "path": "/", "metod": "GET" }] } } } }
}"#
        ));
    }
}
