//! `{"equalTo": "text", "caseInsensitive": false}`.

use super::Matcher;
use crate::budget::{Budget, TooCostly};
use crate::matcher::edit_distance::text_distance;
use crate::reader::{Node, Object, Problems};
use std::str;

/// Equality with one text.
#[derive(Debug, Clone)]
pub enum EqualTo {
    /// Byte for byte.
    Exact(Box<[u8]>),
    /// Without regard to case; the text in lower case.
    AnyCase(Box<str>),
}

pub(super) fn read(
    operand: &Node<'_>,
    object: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let any_case = object
        .get("caseInsensitive")
        .and_then(|node| node.boolean(problems));
    let text = operand.string(problems)?;
    Some(Matcher::EqualTo(if any_case == Some(true) {
        EqualTo::AnyCase(text.to_lowercase().into())
    } else {
        EqualTo::Exact(text.into_bytes().into())
    }))
}

impl EqualTo {
    /// How far a text is from it.
    pub(super) fn distance(&self, value: &str, budget: &Budget) -> Result<f64, TooCostly> {
        match self {
            Self::Exact(text) => text_distance(&String::from_utf8_lossy(text), value, budget),
            Self::AnyCase(text) => text_distance(text, &value.to_lowercase(), budget),
        }
    }

    pub(super) fn holds(&self, value: &[u8]) -> bool {
        match self {
            Self::Exact(text) => **text == *value,
            Self::AnyCase(text) => str::from_utf8(value)
                .is_ok_and(|value| text.chars().eq(value.chars().flat_map(char::to_lowercase))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_matters_unless_said_otherwise() {
        let check = |equal_to: EqualTo, value: &[u8], expected| {
            assert_eq!(equal_to.holds(value), expected, "{equal_to:?} on {value:?}");
        };
        check(EqualTo::Exact((*b"Abc").into()), b"Abc", true);
        check(EqualTo::Exact((*b"Abc").into()), b"abc", false);
        check(EqualTo::AnyCase("grün".into()), "GRÜN".as_bytes(), true);
        check(EqualTo::AnyCase("abc".into()), b"abcd", false);
        check(EqualTo::AnyCase("abc".into()), b"ab\xff", false);
    }
}
