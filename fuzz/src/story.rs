//! The story of a connection, in terms that our codec and hyper have in common.

use plimsoll_http::{Fields, ProtocolError};
use std::collections::BTreeMap;

/// Fields by their name in small letters; the values of one name in order.
pub type FieldMap = BTreeMap<String, Vec<Vec<u8>>>;

/// The story of a connection by one reader of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// Messages in order; only the last may be incomplete.
    pub messages: Vec<Message>,
    /// Where the reader stopped.
    pub end: End,
}

/// One message whose head was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The start line.
    pub start: Start,
    /// The header fields.
    pub fields: FieldMap,
    /// The body, decoded, as far as it was read.
    pub body: Vec<u8>,
    /// The fields behind a chunked body.
    pub trailers: FieldMap,
    /// Whether the message's end was reached.
    pub complete: bool,
}

/// A start line, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// The minor version.
    pub version: u8,
    /// Of a request.
    pub method: String,
    /// Of an absolute target or of CONNECT; empty otherwise.
    pub authority: String,
    /// The path of a request's target.
    pub path: String,
    /// The query of a request's target, without its question mark.
    pub query: Option<String>,
    /// Of a response.
    pub status: u16,
    /// The reason phrase of a response.
    pub reason: Vec<u8>,
}

/// Why reading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The bytes are used up, between two messages or inside one.
    Waiting,
    /// A message was complete behind which the connection is not used any more.
    Closing,
    /// Our codec refused what begins at this offset: the head or, inside a message, the piece of its body.
    Refused(ProtocolError, usize),
    /// The oracle refused.
    RefusedByOracle(String),
}

/// Our fields in the form that is compared.
pub fn field_map(fields: &Fields) -> FieldMap {
    let mut map = FieldMap::new();
    for (name, value) in fields.iter() {
        map.entry(name.to_ascii_lowercase())
            .or_default()
            .push(value.to_vec());
    }
    map
}

/// hyper's fields in the form that is compared.
pub(crate) fn header_map(headers: &hyper::HeaderMap) -> FieldMap {
    let mut map = FieldMap::new();
    for (name, value) in headers {
        map.entry(name.as_str().to_owned())
            .or_default()
            .push(value.as_bytes().to_vec());
    }
    map
}
