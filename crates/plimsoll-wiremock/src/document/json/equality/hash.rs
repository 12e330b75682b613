//! Hashes of values that are equal whenever the values are, whatever the order of their items and properties.

use super::{Extra, Item, Node};
use crate::budget::{Budget, TooCostly};
use crate::document::json::Json;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// Beyond this size two whole numbers may be equal to one double without being equal to each other.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Hashes in any order.
#[derive(Debug, Default)]
struct Several {
    count: usize,
    sum: u64,
}

impl Several {
    fn add(&mut self, hash: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash);
    }
}

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
                let number = number.as_f64();
                (number.abs() < LARGEST_EXACT).then(|| self.of_number(number))
            }
            Node::String(text) => Some(self.of((3, text.as_str()))),
            Node::Array(items) if extra == Extra::Refused => {
                let mut several = Several::default();
                for Item { hash, .. } in items {
                    several.add((*hash)?);
                }
                Some(self.of_several(4, several))
            }
            Node::Object(properties) if extra == Extra::Refused => {
                let mut several = Several::default();
                for (name, node) in properties {
                    several.add(self.of((name.as_str(), self.of_node(node, extra)?)));
                }
                Some(self.of_several(5, several))
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
            Json::Number(number) => self.of_number(number.as_f64()),
            Json::String(text) => self.of((3, *text)),
            Json::Array(items) => {
                let mut several = Several::default();
                for item in *items {
                    several.add(self.of_json(item, budget)?);
                }
                self.of_several(4, several)
            }
            Json::Object(members) => {
                let mut several = Several::default();
                for (name, value) in members.iter() {
                    several.add(self.of((name, self.of_json(value, budget)?)));
                }
                self.of_several(5, several)
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

    fn of_several(&self, kind: u8, several: Several) -> u64 {
        self.of((kind, several.count, several.sum))
    }
}
