//! Equality of JSON documents as JsonUnit (which WireMock uses) has it: order of arrays and what is superfluous may be ignored, and a
//! string of the expected document may stand for a set of values.
//!
//! Placeholders are described in JsonUnit's documentation ("Ignore values", "Regular expressions", "Type placeholders").

use crate::java_regex::{JavaRegex, TooCostly};
use crate::json::{Json, Members};
use serde_json::{Number, Value};

/// Whether the order of an array's items counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Counts,
    Ignored,
}

/// Whether properties and items that were not expected may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Refused,
    Ignored,
}

impl From<bool> for Order {
    fn from(ignored: bool) -> Self {
        if ignored { Self::Ignored } else { Self::Counts }
    }
}

impl From<bool> for Extra {
    fn from(ignored: bool) -> Self {
        if ignored {
            Self::Ignored
        } else {
            Self::Refused
        }
    }
}

/// A document to compare with.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    node: Node,
    order: Order,
    extra: Extra,
}

/// A part of the expected document.
#[derive(Debug, Clone)]
enum Node {
    Null,
    Boolean(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
    /// Any value.
    Ignored,
    /// Any value, or none.
    IgnoredElement,
    AnyString,
    AnyNumber,
    AnyBoolean,
    Regex(JavaRegex),
}

impl Expected {
    /// Reads the placeholders of a document; the error says which cannot be used.
    pub(crate) fn prepare(document: &Value, order: Order, extra: Extra) -> Result<Self, String> {
        Ok(Self {
            node: Node::of(document)?,
            order,
            extra,
        })
    }

    /// Whether `actual` is what is expected.
    pub(crate) fn holds(&self, actual: &Json<'_>) -> Result<bool, TooCostly> {
        self.equal(&self.node, actual)
    }

    fn equal(&self, expected: &Node, actual: &Json<'_>) -> Result<bool, TooCostly> {
        Ok(match (expected, actual) {
            (Node::Ignored | Node::IgnoredElement, _)
            | (Node::Null, Json::Null)
            | (Node::AnyString, Json::String(_))
            | (Node::AnyNumber, Json::Number(_))
            | (Node::AnyBoolean, Json::Bool(_)) => true,
            (Node::Boolean(expected), Json::Bool(actual)) => expected == actual,
            (Node::Number(expected), Json::Number(actual)) => same_number(expected, actual),
            (Node::String(expected), Json::String(actual)) => expected == actual,
            (Node::Regex(regex), Json::String(actual)) => regex.matches(actual)?,
            (Node::Array(expected), Json::Array(actual)) => self.equal_items(expected, actual)?,
            (Node::Object(expected), Json::Object(actual)) => {
                self.equal_properties(expected, actual)?
            }
            _ => false,
        })
    }

    fn equal_properties(
        &self,
        expected: &[(String, Node)],
        actual: &Members<'_>,
    ) -> Result<bool, TooCostly> {
        let mut found = 0;
        for (place, (name, node)) in expected.iter().enumerate() {
            match actual.get_near(place, name) {
                Some(value) => {
                    found += 1;
                    if !self.equal(node, value)? {
                        return Ok(false);
                    }
                }
                None if matches!(node, Node::IgnoredElement) => {}
                None => return Ok(false),
            }
        }
        Ok(self.extra == Extra::Ignored || found == actual.len())
    }

