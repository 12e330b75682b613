//! Every field of Tyk's files and what becomes of it here: the one list, from which files are judged and `docs/tyk.md` is written.
//!
//! A field that is left at nothing (`false`, `0`, `""`, `[]`, `{}`, `null`) says nothing, whatever its class. What supported fields mean
//! is [`crate::tyk`]'s.

pub(crate) mod account;
mod way;

use account::{Account, Ignored};
use plimsoll_base::document::{
    Document, MOST_PROBLEMS, Node, Path, Problems, Segment, Value, suggestion,
};
use way::{Ways, Within};

/// Effect of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It means here what it means to Tyk, but for what the note says.
    Supported,
    /// It cannot change who gets in or what is sent; named at start and at each reload.
    Ignored,
    /// It could, and is not supported: the file is refused. This value alone is harmless, where there is one.
    Refused(Option<&'static str>),
}

/// A field: its path, with `*` for any key or place in a list; its class, which holds for everything below it that is not listed itself;
/// a note for people.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field(
    pub(crate) &'static str,
    pub(crate) Class,
    pub(crate) &'static str,
);

/// The fields of one kind of file.
pub(crate) struct Kind {
    /// Its name in messages and on the page.
    pub(crate) name: &'static str,
    /// Tables of fields, of which some kinds have one in common: tab-separated, with a line for each field below the names of the columns.
    tables: &'static [&'static str],
}

/// Fields of words in the place of errors (`apidef/api_definitions.go`, `ErrorOverride`).
const ERROR_OVERRIDES: &str = include_str!("tyk_fields/error_overrides.tsv");
/// Fields of each API that is opened (`user/session.go`, `AccessDefinition`).
const ACCESS_RIGHTS: &str = include_str!("tyk_fields/access_rights.tsv");

/// `tyk.conf` (`config/config.go`).
pub(crate) const CONF: &Kind = &Kind {
    name: "tyk.conf",
    tables: &[include_str!("tyk_fields/conf.tsv"), ERROR_OVERRIDES],
};
/// A classic API definition (`apidef/api_definitions.go`).
pub(crate) const DEFINITION: &Kind = &Kind {
    name: "an API definition",
    tables: &[include_str!("tyk_fields/definition.tsv"), ERROR_OVERRIDES],
};
/// One policy of `policies.json` (`user/policy.go`).
pub(crate) const POLICY: &Kind = &Kind {
    name: "a policy",
    tables: &[include_str!("tyk_fields/policy.tsv"), ACCESS_RIGHTS],
};
/// A session, as the control API takes it (`user/session.go`).
pub(crate) const SESSION: &Kind = &Kind {
    name: "a session",
    tables: &[include_str!("tyk_fields/session.tsv"), ACCESS_RIGHTS],
};

/// Fields of a file that are not supported.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// How many fields say something and are supported.
    pub(crate) supported: usize,
    /// Fields that say something and are ignored.
    pub(crate) ignored: Ignored,
    refused: Problems,
}

impl Verdict {
    /// Nothing, if nothing is refused.
    pub(crate) fn refused_only(self) -> Result<(), Problems> {
        self.refused.or_ok(())
    }

    /// Refused fields, and the account of the file called `name`.
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
    let ways = Ways::of(kind);
    document.with_spelling(&|way| {
        let own = match (named, way) {
            (true, []) => return Box::new(|_| None),
            (true, [_, way @ ..]) => way,
            (false, way) => way,
        };
        let top = ways.top();
        let above = own.iter().fold(top, |at, name| ways.below(&at, name));
        Box::new(move |key| ways.spelling(&above, key).map(str::to_owned))
    })
}

/// Judges every field of a document.
pub(crate) fn judge(kind: &Kind, document: &Document) -> Verdict {
    judge_below(kind, document, &Path::root(), document.root())
}

/// Judges every field of `node`, which lies at `at`.
pub(crate) fn judge_below(kind: &Kind, document: &Document, at: &Path, node: &Node) -> Verdict {
    let ways = Ways::of(kind);
    let mut judge = Judge {
        kind,
        ways,
        document,
        at,
        verdict: Verdict::default(),
    };
    judge.node(&ways.top(), &mut Path::root(), node);
    judge.verdict
}

struct Judge<'a> {
    kind: &'a Kind,
    ways: &'a Ways,
    document: &'a Document,
    at: &'a Path,
    verdict: Verdict,
}

