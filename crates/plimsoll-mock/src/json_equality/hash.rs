//! Hashes of values that are equal whenever the values are, whatever the order of their items and properties.

use super::{Extra, Item, Node};
use crate::budget::{Budget, TooCostly};
use crate::json::Json;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// Beyond this size two whole numbers may be equal to one double without being equal to each other.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// How values are hashed: with keys that nobody outside knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Hashes(RandomState);

impl Hashes {
    /// Notes with the items of all arrays what can be said of their hashes.
    pub(super) fn note(&self, node: &mut Node, extra: Extra) {
        match node {
            Node::Array(items) => {
                for item in items {
                    self.note(&mut item.node, extra);
                    item.hash = self.of_node(&item.node, extra);
                }
            }
            Node::Object(properties) => {
                for (_, node) in properties {
                    self.note(node, extra);
                }
            }
            _ => {}
        }
    }

    /// The hash of all values that are equal to a node; `None` if they differ. The items of its arrays have theirs.
    fn of_node(&self, node: &Node, extra: Extra) -> Option<u64> {
        match node {
            Node::Null => Some(self.of((0, ()))),
            Node::Boolean(value) => Some(self.of((1, value))),
            Node::Number(number) => {
                let number = number.as_f64().filter(|own| own.abs() < LARGEST_EXACT)?;
                Some(self.of_number(number))
            }
            Node::String(text) => Some(self.of((3, text.as_str()))),
            Node::Array(items) if extra == Extra::Refused => {
                let hashes = items.iter().map(|item: &Item| item.hash);
                Some(self.of_several(4, hashes.collect::<Option<Vec<_>>>()?))
            }
            Node::Object(properties) if extra == Extra::Refused => {
                let hash = |(name, node): &(String, Node)| {
                    Some(self.of((name.as_str(), self.of_node(node, extra)?)))
                };
                let hashes: Option<Vec<_>> = properties.iter().map(hash).collect();
                Some(self.of_several(5, hashes?))
            }
            _ => None,
        }
    }

    /// The hash of a value.
    pub(super) fn of_json(&self, value: &Json<'_>, budget: &Budget) -> Result<u64, TooCostly> {
        budget.spend(1)?;
        Ok(match value {
            Json::Null => self.of((0, ())),
            Json::Bool(value) => self.of((1, value)),
            Json::Number(number) => self.of_number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => self.of((3, *text)),
            Json::Array(items) => {
                let hashes = items.iter().map(|item| self.of_json(item, budget));
                self.of_several(4, hashes.collect::<Result<Vec<_>, _>>()?)
            }
            Json::Object(members) => {
                let hash = |(name, value)| Ok(self.of((name, self.of_json(value, budget)?)));
                self.of_several(5, members.iter().map(hash).collect::<Result<Vec<_>, _>>()?)
            }
        })
    }

    fn of(&self, value: impl Hash) -> u64 {
        self.0.hash_one(value)
    }

    fn of_number(&self, number: f64) -> u64 {
        // There is a zero with a sign.
        let number = if number == 0.0 { 0.0 } else { number };
        self.of((2, number.to_bits()))
    }

    /// Of several, in any order.
    fn of_several(&self, kind: u8, hashes: Vec<u64>) -> u64 {
        let count = hashes.len();
        let sum = hashes.into_iter().fold(0, u64::wrapping_add);
        self.of((kind, count, sum))
    }
}
