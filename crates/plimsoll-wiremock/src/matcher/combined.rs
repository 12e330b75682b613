//! `{"and": […]}` and `{"or": […]}`: several patterns on one value.

use super::Matcher;
use crate::budget::TooCostly;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;

/// Which of the patterns must match.
#[derive(Debug, Clone)]
pub enum Combined {
    All(Vec<Matcher>),
    Any(Vec<Matcher>),
}

pub(super) fn read_and(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let patterns = read_list(operand, problems)?;
    Some(Matcher::Combined(Combined::All(patterns)))
}

pub(super) fn read_or(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let patterns = read_list(operand, problems)?;
    Some(Matcher::Combined(Combined::Any(patterns)))
}

/// A list of patterns that is not empty.
pub(super) fn read_list(operand: &Node<'_>, problems: &mut Problems) -> Option<Vec<Matcher>> {
    if operand.value.as_array().is_some_and(Vec::is_empty) {
        return operand.wrong("a list of patterns", problems);
    }
    let before = problems.len();
    let items = operand.items(problems);
    let patterns = items
        .iter()
        .filter_map(|item| Matcher::read(item, problems))
        .collect();
    (problems.len() == before).then_some(patterns)
}

impl Combined {
    pub(super) fn weight(&self) -> usize {
        let (Self::All(patterns) | Self::Any(patterns)) = self;
        patterns.iter().map(Matcher::weight).sum()
    }

    pub(super) fn holds(&self, value: Option<&Content<'_>>) -> Result<bool, TooCostly> {
        let (patterns, until) = match self {
            Self::All(patterns) => (patterns, false),
            Self::Any(patterns) => (patterns, true),
        };
        for pattern in patterns {
            if pattern.holds(value)? == until {
                return Ok(until);
            }
        }
        Ok(!until)
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn all_or_any() {
        let and = r#"{"and": [{"contains": "a"}, {"contains": "b"}]}"#;
        check(and, Some("ab"), true);
        check(and, Some("a"), false);
        let or = r#"{"or": [{"contains": "a"}, {"contains": "b"}]}"#;
        check(or, Some("b"), true);
        check(or, Some("c"), false);
        assert_eq!(
            refused(r#"{"and": [{"equalTo": 1}, {"x": 1}]}"#),
            "/and/0: equalTo operand must be a non-null string\n/and/1: {\"x\":1} is not a valid match operation"
        );
        assert!(refused(r#"{"or": []}"#).contains("a list of patterns"));
    }
}
