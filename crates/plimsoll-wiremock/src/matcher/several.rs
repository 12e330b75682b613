//! Patterns on what may have several values, such as a header: one content pattern, `hasExactly` or `includes`.
//!
//! One pattern holds when any of the values matches it, and on no value at all if it matches what is missing.

use super::{Matcher, combined};
use crate::budget::{Budget, TooCostly};
use crate::reader::{Node, Problems};
use crate::request::content::Content;

/// Pairs of a value and a pattern that are judged in any list of values, and for how many bytes of a value there may be one more.
const PAIRS: usize = 60_000;
const BYTES_A_PAIR: usize = 32;

/// Values whose distance is measured: the nearest is among them.
const MOST_MEASURED: usize = 1_000;

/// Steps of the distances' budget that judging a value takes, for what the pattern weighs.
const STEPS_OF_JUDGING: usize = 10;

/// A pattern on a list of values.
#[derive(Debug, Clone)]
pub enum Several {
    /// One value, or none at all, matches.
    One(Matcher),
    /// There are as many values as patterns, and every pattern matches some value.
    HasExactly(Vec<Matcher>),
    /// Every pattern matches some value.
    Includes(Vec<Matcher>),
}

impl Several {
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        if let Some(mut object) = node
            .value
            .is_object()
            .then(|| node.object(problems))
            .flatten()
        {
            let (exactly, includes) = (object.get("hasExactly"), object.get("includes"));
            if exactly.is_some() || includes.is_some() {
                let exactly = exactly
                    .and_then(|node| combined::read_list(&node, problems))
                    .map(Self::HasExactly);
                let includes = includes
                    .and_then(|node| combined::read_list(&node, problems))
                    .map(Self::Includes);
                object.finish(&[], problems);
                return exactly.or(includes);
            }
        }
        Matcher::read(node, problems).map(Self::One)
    }

    /// How far the values are from matching: 0 if they do, at most 1.
    pub fn distance<'a>(
        &self,
        values: impl Iterator<Item = &'a [u8]>,
        budget: &Budget,
    ) -> Result<f64, TooCostly> {
        match self {
            Self::One(matcher) if !matches!(matcher, Matcher::Absent) => {
                nearest(matcher, values, budget)
            }
            several => Ok(if several.holds(values)? { 0.0 } else { 1.0 }),
        }
    }

    /// Whether the values match.
    pub fn holds<'a>(&self, mut values: impl Iterator<Item = &'a [u8]>) -> Result<bool, TooCostly> {
        match self {
            Self::One(Matcher::Absent) => Ok(values.next().is_none()),
            Self::One(matcher) => one_holds(matcher, values),
            Self::HasExactly(patterns) => {
                let values: Vec<&[u8]> = values.collect();
                Ok(values.len() == patterns.len() && all_hold(patterns, &values)?)
            }
            Self::Includes(patterns) => all_hold(patterns, &values.collect::<Vec<_>>()),
        }
    }
}

/// The distance of the nearest of the first values; of nothing if there is none.
fn nearest<'a>(
    matcher: &Matcher,
    values: impl Iterator<Item = &'a [u8]>,
    budget: &Budget,
) -> Result<f64, TooCostly> {
    let mut nearest = None::<f64>;
    for value in values.take(MOST_MEASURED) {
        let steps = STEPS_OF_JUDGING * matcher.weight();
        budget.spend(steps).map_err(|_| TooCostly::Distances)?;
        let distance = matcher.distance(Some(&Content::of(value)), budget)?;
        nearest = Some(nearest.map_or(distance, |least| least.min(distance)));
    }
    match nearest {
        Some(distance) => Ok(distance),
        None => matcher.distance(None, budget),
    }
}

fn one_holds<'a>(
    matcher: &Matcher,
    values: impl Iterator<Item = &'a [u8]>,
) -> Result<bool, TooCostly> {
    let (mut any, mut pairs) = (false, Pairs::default());
    for value in values {
        any = true;
        pairs.add(value);
        pairs.judge(matcher)?;
        if matcher.holds(Some(&Content::of(value)))? {
            return Ok(true);
        }
    }
    if any { Ok(false) } else { matcher.holds(None) }
}

/// How many pairs may still be judged.
struct Pairs(usize);

impl Default for Pairs {
    fn default() -> Self {
        Self(PAIRS)
    }
}

