//! One value that content patterns are held against: a header's, a parameter's, a body. What patterns make of it is kept with it.

use crate::json::{Json, first_document};
use crate::xml::Document;
use bumpalo::Bump;
use self_cell::self_cell;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;

/// A value, as received or decoded.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    bytes: Cow<'a, [u8]>,
    /// The value as JSON, parsed once for however many stubs ask.
    json: OnceCell<Parsed>,
    /// The same as serde_json has it, for those who work with that.
    value: OnceCell<Option<Value>>,
    /// Likewise as XML.
    xml: OnceCell<Option<Document>>,
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
    pub(crate) fn json(&self) -> Option<&Json<'_>> {
        let parsed = self.json.get_or_init(|| Parsed::of(&self.bytes));
        parsed.borrow_dependent().as_ref()
    }

    /// The same as serde_json has it.
    pub(crate) fn value(&self) -> Option<&Value> {
        let value = || match self.json.get() {
            Some(parsed) => parsed.borrow_dependent().as_ref().map(Json::to_value),
            // Nobody has asked for the other form, and perhaps nobody will.
            None => first_document(&self.bytes),
        };
        self.value.get_or_init(value).as_ref()
    }

    /// The value as XML, if it is.
    pub(crate) fn xml(&self) -> Option<&Document> {
        let read = || Document::parse(&self.text()).ok();
        self.xml.get_or_init(read).as_ref()
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

type First<'p> = Option<Json<'p>>;

impl Parsed {
    fn of(bytes: &[u8]) -> Self {
        // A document usually takes up to four times as much as its text.
        let arena = Bump::with_capacity(5 * bytes.len());
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
            assert_eq!(one.value(), expected.as_ref());
            assert!(one.json.get().is_none());
            assert_eq!(both.json().map(Json::to_value), expected);
            assert_eq!(both.value(), expected.as_ref());
        };
        check(r#"{"a": [1, 2.5]} x"#, Some(json!({"a": [1, 2.5]})));
        check("text", None);
    }
}
