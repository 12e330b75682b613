//! Located documents: a user's YAML or JSON file as a tree that knows the line and column of every node.
//!
//! ```text
//! text --Document::parse_yaml--> Document --decode::<Wire>()--> wire struct --(the part's own code)--> domain type
//!                                   \______________ problem(path, message) ______________/
//! ```
//!
//! Every step reports all of its problems at once, as [`Problem`]s with `file:line:column` and what to write instead.
//! Wire structs derive [`deserr::Deserr`] (with `deny_unknown_fields`) and [`schemars::JsonSchema`]; their scalars are
//! the types of [`scalar`]. What the values mean is left to the part that owns the file.

mod allowance;
mod decode;
mod json;
mod overlay;
mod path;
mod problem;
mod rename;
pub mod scalar;
mod tree;
mod twins;
mod yaml;

pub use allowance::{Allowance, Counted};
pub use decode::{FaultCount, Faults, Nulls, Rules, Wire, list, nearest, suggestion};
pub use json::values_in;
pub use path::{Path, Segment};
pub use problem::{MOST_PROBLEMS, Problem, Problems};
pub use rename::{KeySpelling, Spelling};
pub use scalar::{
    BytesText, DurationText, EdgeRateText, Entries, OneOrMany, RateText, Scalar, ShareText, Text,
};

pub use tree::{Entry, Node, Value};
use yaml::Language;

/// The longest text that is parsed, in bytes.
pub const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// The deepest nesting of mappings and lists that is parsed.
pub const MAX_DEPTH: usize = 64;

/// The longest way to a value, in bytes of the keys on it. A hundred problems name their ways, and whoever walks a document copies them.
pub const MAX_WAY_BYTES: usize = 8 * 1024;

/// Message for a key beyond [`MAX_WAY_BYTES`].
fn too_long_a_way() -> String {
    format!(
        "the keys down to this one have more than {MAX_WAY_BYTES} bytes together: write shorter ones"
    )
}

/// A parsed file: a tree of values, each with its position.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where nodes come from: the file first, then one entry for each applied override.
    sources: Vec<String>,
    root: Node,
    /// The length of its text.
    bytes: usize,
    /// The language that its text was read as.
    language: Language,
}

impl Document {
    /// Parses YAML 1.2; JSON is accepted as its subset. `file` is the name that problems carry.
    ///
    /// Plain scalars follow YAML's JSON schema (`true`, `false`, `null`, numbers as in JSON); everything else is text.
    /// Anchors, aliases, tags and several documents in one file are refused.
    ///
    /// # Errors
    /// Text that is not YAML (the parser stops there), duplicate keys, refused features (all at once), and text beyond
    /// [`MAX_TEXT_BYTES`], [`MAX_DEPTH`] or [`MAX_WAY_BYTES`], with too many values for its length, or with too much in brackets.
    pub fn parse_yaml(file: &str, text: &str) -> Result<Self, Problems> {
        let (root, language) = yaml::parse_either(file, text)?;
        Ok(Self {
            sources: vec![file.to_owned()],
            root,
            bytes: text.len(),
            language,
        })
    }

    /// Parses JSON and nothing else (RFC 8259). `file` is the name that problems carry.
    ///
    /// # Errors
    /// Text that is not JSON (the parser stops there), duplicate keys, and text beyond [`MAX_TEXT_BYTES`], [`MAX_DEPTH`]
    /// or [`MAX_WAY_BYTES`], or with too many values for its length.
    pub fn parse_json(file: &str, text: &str) -> Result<Self, Problems> {
        Ok(Self {
            sources: vec![file.to_owned()],
            root: json::parse(file, text)?,
            bytes: text.len(),
            language: Language::Json,
        })
    }

