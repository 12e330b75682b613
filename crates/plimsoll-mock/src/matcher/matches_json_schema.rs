//! `{"matchesJsonSchema": schema or "text", "schemaVersion": "V202012"}`: the value is JSON that the schema allows.
//!
//! A value that is not JSON is taken for a JSON string, as in WireMock.

use super::{Matcher, equal_to_json};
use crate::budget::TooCostly;
use crate::content::Content;
use crate::stub::problem::StubProblem;
use crate::stub::reader::{Node, Object, Problems};
use jsonschema::{Draft, Validator};
use serde_json::Value;
use std::sync::Arc;

/// WireMock's names of the drafts. A schema's own `$schema` does not count.
const VERSIONS: &[(&str, Draft)] = &[
    ("V4", Draft::Draft4),
    ("V6", Draft::Draft6),
    ("V7", Draft::Draft7),
    ("V201909", Draft::Draft201909),
    ("V202012", Draft::Draft202012),
];

/// A compiled schema.
#[derive(Debug, Clone)]
pub(crate) struct MatchesJsonSchema(Arc<Validator>);

pub(super) fn read(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let draft = match object.get("schemaVersion") {
        Some(node) => read_version(&node, problems),
        None => Some(Draft::Draft202012),
    };
    let schema = equal_to_json::document_of(operand, problems)?;
    match jsonschema::options().with_draft(draft?).build(&schema) {
        Ok(validator) => Some(Matcher::MatchesJsonSchema(MatchesJsonSchema(Arc::new(
            validator,
        )))),
        Err(error) => {
            let message = format!("not a JSON Schema that can be used here: {error}");
            problems.push(StubProblem::invalid(&operand.pointer, message));
            None
        }
    }
}

fn read_version(node: &Node<'_>, problems: &mut Problems) -> Option<Draft> {
    let name = node.value.as_str();
    let known = VERSIONS.iter().find(|(own, _)| Some(*own) == name);
    match known {
        Some((_, draft)) => Some(*draft),
        None => node.wrong("V4, V6, V7, V201909 or V202012", problems),
    }
}

impl MatchesJsonSchema {
    pub(super) fn holds(&self, value: &Content<'_>) -> Result<bool, TooCostly> {
        Ok(match value.value()? {
            Some(document) => self.0.is_valid(document),
            None => self.0.is_valid(&Value::String(value.text().into_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn values_that_the_schema_allows() {
        let schema = r#"{"matchesJsonSchema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}}"#;
        check(schema, Some(r#"{"a": 1}"#), true);
        check(schema, Some(r#"{"a": "x"}"#), false);
        check(schema, Some("text"), false);
        check(
            r#"{"matchesJsonSchema": "{\"type\": \"string\"}"}"#,
            Some("text"),
            true,
        );
        assert!(refused(r#"{"matchesJsonSchema": {"type": "thing"}}"#).contains("JSON Schema"));
        assert!(refused(r#"{"matchesJsonSchema": {}, "schemaVersion": "V5"}"#).contains("V201909"));
    }
}
