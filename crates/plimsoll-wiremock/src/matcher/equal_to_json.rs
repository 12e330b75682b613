//! `{"equalToJson": json or "text", "ignoreArrayOrder": false, "ignoreExtraElements": false}`: the same JSON, as JsonUnit compares.

use super::Matcher;
use crate::budget::TooCostly;
use crate::document::json::equality::Expected;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use crate::request::misread::Misread;
use serde_json::Value;

/// The expected document, prepared.
#[derive(Debug, Clone)]
pub struct EqualToJson(Expected);

pub(super) fn read(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let mut flag = |name| {
        let node = object.get(name);
        node.and_then(|node| node.boolean(problems)) == Some(true)
    };
    let (any_order, extra) = (flag("ignoreArrayOrder"), flag("ignoreExtraElements"));
    let document = document_of(operand, problems)?;
    match Expected::prepare(&document, any_order.into(), extra.into()) {
        Ok(expected) => Some(Matcher::EqualToJson(Box::new(EqualToJson(expected)))),
        Err(message) => {
            problems.push(StubProblem::invalid(&operand.pointer, message));
            None
        }
    }
}

/// A document that is written as JSON, or as a text of it.
pub(super) fn document_of(operand: &Node<'_>, problems: &mut Problems) -> Option<Value> {
    let Value::String(text) = operand.value else {
        return Some(operand.value.clone());
    };
    match serde_json::from_str(text) {
        Ok(document) => Some(document),
        Err(error) => {
            let message = format!("not JSON: {error}");
            problems.push(StubProblem::invalid(&operand.pointer, message));
            None
        }
    }
}

impl EqualToJson {
    pub(super) fn holds(&self, value: &Content<'_>) -> Result<bool, TooCostly> {
        match value.json()? {
            Some(actual) => self.0.holds(actual, value.bytes().len()),
            None => {
                value.note_misread(Misread::JSON);
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
        let pattern = r#"{"equalToJson": "{\"a\": [1, 2.0]}"}"#;
        check(pattern, Some(r#"{ "a" : [1.0, 2] }"#), true);
        check(pattern, Some(r#"{"a": [2, 1]}"#), false);
        check(pattern, Some("{"), false);
        let pattern = r#"{"equalToJson": {"a": [1, 2]}, "ignoreArrayOrder": true, "ignoreExtraElements": true}"#;
        check(pattern, Some(r#"{"a": [3, 2, 1], "b": 1}"#), true);
        assert!(refused(r#"{"equalToJson": "{"}"#).starts_with("/equalToJson: not JSON"));
    }
}
