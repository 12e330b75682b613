//! The decoding half of the codec: bytes in, events out, no I/O.
//!
//! A decoder is given all bytes that it has not consumed yet and answers with how many it takes and one event. Any split of the
//! same bytes yields the same heads, the same body bytes and the same errors. It is strict: what two parsers could read
//! differently is refused (RFC 9112 with the stricter choice wherever it leaves one).

mod body;
mod line;
mod message;
mod request;
mod response;

pub use line::is_token;
pub use message::{Head, MessageDecoder};
pub use request::RequestDecoder;
pub use response::ResponseDecoder;

use std::ops::Range;

/// An event of decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Nothing yet: more input is needed. Some input may have been consumed all the same.
    NeedMore,
    /// A head is complete; the decoder holds it until the next one.
    Head,
    /// An interim response (1xx other than 101) is complete; the final one is still to come.
    Interim,
    /// Body bytes: a range of the input that was given.
    Data(Range<usize>),
    /// The message is complete, trailers included.
    End,
}

/// One step of decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the input are done with; the next call starts behind them.
    pub consumed: usize,
    /// The event that the consumed bytes brought.
    pub event: Event,
}

impl Step {
    fn new(consumed: usize, event: Event) -> Self {
        Self { consumed, event }
    }
}