impl Pairs {
    /// Makes room for what a value's length allows.
    fn add(&mut self, value: &[u8]) {
        self.0 += value.len() / BYTES_A_PAIR;
    }

    /// Takes what one pattern counts.
    fn judge(&mut self, pattern: &Matcher) -> Result<(), TooCostly> {
        let left = self.0.checked_sub(pattern.weight());
        self.0 = left.ok_or(TooCostly::Values)?;
        Ok(())
    }
}

/// Whether every pattern matches some value. What patterns make of a value is kept for as long as it is looked at.
fn all_hold(patterns: &[Matcher], values: &[&[u8]]) -> Result<bool, TooCostly> {
    let mut pairs = Pairs::default();
    let mut open: Vec<&Matcher> = patterns.iter().collect();
    for value in values {
        pairs.add(value);
        let value = Content::of(*value);
        let mut unmatched = Vec::with_capacity(open.len());
        for pattern in open {
            pairs.judge(pattern)?;
            if !pattern.holds(Some(&value))? {
                unmatched.push(pattern);
            }
        }
        open = unmatched;
        if open.is_empty() {
            break;
        }
    }
    Ok(open.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, values: &[&str], expected: bool) {
        let document = serde_json::from_str(pattern).unwrap();
        let mut problems = Problems::new();
        let several = Several::read(&Node::root(&document), &mut problems);
        assert_eq!(problems, [], "{pattern}");
        let actual = several
            .unwrap()
            .holds(values.iter().map(|value| value.as_bytes()));
        assert_eq!(actual, Ok(expected), "{pattern} on {values:?}");
    }

    #[test]
    fn any_value_may_match() {
        check(r#"{"equalTo": "b"}"#, &["a", "b"], true);
        check(r#"{"equalTo": "b"}"#, &["a", "B"], false);
        check(r#"{"equalTo": "b"}"#, &[], false);
        check(r#"{"not": {"equalTo": "b"}}"#, &[], true);
        check(r#"{"absent": true}"#, &[""], false);
    }

    #[test]
    fn many_values_are_not_held_against_many_patterns() {
        let check = |count: usize, expected: Result<bool, TooCostly>| {
            // None but the last value matches.
            let document = serde_json::json!({"contains": "y"});
            let last = Matcher::read(&Node::root(&document), &mut Problems::new()).unwrap();
            let values = (0..1_000).map(|_| "x").chain(["y"]);
            let values: Vec<_> = values.map(str::as_bytes).collect();
            assert_eq!(all_hold(&vec![Matcher::Anything; 300], &values), Ok(true));
            assert_eq!(all_hold(&vec![last; count], &values), expected);
        };
        check(50, Ok(true));
        check(300, Err(TooCostly::Values));
    }

    #[test]
    fn documents_are_looked_for_in_fewer_values() {
        let check = |pattern: serde_json::Value, expected: Result<bool, TooCostly>| {
            let matcher = Matcher::read(&Node::root(&pattern), &mut Problems::new()).unwrap();
            let values = std::iter::repeat_n(&b"x"[..], 20_000);
            assert_eq!(Several::One(matcher).holds(values), expected, "{pattern}");
        };
        check(serde_json::json!({"equalTo": "y"}), Ok(false));
        check(serde_json::json!({"not": {"equalToJson": [1]}}), Ok(true));
        check(
            serde_json::json!({"equalToJson": [1]}),
            Err(TooCostly::Values),
        );
        check(
            serde_json::json!({"matches": "(x+x+)+y(?!z)"}),
            Err(TooCostly::Values),
        );
        check(
            serde_json::json!({"and": [{"contains": "x"}, {"matchesXPath": "//a"}]}),
            Err(TooCostly::Values),
        );
    }

    #[test]
    fn all_patterns_need_a_value() {
        let exactly = r#"{"hasExactly": [{"equalTo": "a"}, {"contains": "b"}]}"#;
        check(exactly, &["bb", "a"], true);
        check(exactly, &["bb", "a", "c"], false);
        check(exactly, &["b", "b"], false);
        let includes = r#"{"includes": [{"equalTo": "a"}, {"contains": "b"}]}"#;
        check(includes, &["bb", "c", "a"], true);
        check(includes, &["bb", "c"], false);
        check(includes, &[], false);
    }
}