    fn equal_items(&self, expected: &[Node], actual: &[Json<'_>]) -> Result<bool, TooCostly> {
        let lengths_fit = match self.extra {
            Extra::Refused => actual.len() == expected.len(),
            Extra::Ignored => actual.len() >= expected.len(),
        };
        if !lengths_fit {
            return Ok(false);
        }
        if self.order == Order::Counts {
            for (node, value) in expected.iter().zip(actual) {
                if !self.equal(node, value)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        self.equal_in_any_order(expected, actual)
    }

    /// Whether every expected item has an actual one of its own that is equal to it. A placeholder may be equal to several, so an item
    /// that has found its own may have to leave it to another (Kuhn's augmenting paths).
    fn equal_in_any_order(
        &self,
        expected: &[Node],
        actual: &[Json<'_>],
    ) -> Result<bool, TooCostly> {
        let mut owner: Vec<Option<usize>> = vec![None; actual.len()];
        let mut equal = Vec::with_capacity(expected.len());
        for node in expected {
            let mut candidates = Vec::new();
            for (index, value) in actual.iter().enumerate() {
                if self.equal(node, value)? {
                    candidates.push(index);
                }
            }
            equal.push(candidates);
        }
        Ok((0..expected.len()).all(|item| {
            let mut asked = vec![false; actual.len()];
            claim(item, &equal, &mut owner, &mut asked)
        }))
    }
}

/// Finds an actual item for an expected one, moving others out of the way where they can go.
fn claim(
    item: usize,
    equal: &[Vec<usize>],
    owner: &mut [Option<usize>],
    asked: &mut [bool],
) -> bool {
    equal[item].iter().any(|&candidate| {
        if std::mem::replace(&mut asked[candidate], true) {
            return false;
        }
        let free = owner[candidate].is_none_or(|other| claim(other, equal, owner, asked));
        if free {
            owner[candidate] = Some(item);
        }
        free
    })
}

impl Node {
    fn of(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::of_text(text)?,
            Value::Array(items) => {
                Self::Array(items.iter().map(Self::of).collect::<Result<_, _>>()?)
            }
            Value::Object(map) => {
                let properties = map
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), Self::of(value)?)));
                Self::Object(properties.collect::<Result<_, String>>()?)
            }
        })
    }

    /// A string or what it stands for: JsonUnit's placeholders begin with `${json-unit.` or `#{json-unit.`.
    fn of_text(text: &str) -> Result<Self, String> {
        let inner = text
            .strip_prefix("${json-unit.")
            .or_else(|| text.strip_prefix("#{json-unit."));
        let Some((name, rest)) = inner.and_then(|inner| inner.split_once('}')) else {
            return Ok(Self::String(text.to_owned()));
        };
        Ok(match (name, rest) {
            ("ignore", "") => Self::Ignored,
            ("ignore-element", "") if text.starts_with('$') => Self::IgnoredElement,
            ("any-string", "") => Self::AnyString,
            ("any-number", "") => Self::AnyNumber,
            ("any-boolean", "") => Self::AnyBoolean,
            ("regex", pattern) => Self::Regex(JavaRegex::compile(pattern)?),
            _ if name.starts_with("matches:") => {
                return Err(format!("\"{text}\" needs a matcher written in Java"));
            }
            _ => Self::String(text.to_owned()),
        })
    }
}

/// `1`, `1.0` and `1e0` are one number. Beyond 2⁶⁴ the nearest doubles are compared.
pub(crate) fn same_number(one: &Number, other: &Number) -> bool {
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        return one == other;
    }
    one.as_f64() == other.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;
    use serde_json::json;

    fn check(expected: &Value, order: Order, extra: Extra, actual: &Value, equal: bool) {
        let prepared = Expected::prepare(expected, order, extra).unwrap();
        assert_eq!(
            prepared.holds(&Json::of(actual, &Bump::new())),
            Ok(equal),
            "{expected} and {actual}"
        );
    }

    #[test]
    fn strictly() {
        let strictly = |expected: Value, actual: Value, equal| {
            check(&expected, Order::Counts, Extra::Refused, &actual, equal);
        };
        strictly(
            json!({"a": 1, "b": null}),
            json!({"b": null, "a": 1.0}),
            true,
        );
        strictly(json!({"a": 1}), json!({"a": 1, "b": 1}), false);
        strictly(json!({"a": null}), json!({}), false);
        strictly(json!([1, 2]), json!([2, 1]), false);
        strictly(json!(18_446_744_073_709_551_615_u64), json!(-1), false);
        strictly(json!("1"), json!(1), false);
    }

    #[test]
    fn leniently() {
        let any = |expected: Value, actual: Value, equal| {
            check(&expected, Order::Ignored, Extra::Ignored, &actual, equal);
        };
        any(json!([1, [2, 3]]), json!([[3, 2], 4, 1]), true);
        any(json!([1, 1]), json!([1, 2]), false);
        any(json!(["${json-unit.any-number}", 1]), json!([1, 2]), true);
        any(json!({"a": {}}), json!({"a": {"b": 1}, "c": 1}), true);
        let ordered = |expected: Value, actual: Value, equal| {
            check(&expected, Order::Counts, Extra::Ignored, &actual, equal);
        };
        ordered(json!([1, 2]), json!([1, 2, 3]), true);
        ordered(json!([1, 2]), json!([0, 1, 2]), false);
    }

    #[test]
    fn placeholders_stand_for_values() {
        let holder = |name: &str, actual: Value, equal| {
            let expected = json!({"a": format!("${{json-unit.{name}")});
            check(&expected, Order::Counts, Extra::Refused, &actual, equal);
        };
        holder("ignore}", json!({"a": [1]}), true);
        holder("ignore}", json!({}), false);
        holder("ignore-element}", json!({}), true);
        holder("any-string}", json!({"a": "x"}), true);
        holder("any-string}", json!({"a": 1}), false);
        holder("any-number}", json!({"a": 1}), true);
        holder("any-boolean}", json!({"a": true}), true);
        holder("regex}[a-z]+", json!({"a": "abc"}), true);
        holder("regex}[a-z]+", json!({"a": "abc1"}), false);
        holder("regex}[0-9]+", json!({"a": 12}), false);
        let unknown = json!("${json-unit.matches:positive}");
        assert!(Expected::prepare(&unknown, Order::Counts, Extra::Refused).is_err());
    }
}
