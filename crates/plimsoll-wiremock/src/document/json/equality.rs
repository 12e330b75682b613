//! Equality of JSON documents as JsonUnit (which WireMock uses) has it: order of arrays and what is superfluous may be ignored, and a
//! string of the expected document may stand for a set of values.
//!
//! Where order is ignored, what has no placeholder is found by its hash, and only the rest is tried one by one, within a budget.
//!
//! Placeholders are described in JsonUnit's documentation ("Ignore values", "Regular expressions", "Type placeholders").

mod hash;
mod pairing;

use crate::budget::{Budget, TooCostly};
use crate::document::json::number::Number;
use crate::document::json::{Json, Members};
use crate::java::regex::JavaRegex;
use hash::Hashes;
use serde_json::Value;
use std::collections::HashMap;

/// Whether the order of an array's items counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Counts,
    Ignored,
}

/// Whether properties and items that were not expected may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extra {
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
pub struct Expected {
    node: Node,
    order: Order,
    extra: Extra,
    hashes: Hashes,
}

/// A part of the expected document.
#[derive(Debug, Clone)]
enum Node {
    Null,
    Boolean(bool),
    Number(Number),
    String(String),
    Array(Vec<Item>),
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

/// An item of an array.
#[derive(Debug, Clone)]
struct Item {
    node: Node,
    /// Hash that all values equal to it share, where order is ignored and if that can be said of it.
    hash: Option<u64>,
}

impl Expected {
    /// Reads the placeholders of a document; the error says which cannot be used.
    pub fn prepare(document: &Value, order: Order, extra: Extra) -> Result<Self, String> {
        let hashes = Hashes::default();
        let mut node = Node::of(document)?;
        if order == Order::Ignored {
            hashes.note(&mut node, extra);
        }
        Ok(Self {
            node,
            order,
            extra,
            hashes,
        })
    }

    /// Whether `actual`, which was read from so many bytes, is what is expected.
    pub fn holds(&self, actual: &Json<'_>, bytes: usize) -> Result<bool, TooCostly> {
        self.equal(&self.node, actual, &Budget::of_short_steps(bytes))
    }

    fn equal(
        &self,
        expected: &Node,
        actual: &Json<'_>,
        budget: &Budget,
    ) -> Result<bool, TooCostly> {
        budget.spend(1)?;
        Ok(match (expected, actual) {
            (Node::Ignored | Node::IgnoredElement, _)
            | (Node::Null, Json::Null)
            | (Node::AnyString, Json::String(_))
            | (Node::AnyNumber, Json::Number(_))
            | (Node::AnyBoolean, Json::Bool(_)) => true,
            (Node::Boolean(expected), Json::Bool(actual)) => expected == actual,
            (Node::Number(expected), Json::Number(actual)) => expected.is_same(*actual),
            (Node::String(expected), Json::String(actual)) => expected == actual,
            (Node::Regex(regex), Json::String(actual)) => {
                budget.spend(actual.len())?;
                regex.matches(actual)?
            }
            (Node::Array(expected), Json::Array(actual)) => {
                self.equal_items(expected, actual, budget)?
            }
            (Node::Object(expected), Json::Object(actual)) => {
                self.equal_properties(expected, actual, budget)?
            }
            _ => false,
        })
    }

    fn equal_properties(
        &self,
        expected: &[(String, Node)],
        actual: &Members<'_>,
        budget: &Budget,
    ) -> Result<bool, TooCostly> {
        let mut found = 0;
        for (place, (name, node)) in expected.iter().enumerate() {
            match actual.get_near(place, name) {
                Some(value) => {
                    found += 1;
                    if !self.equal(node, value, budget)? {
                        return Ok(false);
                    }
                }
                None if matches!(node, Node::IgnoredElement) => {}
                None => return Ok(false),
            }
        }
        Ok(self.extra == Extra::Ignored || found == actual.len())
    }

