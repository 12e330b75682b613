//! An answer as checks and extractions see it: its head, whatever protocol brought it, and its body, decoded once.

use super::decode::decode;
use crate::clock::Nanos;
use http::response::Parts;
use plimsoll_http::ResponseHead;
use serde_json::Value as Json;
use std::cell::OnceCell;

/// The head of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Head<'a> {
    /// As HTTP/1.1 brings it.
    Http1(&'a ResponseHead),
    /// As HTTP/2 brings it.
    Http2(&'a Parts),
}

impl<'a> Head<'a> {
    /// The first value of a field, whatever the case of its name.
    pub(crate) fn field(self, name: &str) -> Option<&'a [u8]> {
        match self {
            Self::Http1(head) => head.fields().get(name),
            Self::Http2(head) => head.headers.get(name).map(http::HeaderValue::as_bytes),
        }
    }

    /// Calls `each` with every value of a field, in the order in which they came.
    pub(crate) fn each_field(self, name: &str, mut each: impl FnMut(&'a [u8])) {
        match self {
            Self::Http1(head) => head.fields().get_all(name).for_each(each),
            Self::Http2(head) => head
                .headers
                .get_all(name)
                .iter()
                .for_each(|value| each(value.as_bytes())),
        }
    }
}

/// An answer, for checks and extractions.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) head: Head<'a>,
    /// As it was received, up to the limit of what is looked into.
    pub(crate) raw: &'a [u8],
    /// Its whole length.
    pub(crate) body_bytes: u64,
    /// The exchange's response time.
    pub(crate) response: Nanos,
    decoded: OnceCell<Option<Vec<u8>>>,
    json: OnceCell<Option<Json>>,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(
        status: u16,
        head: Head<'a>,
        raw: &'a [u8],
        body_bytes: u64,
        response: Nanos,
    ) -> Self {
        Self {
            status,
            head,
            raw,
            body_bytes,
            response,
            decoded: OnceCell::new(),
            json: OnceCell::new(),
        }
    }

    /// The body without its content coding; `None` where that cannot be undone.
    pub(super) fn body(&self) -> Option<&[u8]> {
        let coding = self.head.field("content-encoding");
        let coding = coding.filter(|coding| !coding.eq_ignore_ascii_case(b"identity"));
        let Some(coding) = coding else {
            return Some(self.raw);
        };
        let decoded = self.decoded.get_or_init(|| {
            let mut decoded = Vec::new();
            let result = decode(coding, self.raw, &mut decoded);
            result.is_ok().then_some(decoded)
        });
        decoded.as_deref()
    }

    /// The body as JSON, parsed once; `None` where it is none.
    pub(super) fn json(&self) -> Option<&Json> {
        let json = self
            .json
            .get_or_init(|| serde_json::from_slice(self.body()?).ok());
        json.as_ref()
    }
}