    /// Whether it is what [`Self::parse_json`] makes of its text, however it was parsed.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.language == Language::Json
    }

    /// The length of the text that it was parsed from.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The whole document, to be looked at. [`Document::to_json`] is a copy, and several times as large.
    #[must_use]
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The document without its positions.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        self.root.to_json()
    }

    /// Decodes the whole document, under the strict [`Rules::default`].
    ///
    /// # Errors
    /// Every unknown key, missing key, wrong type and refused value of the document.
    pub fn decode<T: Wire>(&self) -> Result<T, Problems> {
        self.decode_with(Rules::default())
    }

    /// Decodes the whole document under `rules`.
    ///
    /// # Errors
    /// Like [`Document::decode`].
    pub fn decode_with<T: Wire>(&self, rules: Rules<'_>) -> Result<T, Problems> {
        decode::decode(self, rules)
    }

    /// Refuses more of these than `allowance` gives a text of this length: what is made of one may take far more than its node.
    ///
    /// # Errors
    /// The first one beyond them, as a problem.
    pub fn bound(&self, counted: Counted, allowance: Allowance) -> Result<(), Problems> {
        let most = allowance.of(self.bytes);
        let Err(at) = self.root.bound(counted, &mut { most }) else {
            return Ok(());
        };
        let message = allowance.exceeded(counted.name(), self.bytes);
        Err(self.located(at, Path::root(), message).into())
    }

    /// Whether there is a node at `path`.
    #[must_use]
    pub fn contains(&self, path: impl Into<Path>) -> bool {
        self.root.contains(path.into().segments())
    }

    /// The document without the entries at `paths`; paths that lead to no entry of a mapping are passed over.
    ///
    /// For looking further at a document of which parts are refused already.
    #[must_use]
    pub fn without(&self, paths: &[Path]) -> Self {
        let mut remaining = self.clone();
        for path in paths {
            remaining.root.remove(path.segments());
        }
        remaining
    }

    /// The whole number at `path`, where there is one.
    #[must_use]
    pub fn integer(&self, path: impl Into<Path>) -> Option<u64> {
        self.root.integer(path.into().segments())
    }

    /// A problem at the node that `path` names, or at its nearest ancestor that exists.
    ///
    /// A scalar is located at its value, a mapping or list at its key.
    #[must_use]
    pub fn problem(&self, path: impl Into<Path>, message: impl Into<String>) -> Problem {
        let path = path.into();
        let at = self.root.locate(path.segments());
        self.located(at, path, message)
    }

    /// A problem at the key of the node that `path` names.
    #[must_use]
    pub fn key_problem(&self, path: impl Into<Path>, message: impl Into<String>) -> Problem {
        let path = path.into();
        let at = self.root.locate_key(path.segments());
        self.located(at, path, message)
    }

    fn located(&self, at: tree::Position, path: Path, message: impl Into<String>) -> Problem {
        Problem {
            file: self
                .sources
                .get(usize::from(at.source))
                .cloned()
                .unwrap_or_default(),
            line: at.line,
            column: at.column,
            path: path.to_string(),
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use deserr::Deserr;

    use super::*;

    #[derive(Debug, Deserr)]
    #[deserr(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its Debug form is looked at")]
    struct Wire {
        name: String,
        load: Load,
        #[deserr(default)]
        headers: Entries<Text>,
        #[deserr(default)]
        status: Option<OneOrMany<u16>>,
        #[deserr(default)]
        mode: Option<Mode>,
    }

    #[derive(Debug, Deserr)]
    #[deserr(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its Debug form is looked at")]
    struct Load {
        rate: RateText,
        duration: DurationText,
        #[deserr(default)]
        errors: Option<ShareText>,
        #[deserr(default)]
        limit: Option<BytesText>,
    }

    #[derive(Debug, Deserr)]
    #[deserr(rename_all = lowercase)]
    enum Mode {
        Open,
        Closed,
    }

    fn decoded(document: &Document) -> String {
        let rules = Rules {
            later: &["capacity"],
            ..Rules::default()
        };
        match document.decode_with::<Wire>(rules) {
            Ok(wire) => format!("{wire:?}"),
            Err(problems) => problems.to_string(),
        }
    }

    fn decode(text: &str) -> String {
        decoded(&Document::parse_yaml("f.yaml", text).unwrap())
    }

    #[test]
    fn a_whole_document_decodes() {
        insta::assert_snapshot!(decode("
            name: x
            load: { rate: 5000/s, duration: 1m30s, errors: 0.1%, limit: 64KiB }
            headers: { Age: 10, Via: a }
            status: [200, 404]
            mode: closed
            "), @r#"Wire { name: "x", load: Load { rate: RateText(Rate(5000.0)), duration: DurationText(90s), errors: Some(ShareText(0.001)), limit: Some(BytesText(65536)) }, headers: Entries([("Age", Text("10")), ("Via", Text("a"))]), status: Some(OneOrMany([200, 404])), mode: Some(Closed) }"#);
    }

    #[test]
    fn every_problem_is_reported_at_its_place() {
        insta::assert_snapshot!(decode("
name: 5
load:
  rate: 5000
  duration: [1s]
  eror: 1%
  limit: 1.5
headers: { Age: 1.10 }
status: [200, ok, 70000]
mode: half
capacity: {}
extra: 1
"), @r#"
        f.yaml:2:7: name: found the number `5`: write text in quotes, `"5"`
        f.yaml:4:9: load.rate: `5000` has no unit: write `5000/s`, `90/min` or `10/h`
        f.yaml:5:3: load.duration: found a list: write `250ms`, `2s` or `1m30s`
        f.yaml:6:3: load.eror: unknown key `eror`: did you mean `errors`?
        f.yaml:7:10: load.limit: `1.5` is not a size: write `32KiB`, `10MB` or `512`
        f.yaml:8:17: headers.Age: found the number `1.1`: write text in quotes, `"1.1"`
        f.yaml:9:15: status[1]: found the text `ok`: write a whole number such as `10`
        f.yaml:9:19: status[2]: `70000` is too large: write at most 65535
        f.yaml:10:7: mode: unknown value `half`: write `open` or `closed`
        f.yaml:11:1: capacity: `capacity` is not available in this version: write `name`, `load`, `headers`, `status` or `mode`
        f.yaml:12:1: extra: unknown key `extra`: write `name`, `load`, `headers`, `status` or `mode`
        "#);
        insta::assert_snapshot!(decode("name: x\nload:\n"), @"f.yaml:2:1: load: has no value: write one, or remove the key");
        insta::assert_snapshot!(decode("[]"), @"f.yaml:1:1: found a list: write a mapping, `{ key: value }`");
        insta::assert_snapshot!(decode("name: x\nload: { rate: 1/s }\n"), @"f.yaml:2:1: load: the key `duration` is missing: add it");
    }

    #[test]
    fn problems_beyond_many_are_counted() {
        let keys: String = (0..500).map(|key| format!("k{key}: 1\n")).collect();
        let nulls: String = (0..500).map(|key| format!("k{key}:\n")).collect();
        let twice = "k: 1\n".repeat(501);
        let steps = format!("status: [{}ok]\n", "ok,".repeat(499));
        let decoded = |text: &str| match Document::parse_yaml("f.yaml", text) {
            Ok(document) => document.decode::<Wire>().unwrap_err(),
            Err(problems) => problems,
        };
        // Two keys are missing beside the unknown ones; one without a value is not named again for being unknown, as far as both are listed.
        for (text, count) in [(keys, 502), (nulls, 902), (twice, 500), (steps, 502)] {
            let problems = decoded(&text);
            assert_eq!(problems.iter().count(), MOST_PROBLEMS, "{problems}");
            assert_eq!(problems.len(), count, "{problems}");
            let last = format!("\nand {} further problems", count - MOST_PROBLEMS);
            assert!(problems.to_string().ends_with(&last), "{problems}");
        }
    }

    #[test]
    fn what_is_in_a_document_can_be_bounded() {
        let text = "a: [1, { b: { c: 2 } }]\nd: { e: {} }\nf:\n  - []\n";
        let document = Document::parse_yaml("f.yaml", text).unwrap();
        let refused = |counted, any| {
            let allowance = Allowance {
                any,
                bytes_each: 1000,
            };
            let refused = document.bound(counted, allowance);
            refused.err().map(|problems| problems.to_string())
        };
        let counts = [
            (Counted::Values, 10),
            (Counted::Collections, 8),
            (Counted::Records, 2),
        ];
        for (counted, count) in counts {
            assert_eq!(refused(counted, count), None, "{counted:?}");
        }
        let refused =
            counts.map(|(counted, count)| refused(counted, count - 1).unwrap_or_default());
        insta::assert_snapshot!(refused.join("\n"), @r"
        f.yaml:4:5: more than 9 values in 47 bytes: leave out what is not needed, or write several files
        f.yaml:4:5: more than 7 mappings and lists in 47 bytes: leave out what is not needed, or write several files
        f.yaml:2:9: more than 1 entries such as steps, routes, arms or paths in 47 bytes: leave out what is not needed, or write several files
        ");
    }

    #[test]
    fn semantic_problems_are_located_at_the_nearest_node() {
        let document = Document::parse_yaml("f.yaml", "a:\n  b: 1\n  c: [x, { d: 2 }]\n").unwrap();
        let problems: Problems = [
            document.problem("a.b", "value"),
            document.key_problem("a.b", "key"),
            document.problem("a", "mapping"),
            document.problem("a.c[1]", "item"),
            document.problem("a.c[1].d.e", "below a scalar"),
            document.problem("a.x.y", "absent"),
            document.problem(Path::root().key("z.z"), "absent, with a dot"),
        ]
        .into_iter()
        .collect();
        insta::assert_snapshot!(problems, @r#"
        f.yaml:1:1: ["z.z"]: absent, with a dot
        f.yaml:1:1: a: mapping
        f.yaml:1:1: a.x.y: absent
        f.yaml:2:3: a.b: key
        f.yaml:2:6: a.b: value
        f.yaml:3:10: a.c[1]: item
        f.yaml:3:15: a.c[1].d.e: below a scalar
        "#);
    }

    #[test]
    fn parts_of_a_document_can_be_asked_for_and_left_out() {
        let document = Document::parse_yaml("f.yaml", "a: { b: 1, c: x }\nd: [2]\n").unwrap();
        assert_eq!(
            (
                document.integer("a.b"),
                document.integer("a.c"),
                document.integer("d[0]")
            ),
            (Some(1), None, Some(2))
        );
        let rest = document.without(&[Path::from("a.b"), Path::from("d[0]"), Path::from("x.y")]);
        assert!(!rest.contains("a.b") && rest.contains("a.c") && rest.contains("d[0]"));
    }

    #[test]
    fn formats_with_a_null_of_their_own_may_allow_it() {
        let document = Document::parse_yaml("f.json", "{\"a\": null}").unwrap();
        let rules = Rules {
            nulls: Nulls::Allowed,
            ..Rules::default()
        };
        assert_eq!(
            document
                .decode_with::<Entries<Option<u8>>>(rules)
                .unwrap()
                .0,
            [("a".to_owned(), None)]
        );
        assert!(document.decode::<Entries<Option<u8>>>().is_err());
    }

    #[test]
    fn overrides_replace_values_and_are_named_in_problems() {
        let mut document =
            Document::parse_yaml("f.yaml", "name: x\nload: { rate: 1/s, duration: 1s }\n").unwrap();
        document.set("--set", "load.rate=100/s").unwrap();
        document.set("--set", "headers.Via=y").unwrap();
        insta::assert_snapshot!(decoded(&document), @r#"Wire { name: "x", load: Load { rate: RateText(Rate(100.0)), duration: DurationText(1s), errors: None, limit: None }, headers: Entries([("Via", Text("y"))]), status: None, mode: None }"#);
        document.set("--set", "load.duration=5").unwrap();
        insta::assert_snapshot!(decoded(&document), @"--set load.duration=5: load.duration: `5` has no unit: write `250ms`, `2s` or `1m30s`");
        let refused = [
            "load.rate",
            "=1",
            "load..x=1",
            "name.x=1",
            "load[0]=1",
            "name={",
            "status[0]=1",
        ]
        .map(|text| document.set("--set", text).unwrap_err().to_string());
        insta::assert_snapshot!(refused.join("\n"), @r"
        --set load.rate: has no `=`: write `path=value`, for instance `load.rate=100/s`
        --set =1: `` is not a path: write for instance `load.rate` or `scenario[0].get`
        --set load..x=1: `load..x` is not a path: write for instance `load.rate` or `scenario[0].get`
        --set name.x=1: `name` is not a mapping, so it has no `x`
        --set load[0]=1: `load` is not a list, so it takes no index
        --set name={: not valid YAML here: while parsing a node, did not find expected node content
        --set status[0]=1: `status` is not a list, so it takes no index
        ");
    }
}
