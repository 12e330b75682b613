//! Content patterns: predicates on one value, which may be missing. Each operator is a file of its own; this one lists them.
//!
//! How the several values of a header or parameter are treated is left to `several`.

mod absent;
mod anything;
mod before_after;
mod binary_equal_to;
mod combined;
mod contains;
pub mod edit_distance;
mod equal_to;
mod equal_to_json;
mod equal_to_xml;
mod matches;
mod matches_json_path;
mod matches_json_schema;
mod matches_path_template;
mod matches_xpath;
mod negated;
pub(crate) mod path_template;
pub(crate) mod several;

use crate::budget::{Budget, TooCostly};
use crate::java::regex::JavaRegex;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use before_after::BeforeAfter;
use binary_equal_to::BinaryEqualTo;
use combined::Combined;
use contains::Contains;
use equal_to::EqualTo;
use equal_to_json::EqualToJson;
use equal_to_xml::EqualToXml;
use matches::Matches;
use matches_json_path::MatchesJsonPath;
use matches_json_schema::MatchesJsonSchema;
use matches_path_template::MatchesPathTemplate;
use matches_xpath::MatchesXPath;
use negated::Negated;
use serde_json::Value;

/// A content pattern.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// `absent`.
    Absent,
    /// `anything`.
    Anything,
    /// `before`, `after` and `equalToDateTime`.
    BeforeAfter(Box<BeforeAfter>),
    /// `binaryEqualTo`.
    BinaryEqualTo(BinaryEqualTo),
    /// `and` and `or`.
    Combined(Combined),
    /// `contains` and `doesNotContain`.
    Contains(Contains),
    /// `equalTo`.
    EqualTo(EqualTo),
    /// `equalToJson`.
    EqualToJson(Box<EqualToJson>),
    /// `equalToXml`.
    EqualToXml(EqualToXml),
    /// `matches` and `doesNotMatch`.
    Matches(Matches),
    /// `matchesJsonPath`.
    MatchesJsonPath(Box<MatchesJsonPath>),
    /// `matchesJsonSchema`.
    MatchesJsonSchema(MatchesJsonSchema),
    /// `matchesPathTemplate`.
    MatchesPathTemplate(MatchesPathTemplate),
    /// `matchesXPath`.
    MatchesXPath(Box<MatchesXPath>),
    /// `not`.
    Negated(Negated),
}

/// Weight of a pattern that reads a value as a document or a date, beside those that look at its bytes.
const WEIGHT_OF_READING: usize = 8;

/// How an operator reads its operand (and its options from the object around it).
type Read = fn(&Node<'_>, &mut Object<'_>, &mut Problems) -> Option<Matcher>;

/// The operators of this version.
const OPERATORS: &[(&str, Read)] = &[
    ("absent", absent::read),
    ("after", before_after::read_after),
    ("and", combined::read_and),
    ("anything", anything::read),
    ("before", before_after::read_before),
    ("binaryEqualTo", binary_equal_to::read),
    ("contains", contains::read),
    ("doesNotContain", negated::read_does_not_contain),
    ("doesNotMatch", negated::read_does_not_match),
    ("equalTo", equal_to::read),
    ("equalToDateTime", before_after::read_equal),
    ("equalToJson", equal_to_json::read),
    ("equalToXml", equal_to_xml::read),
    ("matches", matches::read),
    ("matchesJsonPath", matches_json_path::read),
    ("matchesJsonSchema", matches_json_schema::read),
    ("matchesPathTemplate", matches_path_template::read),
    ("matchesXPath", matches_xpath::read),
    ("not", negated::read_not),
    ("or", combined::read_or),
];

