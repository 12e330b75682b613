//! `{"matchesXPath": "path"}` or `{"matchesXPath": {"expression": "path", …a pattern…}}`, with `xPathNamespaces`: XPath 1.0.
//!
//! Without a pattern some node must be found. With one, one of the nodes must match: an element as XML, anything else as its text.

use super::{Matcher, no_operator};
use crate::budget::{Budget, TooCostly};
use crate::document::xml::naming::Naming;
use crate::document::xml::path::{Failure, XPath, XPathResult, shown};
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use crate::request::misread::Misread;
use serde_json::Value;

/// Steps that patterns on nodes may take in any document, and one more for every ten bytes.
const FOUND: usize = 300_000;
/// Steps that a pattern on a node takes beside one for each of its bytes.
const COST_OF_A_NODE: usize = 8;

/// A path and what is wanted there.
#[derive(Debug, Clone)]
pub struct MatchesXPath {
    path: XPath,
    pattern: Option<Matcher>,
}

pub(super) fn read(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let namespaces = object.get("xPathNamespaces");
    let namespaces = namespaces.map_or_else(Vec::new, |node| node.entries(problems));
    let uri = |(prefix, node): (&str, Node<'_>)| Some((prefix.to_owned(), node.string(problems)?));
    let prefixes: Vec<_> = namespaces.into_iter().filter_map(uri).collect();
    let naming = if prefixes.is_empty() {
        Naming::Written
    } else {
        Naming::Expanded(prefixes)
    };
    let read = match operand.value {
        Value::Object(_) => read_with_pattern(operand, naming, problems)?,
        _ => MatchesXPath {
            path: read_path(operand, naming, problems)?,
            pattern: None,
        },
    };
    Some(Matcher::MatchesXPath(Box::new(read)))
}

fn read_with_pattern(
    operand: &Node<'_>,
    naming: Naming,
    problems: &mut Problems,
) -> Option<MatchesXPath> {
    let mut object = operand.object(problems)?;
    let Some(expression) = object.get("expression") else {
        no_operator(operand, problems);
        return None;
    };
    let path = read_path(&expression, naming, problems);
    let pattern = if object.has_others() {
        Some(Matcher::read_from(operand, object, problems)?)
    } else {
        None
    };
    Some(MatchesXPath {
        path: path?,
        pattern,
    })
}

fn read_path(node: &Node<'_>, naming: Naming, problems: &mut Problems) -> Option<XPath> {
    let text = node.string(problems)?;
    match XPath::compile(&text, naming) {
        Ok(path) => Some(path),
        Err(message) => {
            let message = format!("not an XPath that can be used here: {message}");
            problems.push(StubProblem::invalid(&node.pointer, message));
            None
        }
    }
}

impl MatchesXPath {
    pub(super) fn holds(&self, value: &Content<'_>) -> Result<bool, TooCostly> {
        let Some(document) = value.xml()? else {
            value.note_misread(Misread::XPATH);
            return Ok(false);
        };
        let found = match self.path.find(document) {
            Ok(found) => found,
            // An expression that fails matches nothing, as in WireMock.
            Err(Failure::Invalid(_)) => return Ok(false),
            Err(Failure::TooCostly(costly)) => return Err(costly),
        };
        let Some(pattern) = &self.pattern else {
            return Ok(!matches!(found, XPathResult::Nodes(places) if places.is_empty()));
        };
        let places = match found {
            XPathResult::Nodes(places) => places,
            XPathResult::Text(text) => return pattern.holds(Some(&Content::text_of(text))),
        };
        // What was found may stand within each other.
        let budget = Budget::of(FOUND + document.byte_count() / 10);
        for place in places {
            budget.spend(COST_OF_A_NODE + document.bytes(place))?;
            if pattern.holds(Some(&Content::text_of(shown(document, place))))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The text of what is found first.
    pub(super) fn found(&self, value: &Content<'_>) -> Option<String> {
        let document = value.xml().ok()??;
        match self.path.find(document).ok()? {
            XPathResult::Nodes(places) => places.first().map(|place| shown(document, *place)),
            XPathResult::Text(text) => Some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn something_must_be_found() {
        let pattern = r#"{"matchesXPath": "//a[@b = '1']"}"#;
        check(pattern, Some("<x><a b='1'/></x>"), true);
        check(pattern, Some("<x><a b='2'/></x>"), false);
        check(pattern, Some("no xml"), false);
        check(r#"{"matchesXPath": "count(//a)"}"#, Some("<a/>"), true);
        assert!(refused(r#"{"matchesXPath": "//["}"#).contains("not an XPath"));
    }

    #[test]
    fn what_is_found_must_match() {
        let text = r#"{"matchesXPath": {"expression": "//a/text()", "contains": "x"}}"#;
        check(text, Some("<r><a>y</a><a>wxy</a></r>"), true);
        check(text, Some("<r><a>y</a></r>"), false);
        let xml = r#"{"matchesXPath": {"expression": "//a", "equalToXml": "<a><b/></a>"}}"#;
        check(xml, Some("<r><a><b/></a></r>"), true);
        let spaces = r#"{"matchesXPath": "//s:a", "xPathNamespaces": {"s": "urn:s"}}"#;
        check(spaces, Some("<t:a xmlns:t='urn:s'/>"), true);
        check(spaces, Some("<s:a xmlns:s='urn:t'/>"), false);
    }
}
