//! `{"matchesJsonPath": "path"}` or `{"matchesJsonPath": {"expression": "path", …a pattern…}}`.
//!
//! Without a pattern something that is not empty must be found. With one, a list matches when one of its items does, or as a
//! whole if the pattern compares JSON.

use super::{Matcher, no_operator};
use crate::budget::{Budget, TooCostly};
use crate::document::json::path::{JsonFound, JsonPath};
use crate::document::json::{Json, tree_budget};
use crate::java;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use crate::request::misread::Misread;
use bumpalo::Bump;
use serde_json::Value;

/// A path and what is wanted there.
#[derive(Debug, Clone)]
pub struct MatchesJsonPath {
    path: JsonPath,
    pattern: Option<Matcher>,
}

pub(super) fn read(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let read = match operand.value {
        Value::Object(_) => read_with_pattern(operand, problems)?,
        _ => MatchesJsonPath {
            path: read_path(operand, problems)?,
            pattern: None,
        },
    };
    Some(Matcher::MatchesJsonPath(Box::new(read)))
}

fn read_with_pattern(operand: &Node<'_>, problems: &mut Problems) -> Option<MatchesJsonPath> {
    let mut object = operand.object(problems)?;
    let Some(expression) = object.get("expression") else {
        no_operator(operand, problems);
        return None;
    };
    let path = read_path(&expression, problems);
    let pattern = if object.has_others() {
        Some(Matcher::read_from(operand, object, problems)?)
    } else {
        None
    };
    Some(MatchesJsonPath {
        path: path?,
        pattern,
    })
}

fn read_path(node: &Node<'_>, problems: &mut Problems) -> Option<JsonPath> {
    let text = node.string(problems)?;
    match JsonPath::compile(&text) {
        Ok(path) => Some(path),
        Err(message) => {
            let message = format!("not a JSONPath that can be used here: {message}");
            problems.push(StubProblem::invalid(&node.pointer, message));
            None
        }
    }
}

impl MatchesJsonPath {
    pub(super) fn holds(&self, value: Option<&Content<'_>>) -> Result<bool, TooCostly> {
        let Some(value) = value else {
            return Ok(false);
        };
        let Some(document) = value.json()? else {
            value.note_misread(Misread::JSON_PATH);
            return Ok(false);
        };
        let (arena, budget) = (Bump::new(), Budget::for_bytes(value.bytes().len()));
        let found = self.path.find(document, &arena, &budget)?;
        match &self.pattern {
            None => Ok(match found {
                JsonFound::Nothing => false,
                JsonFound::One(value) => is_something(value),
                JsonFound::Many(values) => !values.is_empty(),
            }),
            Some(pattern) => holds_on(pattern, found, value.bytes().len(), &budget),
        }
    }
}

impl MatchesJsonPath {
    /// The text of what is found first.
    pub(super) fn found(&self, value: &Content<'_>) -> Option<String> {
        let document = value.json().ok()??;
        let bytes = value.bytes().len();
        let (budget, values) = (Budget::for_bytes(bytes), tree_budget(bytes));
        match self.path.find(document, &Bump::new(), &budget).ok()? {
            JsonFound::Nothing => None,
            JsonFound::One(one) if one.as_object().is_some() => {
                Some(java::json::pretty(&one.to_value_within(&values).ok()?))
            }
            JsonFound::One(one) => printed(one, &values).ok(),
            JsonFound::Many(all) => printed(all.first()?, &values).ok(),
        }
    }
}

/// Whether a value counts as found: `null`, an empty list and an empty object do not.
fn is_something(value: &Json<'_>) -> bool {
    match value {
        Json::Null => false,
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// A value as Java prints it.
fn printed(value: &Json<'_>, values: &Budget) -> Result<String, TooCostly> {
    Ok(java::json::printed(&value.to_value_within(values)?))
}

fn holds_on(
    pattern: &Matcher,
    found: JsonFound<'_>,
    bytes: usize,
    budget: &Budget,
) -> Result<bool, TooCostly> {
    let values = || tree_budget(bytes);
    let items = match found {
        JsonFound::Nothing => return Ok(matches!(pattern, Matcher::Absent)),
        JsonFound::One(value) => match value {
            Json::Array(items) => items.iter().collect(),
            Json::Null => return Ok(matches!(pattern, Matcher::Absent)),
            one @ Json::Object(_) => {
                let text = java::json::pretty(&one.to_value_within(&values())?);
                return pattern.holds(Some(&Content::text_of(text)));
            }
            one => return pattern.holds(Some(&Content::text_of(printed(one, &values())?))),
        },
        JsonFound::Many(values) => values,
    };
    if matches!(pattern, Matcher::EqualToJson(_)) {
        let values = values();
        let list = items.iter().map(|item| item.to_value_within(&values));
        let list: Value = list.collect::<Result<_, _>>()?;
        return pattern.holds(Some(&Content::text_of(list.to_string())));
    }
    if items.is_empty() {
        return Ok(matches!(pattern, Matcher::Absent));
    }
    for item in items {
        // What was found may stand within each other.
        item.charge(budget)?;
        if pattern.holds(Some(&Content::text_of(printed(item, &values())?)))? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn something_must_be_found() {
        let pattern = r#"{"matchesJsonPath": "$.a"}"#;
        check(pattern, Some(r#"{"a": 0}"#), true);
        check(pattern, Some(r#"{"a": []}"#), false);
        check(pattern, Some(r#"{"b": 1}"#), false);
        check(pattern, Some("<a/>"), false);
        check(
            r#"{"matchesJsonPath": "$..[?(@.a == 1)]"}"#,
            Some(r#"[{"a": 1}]"#),
            true,
        );
        assert!(refused(r#"{"matchesJsonPath": "$.["}"#).contains("not a JSONPath"));
    }

    #[test]
    fn what_is_found_must_match() {
        let equal = r#"{"matchesJsonPath": {"expression": "$.a", "equalTo": "1"}}"#;
        check(equal, Some(r#"{"a": 1}"#), true);
        check(equal, Some(r#"{"a": ["x", "1"]}"#), true);
        check(equal, Some(r#"{"a": 2}"#), false);
        let json = r#"{"matchesJsonPath": {"expression": "$.a", "equalToJson": "[1, 2]"}}"#;
        check(json, Some(r#"{"a": [1, 2]}"#), true);
        let absent = r#"{"matchesJsonPath": {"expression": "$.a", "absent": true}}"#;
        check(absent, Some(r#"{"b": 1}"#), true);
        check(absent, Some(r#"{"a": 1}"#), false);
        assert!(
            refused(r#"{"matchesJsonPath": {"expression": "$.a", "x": 1}}"#)
                .contains("match operation")
        );
    }
}
