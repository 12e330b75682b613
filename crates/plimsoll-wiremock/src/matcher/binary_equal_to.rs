//! `{"binaryEqualTo": "base64"}`: the same bytes.

use super::Matcher;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The bytes.
#[derive(Debug, Clone)]
pub struct BinaryEqualTo(Box<[u8]>);

pub(super) fn read(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let text = operand.string(problems)?;
    let Ok(bytes) = BASE64.decode(text.trim()) else {
        return operand.wrong("base64", problems);
    };
    Some(Matcher::BinaryEqualTo(BinaryEqualTo(bytes.into())))
}

impl BinaryEqualTo {
    pub(super) fn holds(&self, value: &Content<'_>) -> bool {
        *self.0 == *value.bytes()
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::{check, refused};

    #[test]
    fn bytes_are_compared() {
        check(r#"{"binaryEqualTo": "aGk="}"#, Some("hi"), true);
        check(r#"{"binaryEqualTo": "aGk="}"#, Some("hi "), false);
        assert!(refused(r#"{"binaryEqualTo": "%"}"#).contains("must be base64"));
    }
}