impl Matcher {
    /// Reads one pattern object: exactly one operator, with its options.
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let Value::Object(_) = node.value else {
            return no_operator(node, problems);
        };
        Self::read_from(node, node.object(problems)?, problems)
    }

    /// Whether this is the name of an operator.
    pub fn is_operator(name: &str) -> bool {
        OPERATORS.iter().any(|(own, _)| *own == name)
    }

    /// The pattern of these credentials (RFC 7617): the name of the scheme in any case, the rest exactly.
    pub fn basic_credentials(encoded: &str) -> Result<Self, String> {
        let regex = JavaRegex::compile(&format!(r"(?i:Basic) \Q{encoded}\E"))?;
        Ok(Self::Matches(Matches::new(regex)))
    }

    /// Reads a matcher of an object some of whose properties have been read already.
    fn read_from(node: &Node<'_>, mut object: Object<'_>, problems: &mut Problems) -> Option<Self> {
        if let Some(name) = OF_TEXTS.iter().find(|name| is_no_text(node, name)) {
            let message = format!("{name} operand must be a non-null string");
            problems.push(StubProblem::invalid(&node.pointer, message));
            return None;
        }
        let mut found = Vec::new();
        for &(name, read) in OPERATORS {
            if let Some(operand) = object.get(name) {
                found.push(read(&operand, &mut object, problems));
            }
        }
        if found.is_empty() {
            return no_operator(node, problems);
        }
        object.finish(&[], problems);
        if found.len() > 1 {
            let message = "more than one match operator: write one";
            problems.push(StubProblem::invalid(&node.pointer, message));
        }
        found.pop().flatten()
    }

    /// Weight of judging a short value, beside others.
    fn weight(&self) -> usize {
        match self {
            Self::Absent
            | Self::Anything
            | Self::BinaryEqualTo(_)
            | Self::Contains(_)
            | Self::EqualTo(_)
            | Self::MatchesPathTemplate(_) => 1,
            Self::Matches(matches) => matches.weight(),
            Self::BeforeAfter(_)
            | Self::EqualToJson(_)
            | Self::EqualToXml(_)
            | Self::MatchesJsonPath(_)
            | Self::MatchesJsonSchema(_)
            | Self::MatchesXPath(_) => WEIGHT_OF_READING,
            Self::Combined(combined) => combined.weight(),
            Self::Negated(negated) => negated.weight(),
        }
    }

    /// How far a value is from matching: 0 if it does, at most 1. Texts that should be equal are as far as the edits between them.
    pub fn distance(&self, value: Option<&Content<'_>>, budget: &Budget) -> Result<f64, TooCostly> {
        if self.holds(value)? {
            return Ok(0.0);
        }
        match (self, value) {
            (Self::EqualTo(equal_to), Some(value)) => equal_to.distance(&value.text(), budget),
            _ => Ok(1.0),
        }
    }

    /// The text of what a path finds in a value; `None` where the pattern has no path, or finds nothing.
    pub fn found(&self, value: &Content<'_>) -> Option<String> {
        match self {
            Self::MatchesJsonPath(path) => path.found(value),
            Self::MatchesXPath(path) => path.found(value),
            _ => None,
        }
    }

    /// Whether a value matches; `None` is one that is not there.
    pub fn holds(&self, value: Option<&Content<'_>>) -> Result<bool, TooCostly> {
        match value {
            Some(content) => content.judged(self, || self.judge(value)),
            None => self.judge(None),
        }
    }

    fn judge(&self, value: Option<&Content<'_>>) -> Result<bool, TooCostly> {
        let here = match self {
            Self::Absent => return Ok(value.is_none()),
            Self::Anything => return Ok(true),
            Self::Combined(combined) => return combined.holds(value),
            Self::Negated(negated) => return negated.holds(value),
            Self::MatchesJsonPath(path) => return path.holds(value),
            _ => value,
        };
        let Some(value) = here else {
            return Ok(false);
        };
        match self {
            Self::BeforeAfter(before_after) => Ok(before_after.holds(value)),
            Self::BinaryEqualTo(equal_to) => Ok(equal_to.holds(value)),
            Self::Contains(contains) => Ok(contains.holds(value.bytes())),
            Self::EqualTo(equal_to) => Ok(equal_to.holds(value.bytes())),
            Self::EqualToJson(equal_to) => equal_to.holds(value),
            Self::EqualToXml(equal_to) => equal_to.holds(value),
            Self::Matches(matches) => matches.holds(value.bytes()),
            Self::MatchesJsonSchema(schema) => schema.holds(value),
            Self::MatchesPathTemplate(template) => template.holds(value),
            Self::MatchesXPath(path) => path.holds(value),
            Self::Absent
            | Self::Anything
            | Self::Combined(_)
            | Self::Negated(_)
            | Self::MatchesJsonPath(_) => Ok(false),
        }
    }
}

/// Operators whose operand is a text; of any other WireMock says this of the pattern as a whole.
const OF_TEXTS: [&str; 5] = [
    "contains",
    "doesNotContain",
    "doesNotMatch",
    "equalTo",
    "matches",
];

/// Whether a pattern has this operator with something else than a text.
fn is_no_text(node: &Node<'_>, operator: &str) -> bool {
    let operand = node.value.get(operator);
    operand.is_some_and(|operand| !operand.is_string())
}

fn no_operator(node: &Node<'_>, problems: &mut Problems) -> Option<Matcher> {
    let message = format!("{} is not a valid match operation", node.value);
    problems.push(StubProblem::invalid(&node.pointer, message));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the pattern and holds it against a value.
    pub(super) fn check(pattern: &str, value: Option<&str>, expected: bool) {
        let document = serde_json::from_str(pattern).unwrap();
        let mut problems = Problems::new();
        let matcher = Matcher::read(&Node::root(&document), &mut problems);
        assert_eq!(problems, [], "{pattern}");
        let content = value.map(|value| Content::of(value.as_bytes()));
        let actual = matcher.unwrap().holds(content.as_ref());
        assert_eq!(actual, Ok(expected), "{pattern} on {value:?}");
    }

    /// Reads a pattern that is refused; its problems.
    pub(super) fn refused(pattern: &str) -> String {
        let document = serde_json::from_str(pattern).unwrap();
        let mut problems = Problems::new();
        Matcher::read(&Node::root(&document), &mut problems);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        shown.join("\n")
    }

    #[test]
    fn an_operand_that_is_no_text_is_told_as_wiremock_tells_it() {
        let words = "contains operand must be a non-null string";
        for operand in ["null", "12", "true", "{}"] {
            let told = refused(&format!(r#"{{"contains": {operand}}}"#));
            assert_eq!(told, words, "{operand}");
        }
        assert!(refused(r#"{"holds": null}"#).ends_with("is not a valid match operation"));
    }

    #[test]
    fn a_value_that_is_missing_matches_only_what_says_so() {
        for (pattern, expected) in [
            (r#"{"absent": true}"#, true),
            (r#"{"absent": false}"#, true),
            (r#"{"anything": "(always)"}"#, true),
            (r#"{"equalTo": ""}"#, false),
            (r#"{"contains": ""}"#, false),
            (r#"{"matches": ".*"}"#, false),
            (r#"{"doesNotContain": "x"}"#, true),
            (r#"{"not": {"equalTo": "x"}}"#, true),
            (r#"{"or": [{"absent": true}, {"equalTo": "x"}]}"#, true),
            (r#"{"and": [{"absent": true}, {"equalTo": "x"}]}"#, false),
        ] {
            check(pattern, None, expected);
        }
        check(r#"{"absent": true}"#, Some(""), false);
    }
}