    fn equal_items(
        &self,
        expected: &[Item],
        actual: &[Json<'_>],
        budget: &Budget,
    ) -> Result<bool, TooCostly> {
        let lengths_fit = match self.extra {
            Extra::Refused => actual.len() == expected.len(),
            Extra::Ignored => actual.len() >= expected.len(),
        };
        if !lengths_fit {
            return Ok(false);
        }
        if self.order == Order::Counts {
            for (item, value) in expected.iter().zip(actual) {
                if !self.equal(&item.node, value, budget)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        self.equal_in_any_order(expected, actual, budget)
    }

    /// Whether every expected item has an actual one of its own that is equal to it. Values that are equal to one with a hash are equal to each
    /// other, so that it does not matter which of them it takes.
    fn equal_in_any_order(
        &self,
        expected: &[Item],
        actual: &[Json<'_>],
        budget: &Budget,
    ) -> Result<bool, TooCostly> {
        let mut is_free = vec![true; actual.len()];
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        if expected.iter().any(|item| item.hash.is_some()) {
            for (place, value) in actual.iter().enumerate() {
                let hash = self.hashes.of_json(value, budget)?;
                by_hash.entry(hash).or_default().push(place);
            }
        }
        let mut rest = Vec::new();
        for item in expected {
            let Some(hash) = item.hash else {
                rest.push(&item.node);
                continue;
            };
            let Some(places) = by_hash.get_mut(&hash) else {
                return Ok(false);
            };
            let mut found = None;
            for (index, place) in places.iter().enumerate().rev() {
                if self.equal(&item.node, &actual[*place], budget)? {
                    found = Some(index);
                    break;
                }
            }
            let Some(found) = found else {
                return Ok(false);
            };
            is_free[places.swap_remove(found)] = false;
        }
        let free = actual.iter().zip(is_free);
        let free: Vec<_> = free
            .filter_map(|(value, free)| free.then_some(value))
            .collect();
        pairing::exists(rest.len(), free.len(), budget, |item, place| {
            self.equal(rest[item], free[place], budget)
        })
    }
}

impl Node {
    fn of(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(number) => Self::Number(number.into()),
            Value::String(text) => Self::of_text(text)?,
            Value::Array(items) => {
                let items = items.iter().map(|item| {
                    Ok(Item {
                        node: Self::of(item)?,
                        hash: None,
                    })
                });
                Self::Array(items.collect::<Result<_, String>>()?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;
    use serde_json::json;

    fn check(expected: &Value, order: Order, extra: Extra, actual: &Value, equal: bool) {
        let prepared = Expected::prepare(expected, order, extra).unwrap();
        assert_eq!(
            prepared.holds(&Json::of(actual, &Bump::new()), 0),
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
    fn long_lists_in_any_order() {
        let turned = |length: u32| -> Value { (0..length).rev().collect() };
        let any = |expected: &Value, actual: &Value, extra, equal| {
            check(expected, Order::Ignored, extra, actual, equal);
        };
        let list: Value = (0..50_000).collect();
        any(&turned(50_000), &list, Extra::Refused, true);
        any(&turned(49_999), &list, Extra::Refused, false);
        any(&turned(49_999), &list, Extra::Ignored, true);
        let zeros = |last: u32| -> Value { (0..50_000).map(|n| n / 49_999 * last).collect() };
        any(&zeros(0), &zeros(0), Extra::Refused, true);
        any(&zeros(0), &zeros(1), Extra::Refused, false);
        let objects = |from: u32| -> Value {
            (from..20_000)
                .chain(0..from)
                .map(|n| json!({"a": [n, {}]}))
                .collect()
        };
        any(&objects(0), &objects(7), Extra::Refused, true);
    }

    #[test]
    fn what_is_too_costly_is_given_up() {
        let expected: Value = (0..4_000).map(|n| json!({"a": n})).collect();
        let actual: Value = (0..4_000).map(|n| json!({"b": n})).collect();
        let prepared = Expected::prepare(&expected, Order::Ignored, Extra::Ignored).unwrap();
        let arena = Bump::new();
        let costly = Err(TooCostly::Steps);
        let actual = Json::of(&actual, &arena);
        assert_eq!(
            prepared.holds(&actual, 0),
            Ok(false),
            "the first has no partner"
        );
        let expected: Value = std::iter::repeat_n(json!({}), 4_000).collect();
        let prepared = Expected::prepare(&expected, Order::Ignored, Extra::Ignored).unwrap();
        assert_eq!(prepared.holds(&actual, 0), costly);
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
