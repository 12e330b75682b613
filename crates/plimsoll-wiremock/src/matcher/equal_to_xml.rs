//! `{"equalToXml": "<a/>", …options}`: the same XML, as XMLUnit compares.

use super::Matcher;
use crate::budget::TooCostly;
use crate::document::xml::Document;
use crate::document::xml::equality::{Awareness, COMPARISONS, Expected, Placeholders, Rules};
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use crate::request::misread::Misread;
use std::sync::Arc;

/// The expected document, prepared.
#[derive(Debug, Clone)]
pub struct EqualToXml(Arc<Expected>);

pub(super) fn read(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let rules = read_rules(object, problems);
    let text = operand.string(problems)?;
    let document = Document::parse(&text).map_err(|message| format!("not XML: {message}"));
    let prepared = document.and_then(|document| Expected::prepare(document, rules?));
    match prepared {
        Ok(expected) => Some(Matcher::EqualToXml(EqualToXml(Arc::new(expected)))),
        Err(message) => {
            problems.push(StubProblem::invalid(&operand.pointer, message));
            None
        }
    }
}

fn read_rules(object: &mut Object<'_>, problems: &mut Problems) -> Result<Rules, String> {
    let mut flag = |name| {
        let node = object.get(name);
        node.and_then(|node| node.boolean(problems)) == Some(true)
    };
    let (enabled, by_text) = (flag("enablePlaceholders"), flag("ignoreOrderOfSameNode"));
    let awareness = object.get("namespaceAwareness");
    let awareness = awareness.and_then(|node| read_awareness(&node, problems));
    let exempted = object.get("exemptedComparisons");
    let exempted = exempted.map_or_else(Vec::new, |node| node.items(problems));
    let mut text = |name| {
        let node = object.get(name);
        node.and_then(|node| node.string(problems))
            .unwrap_or_default()
    };
    let open = text("placeholderOpeningDelimiterRegex");
    let close = text("placeholderClosingDelimiterRegex");
    let placeholders = enabled
        .then(|| Placeholders::between(&open, &close))
        .transpose()?;
    let exempted = exempted.iter();
    Ok(Rules {
        awareness: awareness.unwrap_or_default(),
        exempted: exempted
            .filter_map(|node| read_comparison(node, problems))
            .collect(),
        by_text,
        placeholders,
    })
}

fn read_awareness(node: &Node<'_>, problems: &mut Problems) -> Option<Awareness> {
    match node.value.as_str() {
        Some("STRICT") => Some(Awareness::Strict),
        Some("LEGACY") => Some(Awareness::Legacy),
        Some("NONE") => Some(Awareness::None),
        _ => node.wrong("\"STRICT\", \"LEGACY\" or \"NONE\"", problems),
    }
}

fn read_comparison(node: &Node<'_>, problems: &mut Problems) -> Option<String> {
    let name = node.string(problems)?;
    if COMPARISONS.contains(&name.as_str()) {
        return Some(name);
    }
    node.wrong("the name of one of XMLUnit's comparisons", problems)
}

impl EqualToXml {
    pub(super) fn holds(&self, value: &Content<'_>) -> Result<bool, TooCostly> {
        match value.xml()? {
            Some(actual) => self.0.holds(actual),
            None => {
                value.note_misread(Misread::XML);
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn documents_are_compared() {
        let pattern = r#"{"equalToXml": "<a><b/><c>1</c></a>"}"#;
        check(pattern, Some("<a> <c> 1 </c> <b/> </a>"), true);
        check(pattern, Some("<a><c>2</c><b/></a>"), false);
        check(pattern, Some("<a>"), false);
        check(pattern, Some(""), false);
        let options = r#"{"equalToXml": "<a>[[xmlunit.ignore]]</a>", "enablePlaceholders": true,
            "placeholderOpeningDelimiterRegex": "\\[\\[", "placeholderClosingDelimiterRegex": "\\]\\]",
            "exemptedComparisons": ["ELEMENT_NUM_ATTRIBUTES"], "ignoreOrderOfSameNode": true, "namespaceAwareness": "LEGACY"}"#;
        check(options, Some("<a b='1'>x</a>"), true);
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for (pattern, expected) in [
            (r#"{"equalToXml": "<a>"}"#, "/equalToXml: not XML"),
            (
                r#"{"equalToXml": "<a/>", "namespaceAwareness": "SOME"}"#,
                "/namespaceAwareness: must be",
            ),
            (
                r#"{"equalToXml": "<a/>", "exemptedComparisons": ["X"]}"#,
                "/exemptedComparisons/0: must be",
            ),
            (
                r#"{"equalToXml": "<a>${xmlunit.matchesRegex([)}</a>", "enablePlaceholders": true}"#,
                "/equalToXml: not a regular expression",
            ),
        ] {
            assert!(
                refused(pattern).starts_with(expected),
                "{}",
                refused(pattern)
            );
        }
    }
}