impl Judge<'_> {
    /// `within` is where the way from the top of the file to here stands in the list, `path` the way as it is shown. Depth is bounded by the
    /// parser.
    fn node(&mut self, within: &Within, path: &mut Path, node: &Node) {
        let value = node.value();
        let goes_on =
            matches!(value, Value::Mapping(_) | Value::Sequence(_)) && self.ways.goes_on(within);
        if !goes_on && !path.segments().is_empty() && says_nothing(within, node) {
            return;
        }
        match value {
            Value::Mapping(entries) if goes_on => {
                for entry in entries {
                    let below = self.ways.below(within, entry.key());
                    path.within(Segment::Key(entry.key().to_owned()), |path| {
                        self.entry(within, &below, path, entry.key(), entry.node());
                    });
                }
            }
            Value::Sequence(items) if goes_on => {
                let below = self.ways.below(within, "*");
                for (index, item) in items.iter().enumerate() {
                    path.within(Segment::Index(index), |path| self.node(&below, path, item));
                }
            }
            _ => self.leaf(within, path, node),
        }
    }

    /// A field below which no others are listed.
    fn leaf(&mut self, within: &Within, path: &Path, node: &Node) {
        match within.covering {
            // Of the wrong kind, if there are fields below: which is found when it is decoded.
            Some(Field(_, Class::Supported, _)) => self.verdict.supported += 1,
            None if self.ways.is_read_below(within) => {}
            None => self.refuse(
                path,
                "it holds fields, and this is none: write an object".to_owned(),
            ),
            Some(Field(_, Class::Ignored, _)) => self.ignore(path),
            Some(Field(_, Class::Refused(harmless), note)) => {
                if !harmless.is_some_and(|harmless| is_written(harmless, node)) {
                    self.refuse(
                        path,
                        format!("not supported, and it cannot be ignored: {note}"),
                    );
                }
            }
        }
    }

    fn entry(&mut self, above: &Within, within: &Within, path: &mut Path, name: &str, node: &Node) {
        if within.covering.is_some() || self.ways.goes_on(within) {
            return self.node(within, path, node);
        }
        if is_nothing(node) {
            return self.ignore(path);
        }
        if self.verdict.refused.len() >= MOST_PROBLEMS {
            return self.verdict.refused.count_further(1);
        }
        let known = self.ways.names_below(above);
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

    fn ignore(&mut self, path: &Path) {
        let bytes = path.segments().iter().map(|segment| match segment {
            Segment::Key(key) => key.len(),
            Segment::Index(_) => 1,
        });
        let ignored = &mut self.verdict.ignored;
        ignored.note(bytes.sum(), || path.to_string());
    }

    fn refuse(&mut self, path: &Path, message: String) {
        // The walk is in the order of the file, so those that are listed are there already.
        if self.verdict.refused.len() >= MOST_PROBLEMS {
            return self.verdict.refused.count_further(1);
        }
        let mut whole = self.at.clone();
        for segment in path.segments() {
            whole = match segment {
                Segment::Key(key) => whole.key(key),
                Segment::Index(index) => whole.index(*index),
            };
        }
        let problem = self.document.problem(whole, message);
        self.verdict.refused.extend([problem]);
    }
}

/// Whether a value says nothing. In a list that is refused any entry is something: an empty pattern matches every path.
fn says_nothing(within: &Within, node: &Node) -> bool {
    let is_refused = (within.covering).is_some_and(|field| matches!(field.1, Class::Refused(_)));
    match node.value() {
        Value::Sequence(items) if is_refused => items.is_empty(),
        _ => is_nothing(node),
    }
}

/// Whether a value is written so. A list or an object is not.
fn is_written(harmless: &str, node: &Node) -> bool {
    match node.value() {
        Value::Text(text) => text == harmless,
        Value::Sequence(_) | Value::Mapping(_) => false,
        _ => *node.to_json().to_string() == *harmless,
    }
}

impl Kind {
    /// Every field.
    pub(crate) fn fields(&self) -> impl Iterator<Item = Field> {
        let rows = self.tables.iter().flat_map(|table| table.lines().skip(1));
        rows.filter_map(Field::read)
    }
}

impl Field {
    /// A line of a table: path, class and note.
    fn read(line: &'static str) -> Option<Self> {
        let mut cells = line.split('\t');
        let path = cells.next()?;
        let class = match cells.next()? {
            "supported" => Class::Supported,
            "ignored" => Class::Ignored,
            "refused" => Class::Refused(None),
            other => Class::Refused(Some(other.strip_prefix("refused unless ")?)),
        };
        Some(Self(path, class, cells.next()?))
    }

    fn way(&self) -> impl Iterator<Item = &'static str> {
        self.0.split('.')
    }
}

/// A name as Go compares it: two letters outside of ASCII are folded to `k` and `s`, too (`encoding/json`, `foldName`).
pub(crate) fn folded(name: &str) -> String {
    let fold = |letter: char| match letter {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        letter => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).collect()
}

/// Whether a value is what a field has that nobody wrote.
fn is_nothing(node: &Node) -> bool {
    match node.value() {
        Value::Null | Value::Boolean(false) | Value::Integer(0) => true,
        Value::Boolean(true) | Value::Integer(_) | Value::Negative(_) => false,
        Value::Float(number) => number == 0.0,
        Value::Text(text) => text.is_empty(),
        Value::Sequence(items) => items.iter().all(is_nothing),
        Value::Mapping(entries) => entries.iter().all(|entry| is_nothing(entry.node())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> String {
        let document = Document::parse_json("api.json", text).unwrap();
        let (refused, account) = judge(DEFINITION, &document).into_parts("api.json");
        format!("{refused}\nignored: {}", account.ignored.named.join(", "))
    }

    #[test]
    fn every_line_of_the_tables_is_a_field() {
        for kind in [CONF, DEFINITION, POLICY, SESSION] {
            for line in kind.tables.iter().flat_map(|table| table.lines().skip(1)) {
                assert!(Field::read(line).is_some(), "{}: {line}", kind.name);
            }
        }
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
