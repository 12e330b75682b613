//! The head of an answer, whatever protocol brought it.

use http::response::Parts;
use plimsoll_http::ResponseHead;

/// The head of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer<'a> {
    /// As HTTP/1.1 brings it.
    Http1(&'a ResponseHead),
    /// As HTTP/2 brings it.
    Http2(&'a Parts),
}

impl<'a> Answer<'a> {
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
