//! One value that content patterns are held against: a header's, a parameter's, a body. What patterns make of it is kept with it.

use crate::budget::{Budget, TooCostly};
use crate::document::json::{Json, first_document, may_be_tree, tree_budget};
use crate::document::xml::{Document, Unread};
use crate::request::misread::Misread;
use bumpalo::Bump;
use plimsoll_base::document::values_in;
use self_cell::self_cell;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Up to this length of a text there is room for its document before it is read.
const MOST_AHEAD: usize = 256 << 10;

/// A value, as received or decoded.
#[derive(Debug, Default)]
pub struct Content<'a> {
    bytes: Cow<'a, [u8]>,
    /// The value as JSON, parsed once for however many stubs ask.
    json: OnceCell<Parsed>,
    /// The value as serde_json has it, for matchers that work with that.
    value: OnceCell<Result<Option<Value>, TooCostly>>,
    /// Likewise as XML.
    xml: OnceCell<Result<Option<Document>, TooCostly>>,
    /// Formats that patterns could not read it as.
    misread: Cell<Misread>,
    /// Room for documents made of it and of others that are kept with it.
    room: Option<Rc<Room>>,
    /// Whether it matches, by the pattern's address, if it is long.
    judged: RefCell<BTreeMap<usize, Result<bool, TooCostly>>>,
}

/// From this length on a verdict is kept: the table of differences asks again what finding the stub has asked.
const LONG: usize = 64 << 10;

/// Values of JSON and parts of XML that are read from any values that are kept together, and for how many bytes there may be one more.
const TOGETHER: usize = 64_000;
const BYTES_A_PART: usize = 4;
/// Weight of a tag with the text behind it.
const COST_OF_A_TAG: usize = 3;

/// How much may be made of several values that are kept together.
#[derive(Debug)]
pub struct Room {
    parts: Budget,
    trees: Budget,
}

impl Room {
    /// For values of so many bytes in all.
    pub fn for_bytes(bytes: usize) -> Rc<Self> {
        Rc::new(Self {
            parts: Budget::of(TOGETHER + bytes / BYTES_A_PART),
            trees: tree_budget(bytes),
        })
    }
}

impl<'a> Content<'a> {
    /// A value that is there, possibly empty.
    pub fn of(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            bytes: bytes.into(),
            json: OnceCell::new(),
            value: OnceCell::new(),
            xml: OnceCell::new(),
            misread: Cell::default(),
            room: None,
            judged: RefCell::default(),
        }
    }

    /// The value as one of several that share what may be made of them.
    pub fn within(self, room: &Rc<Room>) -> Self {
        Self {
            room: Some(Rc::clone(room)),
            ..self
        }
    }

    /// The value as text that somebody made.
    pub fn text_of(text: String) -> Self {
        Self::of(text.into_bytes())
    }

    /// Judgement of a pattern, which outlives the value: `judge` is asked once if the value is long.
    pub fn judged<P>(
        &self,
        pattern: &P,
        judge: impl FnOnce() -> Result<bool, TooCostly>,
    ) -> Result<bool, TooCostly> {
        if self.bytes.len() < LONG {
            return judge();
        }
        let address = std::ptr::from_ref(pattern).addr();
        if let Some(verdict) = self.judged.borrow().get(&address) {
            return *verdict;
        }
        let verdict = judge();
        self.judged.borrow_mut().insert(address, verdict);
        verdict
    }

    /// Notes that a pattern could not read the value as this.
    pub fn note_misread(&self, form: Misread) {
        self.misread.set(self.misread.get() | form);
    }

    /// Formats that patterns could not read the value as.
    pub fn misread(&self) -> Misread {
        self.misread.get()
    }

    /// The value as it is.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The value as text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// The value as JSON, if it is. What follows the first document does not matter, as it does not to Jackson.
    pub fn json(&self) -> Result<Option<&Json<'_>>, TooCostly> {
        let parsed = self.json.get_or_init(|| {
            let room = self.room.as_ref();
            Parsed::of(&self.bytes, || {
                room.map_or(Ok(()), |room| spend(&room.parts, values_in(&self.bytes)))
            })
        });
        parsed
            .borrow_dependent()
            .as_ref()
            .map(Option::as_ref)
            .map_err(|error| *error)
    }

    /// The value as serde_json has it.
    pub fn value(&self) -> Result<Option<&Value>, TooCostly> {
        let admitted = || match &self.room {
            Some(room) => spend(&room.trees, values_in(&self.bytes)),
            None => Ok(()),
        };
        let value = || match self.json.get().map(Parsed::borrow_dependent) {
            Some(Ok(Some(json))) => {
                may_be_tree(&self.bytes).and_then(|()| admitted())?;
                Ok(Some(json.to_value()))
            }
            Some(Ok(None)) => Ok(None),
            Some(Err(error)) => Err(*error),
            // Nobody has asked for the other form, and perhaps nobody will.
            None => admitted().and_then(|()| first_document(&self.bytes)),
        };
        let value = self.value.get_or_init(value);
        value.as_ref().map(Option::as_ref).map_err(|error| *error)
    }

    /// The value as XML, if it is.
    pub fn xml(&self) -> Result<Option<&Document>, TooCostly> {
        let read = || {
            if let Some(room) = &self.room {
                let tags = memchr::memchr_iter(b'<', &self.bytes).count();
                spend(&room.parts, COST_OF_A_TAG * tags)?;
            }
            match Document::parse(&self.text()) {
                Ok(document) => Ok(Some(document)),
                Err(Unread::Malformed(_)) => Ok(None),
                Err(Unread::TooCostly(_)) => Err(TooCostly::Parts),
            }
        };
        let xml = self.xml.get_or_init(read);
        xml.as_ref().map(Option::as_ref).map_err(|error| *error)
    }
}

