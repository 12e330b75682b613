//! One value that content patterns are held against: a header's, a parameter's, a body. What patterns make of it is kept with it.

use crate::budget::TooCostly;
use crate::json::{Json, first_document, may_be_tree};
use crate::xml::{Document, Unread};
use bumpalo::Bump;
use self_cell::self_cell;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;

/// Up to this length of a text there is room for its document before it is read.
const MOST_AHEAD: usize = 256 << 10;

/// A value, as received or decoded.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    bytes: Cow<'a, [u8]>,
    /// The value as JSON, parsed once for however many stubs ask.
    json: OnceCell<Parsed>,
    /// The same as serde_json has it, for those who work with that.
    value: OnceCell<Result<Option<Value>, TooCostly>>,
    /// Likewise as XML.
    xml: OnceCell<Result<Option<Document>, TooCostly>>,
}

impl<'a> Content<'a> {
    /// A value that is there, possibly empty.
    pub(crate) fn of(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            bytes: bytes.into(),
            json: OnceCell::new(),
            value: OnceCell::new(),
            xml: OnceCell::new(),
        }
    }

    /// The value as text that somebody made.
    pub(crate) fn text_of(text: String) -> Self {
        Self::of(text.into_bytes())
    }

    /// The value as it is.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The value as text; what is not UTF-8 becomes U+FFFD.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// The value as JSON, if it is. What follows the first document does not matter, as it does not to Jackson.
    pub(crate) fn json(&self) -> Result<Option<&Json<'_>>, TooCostly> {
        let parsed = self.json.get_or_init(|| Parsed::of(&self.bytes));
        parsed
            .borrow_dependent()
            .as_ref()
            .map(Option::as_ref)
            .map_err(|error| *error)
    }

    /// The same as serde_json has it.
    pub(crate) fn value(&self) -> Result<Option<&Value>, TooCostly> {
        let value = || match self.json.get().map(Parsed::borrow_dependent) {
            Some(Ok(Some(json))) => {
                may_be_tree(&self.bytes)?;
                Ok(Some(json.to_value()))
            }
            Some(Ok(None)) => Ok(None),
            Some(Err(error)) => Err(*error),
            // Nobody has asked for the other form, and perhaps nobody will.
            None => first_document(&self.bytes),
        };
        let value = self.value.get_or_init(value);
        value.as_ref().map(Option::as_ref).map_err(|error| *error)
    }

    /// The value as XML, if it is.
    pub(crate) fn xml(&self) -> Result<Option<&Document>, TooCostly> {
        let read = || match Document::parse(&self.text()) {
            Ok(document) => Ok(Some(document)),
            Err(Unread::Malformed(_)) => Ok(None),
            Err(Unread::TooCostly(_)) => Err(TooCostly::Parts),
        };
        let xml = self.xml.get_or_init(read);
        xml.as_ref().map(Option::as_ref).map_err(|error| *error)
    }
}

self_cell! {
    /// The first JSON document of a text, if there is one, and the arena that it and the text stand in.
    struct Parsed {
        owner: Bump,

        #[covariant]
        dependent: First,
    }

    impl {Debug}
}

type First<'p> = Result<Option<Json<'p>>, TooCostly>;

impl Parsed {
    fn of(bytes: &[u8]) -> Self {
        // A document usually takes up to four times as much as its text.
        let arena = Bump::with_capacity(5 * bytes.len().min(MOST_AHEAD));
        Self::new(arena, |arena| {
            Json::first_of(arena.alloc_slice_copy(bytes), arena)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_form_of_json_does_not_make_the_other() {
        let check = |text: &str, expected: Option<Value>| {
            let (one, both) = (Content::of(text.as_bytes()), Content::of(text.as_bytes()));
            assert_eq!(one.value(), Ok(expected.as_ref()));
            assert!(one.json.get().is_none());
            assert_eq!(both.json().unwrap().map(Json::to_value), expected);
            assert_eq!(both.value(), Ok(expected.as_ref()));
        };
        check(r#"{"a": [1, 2.5]} x"#, Some(json!({"a": [1, 2.5]})));
        check("text", None);
    }
}
