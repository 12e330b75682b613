//! `{"before": when}`, `{"after": when}`, `{"equalToDateTime": when}` with `actualFormat`, `truncateExpected`, `truncateActual`,
//! `expectedOffset`, `expectedOffsetUnit` and `applyTruncationLast`.
//!
//! Dates and times themselves are left to `date_time`. A date without a time zone is compared by what stands on the clock.

use super::Matcher;
use crate::clock;
use crate::java::date_time::{Expected, Format, Moment, Truncation};
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use std::cmp::Ordering;

/// A comparison with a moment.
#[derive(Debug, Clone)]
pub struct BeforeAfter {
    wanted: Ordering,
    expected: Expected,
    format: Format,
    truncate_actual: Option<Truncation>,
}

pub(super) fn read_before(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    read(Ordering::Less, operand, object, problems)
}

pub(super) fn read_after(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    read(Ordering::Greater, operand, object, problems)
}

pub(super) fn read_equal(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    read(Ordering::Equal, operand, object, problems)
}

fn read(
    wanted: Ordering,
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let before = problems.len();
    let format = object.get("actualFormat");
    let format = format.and_then(|node| parsed(&node, Format::compile, problems));
    let mut truncation = |name, problems: &mut Problems| {
        let node = object.get(name)?;
        parsed(&node, Truncation::parse, problems)
    };
    let truncate_expected = truncation("truncateExpected", problems);
    let truncate_actual = truncation("truncateActual", problems);
    let last = object.get("applyTruncationLast");
    let last = last.and_then(|node| node.boolean(problems)) == Some(true);
    let amount = object.get("expectedOffset");
    let amount = amount.and_then(|node| node.integer(problems));
    let unit = object.get("expectedOffsetUnit");
    let unit = unit.and_then(|node| node.string(problems));
    let written = operand.string(problems)?;
    let offset = amount.map(|amount| format!("{amount} {}", unit.as_deref().unwrap_or("seconds")));
    let expected = Expected::parse(&written, offset.as_deref());
    let expected = match expected {
        Ok(expected) => expected,
        Err(message) => {
            problems.push(StubProblem::invalid(&operand.pointer, message));
            return None;
        }
    };
    if problems.len() > before {
        return None;
    }
    Some(Matcher::BeforeAfter(Box::new(BeforeAfter {
        wanted,
        expected: expected.truncated(truncate_expected, last.into()),
        format: format.unwrap_or_default(),
        truncate_actual,
    })))
}

/// Value of a string property, by a parser whose error is the message.
fn parsed<T>(
    node: &Node<'_>,
    parse: fn(&str) -> Result<T, String>,
    problems: &mut Problems,
) -> Option<T> {
    let text = node.string(problems)?;
    match parse(&text) {
        Ok(value) => Some(value),
        Err(message) => {
            problems.push(StubProblem::invalid(&node.pointer, message));
            None
        }
    }
}

impl BeforeAfter {
    pub(super) fn holds(&self, value: &Content<'_>) -> bool {
        let Some(actual) = self.format.parse(&value.text()) else {
            return false;
        };
        let actual = match self.truncate_actual {
            Some(truncation) => truncation.apply(&actual),
            None => Some(actual),
        };
        let expected = self.expected.at(clock::now);
        match (actual, expected) {
            (Some(actual), Some(expected)) => Moment::compare(&actual, &expected) == self.wanted,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn moments_are_compared() {
        let before = r#"{"before": "2021-05-01T00:00:00Z"}"#;
        check(before, Some("2021-04-30T23:59:59Z"), true);
        check(before, Some("2021-05-01T01:00:00+02:00"), true);
        check(before, Some("2021-05-01T00:00:00Z"), false);
        check(before, Some("yesterday"), false);
        check(
            r#"{"after": "2021-05-01"}"#,
            Some("2021-05-01T00:00:01"),
            true,
        );
        check(
            r#"{"equalToDateTime": "2021-05-01T00:00:00Z", "actualFormat": "dd/MM/yyyy"}"#,
            Some("01/05/2021"),
            true,
        );
        check(r#"{"before": "now +1 days"}"#, Some("2021-05-01"), true);
        check(r#"{"after": "now -1 days"}"#, Some("2021-05-01"), false);
        check(
            r#"{"after": "2001-09-09T01:46:39Z", "actualFormat": "unix"}"#,
            Some("1000000000"),
            true,
        );
        assert_eq!(
            refused(r#"{"before": "soon"}"#),
            "/before: \"soon\" is not a date, a time or an offset from now: write it like 2021-05-01T12:00:00Z or \"now +3 days\""
        );
        assert!(
            refused(r#"{"before": "now", "truncateActual": "x"}"#).contains("first day of month")
        );
    }
}
