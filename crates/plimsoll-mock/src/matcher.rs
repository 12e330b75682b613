//! Content patterns: predicates on the values of a header. Each operator is a file of its own; this one lists them.
//!
//! Multi-valued rule of WireMock: a pattern holds when any value matches; `absent` holds when there is no value.

mod absent;
mod contains;
mod equal_to;
mod matches;

use crate::java_regex::TooCostly;
use crate::stub::problem::StubProblem;
use crate::stub::reader::{Node, Object, Problems};
use contains::Contains;
use equal_to::EqualTo;
use matches::Matches;
use serde_json::Value;

/// A content pattern.
#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    Absent,
    Contains(Contains),
    EqualTo(EqualTo),
    Matches(Matches),
}

/// How an operator reads its operand (and its options from the object around it).
type Read = fn(&Node<'_>, &mut Object<'_>, &mut Problems) -> Option<Matcher>;

/// The operators of this version.
const OPERATORS: &[(&str, Read)] = &[
    ("absent", absent::read),
    ("contains", contains::read),
    ("equalTo", equal_to::read),
    ("matches", matches::read),
];

/// The operators and options of WireMock 3.13 that this version does not have.
const LATER: &[&str] = &[
    "actualFormat",
    "after",
    "and",
    "anything",
    "applyTruncationLast",
    "before",
    "binaryEqualTo",
    "doesNotContain",
    "doesNotMatch",
    "enablePlaceholders",
    "equalToDateTime",
    "equalToJson",
    "equalToXml",
    "exemptedComparisons",
    "expectedOffset",
    "expectedOffsetUnit",
    "hasExactly",
    "ignoreArrayOrder",
    "ignoreExtraElements",
    "ignoreOrderOfSameNode",
    "includes",
    "matchesJsonPath",
    "matchesJsonSchema",
    "matchesPathTemplate",
    "matchesXPath",
    "namespaceAwareness",
    "not",
    "or",
    "placeholderClosingDelimiterRegex",
    "placeholderOpeningDelimiterRegex",
    "schemaVersion",
    "truncateActual",
    "truncateExpected",
    "xPathNamespaces",
];

impl Matcher {
    /// Reads one pattern object: exactly one operator, with its options.
    pub(crate) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let no_operator = |problems: &mut Problems| {
            let message = format!("{} is not a valid match operation", node.value);
            problems.push(StubProblem::invalid(&node.pointer, message));
            None
        };
        let mut object = match node.value {
            Value::Object(_) => node.object(problems)?,
            _ => return no_operator(problems),
        };
        let mut found = Vec::new();
        for &(name, read) in OPERATORS {
            if let Some(operand) = object.get(name) {
                found.push(read(&operand, &mut object, problems));
            }
        }
        if found.is_empty() && !object.has_any(LATER) {
            return no_operator(problems);
        }
        object.finish(LATER, problems);
        if found.len() > 1 {
            let message = "more than one match operator: write one";
            problems.push(StubProblem::invalid(&node.pointer, message));
        }
        found.pop().flatten()
    }

    /// Whether the values of one header match.
    pub(crate) fn holds<'a>(
        &self,
        mut values: impl Iterator<Item = &'a [u8]>,
    ) -> Result<bool, TooCostly> {
        Ok(match self {
            Self::Absent => values.next().is_none(),
            Self::Contains(contains) => values.any(|value| contains.holds(value)),
            Self::EqualTo(equal_to) => values.any(|value| equal_to.holds(value)),
            Self::Matches(matches) => {
                for value in values {
                    if matches.holds(value)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, values: &[&str], expected: bool) {
        let value = serde_json::from_str(pattern).unwrap();
        let mut problems = Problems::new();
        let matcher = Matcher::read(&Node::root(&value), &mut problems);
        assert_eq!(problems, [], "{pattern}");
        let actual = matcher
            .unwrap()
            .holds(values.iter().map(|value| value.as_bytes()));
        assert_eq!(actual.unwrap(), expected, "{pattern} on {values:?}");
    }

    #[test]
    fn any_value_may_match() {
        check(r#"{"equalTo": "b"}"#, &["a", "b"], true);
        check(r#"{"equalTo": "b"}"#, &["a", "B"], false);
        check(r#"{"equalTo": "b"}"#, &[], false);
        check(r#"{"contains": "ell"}"#, &["x", "hello"], true);
        check(r#"{"matches": "[0-9]+"}"#, &["x", "12"], true);
    }

    #[test]
    fn absent_needs_no_value_whatever_its_operand() {
        check(r#"{"absent": true}"#, &[], true);
        check(r#"{"absent": false}"#, &[], true);
        check(r#"{"absent": true}"#, &[""], false);
    }
}
