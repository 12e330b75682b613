//! `{"not": {…}}`, `{"doesNotContain": "text"}`, `{"doesNotMatch": "regex"}`: what another pattern does not match. A value that is
//! not there matches these two.

use super::{Matcher, contains, matches};
use crate::budget::TooCostly;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;

/// The pattern that must not match.
#[derive(Debug, Clone)]
pub struct Negated(Box<Matcher>);

pub(super) fn read_not(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    Matcher::read(operand, problems).map(negate)
}

pub(super) fn read_does_not_contain(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    contains::read(operand, object, problems).map(negate)
}

pub(super) fn read_does_not_match(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    matches::read(operand, object, problems).map(negate)
}

fn negate(pattern: Matcher) -> Matcher {
    Matcher::Negated(Negated(Box::new(pattern)))
}

impl Negated {
    pub(super) fn weight(&self) -> usize {
        self.0.weight()
    }

    pub(super) fn holds(&self, value: Option<&Content<'_>>) -> Result<bool, TooCostly> {
        Ok(!self.0.holds(value)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::check;

    #[test]
    fn the_other_pattern_must_not_match() {
        check(r#"{"not": {"equalTo": "a"}}"#, Some("b"), true);
        check(r#"{"not": {"equalTo": "a"}}"#, Some("a"), false);
        check(r#"{"doesNotContain": "a"}"#, Some("cab"), false);
        check(r#"{"doesNotMatch": "a+"}"#, Some("aa"), false);
        check(r#"{"doesNotMatch": "a+"}"#, Some("aab"), true);
    }
}
