//! `{"matchesJsonSchema": schema or "text", "schemaVersion": "V202012"}`: the value is JSON that the schema allows.
//!
//! A value that is not JSON is taken for a JSON string, as in WireMock; a number, a truth and `null` for one, too.

use super::{Matcher, equal_to_json};
use crate::budget::TooCostly;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
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

/// Keywords whose value is a schema, or a list of them.
const SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value has schemas by any names.
const SCHEMAS_BY_NAME: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// A compiled schema; `None` matches nothing.
#[derive(Debug, Clone)]
pub struct MatchesJsonSchema(Option<Arc<Validator>>);

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
    let draft = draft?;
    match jsonschema::options().with_draft(draft).build(&schema) {
        Ok(validator) => {
            let is_usable = draft == Draft::Draft4 || !has_old_id(&schema);
            let validator = is_usable.then(|| Arc::new(validator));
            Some(Matcher::MatchesJsonSchema(MatchesJsonSchema(validator)))
        }
        Err(error) => {
            let message = format!("not a JSON Schema that can be used here: {error}");
            problems.push(StubProblem::invalid(&operand.pointer, message));
            None
        }
    }
}

/// Whether a schema, or one in it, has an `id`, which is `$id` since draft 6: then WireMock's library holds nothing against it.
fn has_old_id(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    keywords.contains_key("id")
        || keywords.iter().any(|(keyword, value)| match value {
            Value::Object(named) if SCHEMAS_BY_NAME.contains(&keyword.as_str()) => {
                named.values().any(has_old_id)
            }
            Value::Array(items) if SCHEMAS.contains(&keyword.as_str()) => {
                items.iter().any(has_old_id)
            }
            value => SCHEMAS.contains(&keyword.as_str()) && has_old_id(value),
        })
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
        let Some(schema) = &self.0 else {
            return Ok(false);
        };
        let as_text = || schema.is_valid(&Value::String(value.text().into_owned()));
        Ok(match value.value()? {
            Some(document @ (Value::String(_) | Value::Array(_) | Value::Object(_))) => {
                schema.is_valid(document)
            }
            Some(scalar) => schema.is_valid(scalar) || as_text(),
            None => as_text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn a_schema_with_an_id_of_before_draft_6_matches_nothing() {
        let with = |schema: &str| format!(r#"{{"matchesJsonSchema": {schema}}}"#);
        for schema in [
            r#"{"id": 1}"#,
            r#"{"prefixItems": [{"id": "a"}]}"#,
            r#"{"properties": {"a": {"id": "a"}}}"#,
        ] {
            check(&with(schema), Some("1"), false);
        }
        for schema in [
            r#"{"properties": {"id": {"type": "string"}}}"#,
            r#"{"default": {"id": 1}}"#,
        ] {
            check(&with(schema), Some("1"), true);
        }
        let old = r#"{"matchesJsonSchema": {"id": "http://a.b/c"}, "schemaVersion": "V4"}"#;
        check(old, Some("1"), true);
    }

    #[test]
    fn a_scalar_may_be_a_text() {
        let text = r#"{"matchesJsonSchema": {"type": "string", "maxLength": 4}}"#;
        for (value, expected) in [
            ("12", true),
            ("true", true),
            ("12345", false),
            ("[1]", false),
        ] {
            check(text, Some(value), expected);
        }
    }

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
