//! Conditions of a scenario, compiled.

use super::feeder::Feeder;
use super::memory::Memory;
use super::value::{Names, Value, ValuePlace};
use crate::plan::{Comparison, Condition};
use std::cmp::Ordering;

/// A comparison of two values.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    left: Value,
    comparison: Comparison,
    right: Value,
}

impl Test {
    /// Compiles a condition.
    ///
    /// # Errors
    /// The problem, in words.
    pub(super) fn compile(condition: &Condition, names: &mut Names) -> Result<Self, String> {
        Ok(Self {
            left: names.text(&condition.left, ValuePlace::Elsewhere)?,
            comparison: condition.comparison,
            right: names.text(&condition.right, ValuePlace::Elsewhere)?,
        })
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, feeders: &[Feeder], memory: &mut Memory) -> bool {
        let mut both = memory.take_scratch();
        // The values themselves may need a buffer, so this one is not theirs.
        self.left.render(feeders, memory, &mut both);
        let middle = both.len();
        self.right.render(feeders, memory, &mut both);
        let (left, right) = both.split_at(middle);
        let holds = compare(left, self.comparison, right);
        memory.give_back(both);
        holds
    }
}

fn compare(left: &[u8], comparison: Comparison, right: &[u8]) -> bool {
    let order = match (as_number(left), as_number(right)) {
        (Some(left), Some(right)) => left.partial_cmp(&right).unwrap_or(Ordering::Less),
        _ => left.cmp(right),
    };
    match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::AtMost => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::AtLeast => order != Ordering::Less,
        Comparison::Contains => contains(left, right),
    }
}

/// Whether `part` is somewhere in `text`.
pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

fn as_number(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_as_numbers_and_texts_as_texts() {
        let check = |left: &str, comparison, right: &str, expected: bool| {
            let holds = compare(left.as_bytes(), comparison, right.as_bytes());
            assert_eq!(holds, expected, "{left} {comparison:?} {right}");
        };
        check("10", Comparison::Greater, "9", true);
        check("10", Comparison::Less, "9x", true);
        check("1.0", Comparison::Equal, "1", true);
        check("a", Comparison::NotEqual, "b", true);
        check("", Comparison::Equal, "", true);
        check("2", Comparison::AtMost, "2", true);
        check("2", Comparison::AtLeast, "3", false);
        check("gold member", Comparison::Contains, "gold", true);
        check("nan", Comparison::Equal, "nan", true);
    }
}