fn spend(budget: &Budget, parts: usize) -> Result<(), TooCostly> {
    budget.spend(parts).map_err(|_| TooCostly::Parts)
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
    fn of(bytes: &[u8], admitted: impl FnOnce() -> Result<(), TooCostly>) -> Self {
        // A document usually takes up to four times as much as its text.
        let arena = Bump::with_capacity(5 * bytes.len().min(MOST_AHEAD));
        Self::new(arena, |arena| {
            admitted()?;
            Json::first_of(arena.alloc_slice_copy(bytes), arena)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_are_kept_together_share_what_is_made_of_them() {
        let check = |text: &str, count: usize, made: fn(&Content<'_>) -> Option<TooCostly>| {
            let room = Room::for_bytes(count * text.len());
            let values = (0..count).map(|_| Content::of(text.as_bytes()).within(&room));
            let results: Vec<_> = values.map(|value| made(&value)).collect();
            (results[0], results[count - 1])
        };
        let list = format!("[{}0]", "{\"a\":0},".repeat(120));
        let document = format!("<a>{}</a>", "<b/>".repeat(240));
        let ends = (None, Some(TooCostly::Parts));
        assert_eq!(check(&list, 1_000, |value| value.value().err()), ends);
        assert_eq!(check(&document, 1_000, |value| value.xml().err()), ends);
        assert_eq!(check("[0,0,0]", 200_000, |value| value.json().err()), ends);
        for count in [1, 100] {
            assert_eq!(
                check(&document, count, |value| value.xml().err()),
                (None, None)
            );
            assert_eq!(
                check(&list, count, |value| value.json().err()),
                (None, None)
            );
        }
    }

    #[test]
    fn a_long_value_is_judged_once() {
        let check = |length: usize, expected: usize| {
            let value = Content::of(vec![b'x'; length]);
            let mut asked = 0;
            for pattern in [&1, &2, &1, &2] {
                let verdict = value.judged(pattern, || {
                    asked += 1;
                    Ok(*pattern == 2)
                });
                assert_eq!(verdict, Ok(*pattern == 2));
            }
            assert_eq!(asked, expected, "{length}");
        };
        check(LONG, 2);
        check(LONG - 1, 4);
    }

    #[test]
    fn one_form_of_json_does_not_make_the_other() {
        let check = |text: &str, expected: Option<Value>| {
            let (one, both) = (Content::of(text.as_bytes()), Content::of(text.as_bytes()));
            assert_eq!(one.value(), Ok(expected.as_ref()));
            assert!(one.json.get().is_none());
            assert_eq!(both.json().unwrap().map(|json| json.to_value()), expected);
            assert_eq!(both.value(), Ok(expected.as_ref()));
        };
        check(r#"{"a": [1, 2.5]} x"#, Some(json!({"a": [1, 2.5]})));
        check("text", None);
    }
}
