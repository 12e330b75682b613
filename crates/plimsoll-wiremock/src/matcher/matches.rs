//! `{"matches": "regex"}`: the whole value matches a Java regular expression.

use super::Matcher;
use crate::budget::TooCostly;
use crate::java::regex::JavaRegex;
use crate::reader::{Node, Object, Problems};

/// Weight of an expression that turns back, beside those that do not: it may take many steps of a short value.
const WEIGHT_OF_TURNING_BACK: usize = 200;

/// A whole-value regular expression.
#[derive(Debug, Clone)]
pub struct Matches(JavaRegex);

pub(super) fn read(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    JavaRegex::read(operand, problems).map(|regex| Matcher::Matches(Matches(regex)))
}

impl Matches {
    pub(super) fn new(regex: JavaRegex) -> Self {
        Self(regex)
    }

    pub(super) fn weight(&self) -> usize {
        if self.0.remembers() {
            WEIGHT_OF_TURNING_BACK
        } else {
            1
        }
    }

    pub(super) fn holds(&self, value: &[u8]) -> Result<bool, TooCostly> {
        self.0.matches(&String::from_utf8_lossy(value))
    }
}
