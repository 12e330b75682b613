//! How many characters have to be added, removed or changed to make one text of another (Levenshtein 1966), by bits: a column of the table of
//! distances is a few machine words (Myers, J. ACM 46(3), 1999; in the form of Hyyrö, Nordic J. of Computing 10, 2003). What is longer than the
//! words have bits is cut, so that two texts never take more than some ten thousand instructions.

use crate::budget::{Budget, TooCostly};
use std::collections::HashMap;

/// Machine words of a column.
const WORDS: usize = 4;
/// Characters of a text that are compared; one more would need another word.
const MOST_COMPARED: usize = 200;

/// Steps that the distances of one answer may take, of some hundred instructions each.
const STEPS: usize = 1_000_000;
/// Those of one distance that are not for its characters, and for how many of them and words there is one.
const STEPS_A_TEXT: usize = 15;
const CHARACTERS_A_STEP: usize = 4;

/// Steps that may be spent on the distances of one answer.
pub fn budget() -> Budget {
    Budget::of(STEPS)
}

/// A bit for each character of the shorter text.
type Column = [u64; WORDS];

/// The edits between the first `MOST_COMPARED` characters of each, as a share of the longer one.
pub fn text_distance(one: &str, other: &str, budget: &Budget) -> Result<f64, TooCostly> {
    let beginning = |text: &str| -> Vec<char> { text.chars().take(MOST_COMPARED).collect() };
    let (one, other) = (beginning(one), beginning(other));
    let (shorter, longer) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let cells = shorter.len().div_ceil(64) * longer.len();
    let steps = STEPS_A_TEXT + cells / CHARACTERS_A_STEP;
    budget.spend(steps).map_err(|_| TooCostly::Distances)?;
    if longer.is_empty() {
        return Ok(0.0);
    }
    Ok(edits(&shorter, &longer) as f64 / longer.len() as f64)
}

fn edits(shorter: &[char], longer: &[char]) -> usize {
    let Some(last) = shorter.len().checked_sub(1) else {
        return longer.len();
    };
    let places = CharacterPlaces::of(shorter);
    let words = shorter.len().div_ceil(64);
    let (mut more, mut less): (Column, Column) = ([u64::MAX; WORDS], [0; WORDS]);
    let mut edits = shorter.len();
    for character in longer {
        let equal = places.get(*character);
        // Of the sum, of the row that is one more than above, and of the one that is one less.
        let (mut carry, mut above_more, mut above_less) = (false, 1, 0);
        for word in 0..words {
            let (vertical_more, vertical_less) = (more[word], less[word]);
            let (sum, first) = (equal[word] & vertical_more).overflowing_add(vertical_more);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            let diagonal = (sum ^ vertical_more) | equal[word] | vertical_less;
            let level_more = vertical_less | !(diagonal | vertical_more);
            let level_less = diagonal & vertical_more;
            if word == last / 64 {
                edits += usize::from(level_more >> (last % 64) & 1 == 1);
                edits -= usize::from(level_less >> (last % 64) & 1 == 1);
            }
            let shifted_more = level_more << 1 | above_more;
            let shifted_less = level_less << 1 | above_less;
            (above_more, above_less) = (level_more >> 63, level_less >> 63);
            more[word] = shifted_less | !(diagonal | shifted_more);
            less[word] = shifted_more & diagonal;
        }
    }
    edits
}

/// Where each character stands.
struct CharacterPlaces {
    ascii: [Column; 128],
    others: HashMap<char, Column>,
}

impl CharacterPlaces {
    fn of(text: &[char]) -> Self {
        let mut places = Self {
            ascii: [[0; WORDS]; 128],
            others: HashMap::new(),
        };
        for (place, character) in text.iter().enumerate() {
            let column = match places.ascii.get_mut(*character as usize) {
                Some(column) => column,
                None => places.others.entry(*character).or_default(),
            };
            column[place / 64] |= 1 << (place % 64);
        }
        places
    }

    fn get(&self, character: char) -> Column {
        let other = || self.others.get(&character).copied().unwrap_or_default();
        let ascii = self.ascii.get(character as usize);
        ascii.copied().unwrap_or_else(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_texts_are_near_and_others_far() {
        let check = |one: &str, other: &str, expected: f64| {
            let budget = budget();
            for (one, other) in [(one, other), (other, one)] {
                let distance = text_distance(one, other, &budget);
                assert_eq!(distance, Ok(expected), "{one} {other}");
            }
        };
        check("", "", 0.0);
        check("", "ab", 1.0);
        check("kitten", "sitting", 3.0 / 7.0);
        check("grün", "grau", 2.0 / 4.0);
        // Only the beginning counts.
        check(&"x".repeat(1_000), &"x".repeat(500), 0.0);
        check(&"x".repeat(200), &format!("{}y", "x".repeat(200)), 0.0);
    }

    #[test]
    fn distances_are_measured_until_their_steps_are_spent() {
        let (budget, text) = (budget(), "x".repeat(MOST_COMPARED));
        let distances = std::iter::repeat_with(|| text_distance(&text, &text, &budget));
        let count = distances.take_while(Result::is_ok).count();
        assert!((4_000..6_000).contains(&count), "{count}");
    }

    proptest! {
        #[test]
        fn edits_are_those_of_the_whole_table(one in "[ab\u{e4}\u{1f600}]{0,200}", other in "[ab\u{e4}c]{0,200}") {
            let expected = 1.0 - strsim::normalized_levenshtein(&one, &other);
            let distance = text_distance(&one, &other, &budget()).unwrap();
            prop_assert!((distance - expected).abs() < 1e-9);
        }
    }
}
