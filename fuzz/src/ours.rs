//! The story as our codec tells it: the decoder over all bytes at once, and the connection's reader over pieces.

pub use crate::drive::Cuts;
use crate::drive::{Pieces, drive};
use crate::story::{End, Message, Start, Story, field_map};
use plimsoll_http::decode::{Event, Head, MessageDecoder, RequestDecoder, ResponseDecoder};
use plimsoll_http::{
    ClientConnection, Framing, Limits, ReadError, RequestHead, ResponseHead, ServerConnection,
    Version,
};

/// A head, in the terms of a story.
pub trait Told: Head {
    /// The start line, taken apart.
    fn start(&self) -> Start;
    /// The header fields.
    fn fields(&self) -> &plimsoll_http::Fields;
    /// Whether the connection stays open afterwards.
    fn keep_alive(&self) -> bool;
}

impl Told for RequestHead {
    fn start(&self) -> Start {
        let method = self.method().to_owned();
        let is_absolute = !self.target().starts_with('/') && self.target() != "*";
        let authority = if is_absolute { self.authority() } else { "" };
        Start {
            version: minor(self.version()),
            method,
            authority: authority.to_owned(),
            path: self.path().to_owned(),
            query: self.query().map(str::to_owned),
            ..Start::default()
        }
    }

    fn fields(&self) -> &plimsoll_http::Fields {
        RequestHead::fields(self)
    }

    fn keep_alive(&self) -> bool {
        RequestHead::keep_alive(self)
    }
}

impl Told for ResponseHead {
    fn start(&self) -> Start {
        Start {
            version: minor(self.version()),
            status: self.status(),
            reason: self.reason().to_vec(),
            ..Start::default()
        }
    }

    fn fields(&self) -> &plimsoll_http::Fields {
        ResponseHead::fields(self)
    }

    fn keep_alive(&self) -> bool {
        ResponseHead::keep_alive(self)
    }
}

fn minor(version: Version) -> u8 {
    match version {
        Version::Http10 => 0,
        Version::Http11 => 1,
        Version::Http2 => unreachable!("the codec decodes HTTP/1"),
    }
}

fn message<H: Told>(head: &H, complete: bool) -> Message {
    Message {
        start: head.start(),
        fields: field_map(head.fields()),
        complete,
        ..Message::default()
    }
}

/// The requests in `bytes`, up to one that closes the connection.
pub fn decode_requests(bytes: &[u8], limits: Limits) -> Story {
    decode(RequestDecoder::new(limits), bytes)
}

/// The responses in `bytes`, up to one that closes the connection; the first may answer a HEAD request.
pub fn decode_responses(bytes: &[u8], limits: Limits, to_head: bool) -> Story {
    let mut decoder = ResponseDecoder::new(limits);
    decoder.expect(to_head);
    decode(decoder, bytes)
}

fn decode<H: Told>(mut decoder: MessageDecoder<H>, bytes: &[u8]) -> Story {
    let mut messages: Vec<Message> = Vec::new();
    let mut at = 0;
    let end = loop {
        let rest = &bytes[at..];
        let step = match decoder.decode(rest) {
            Ok(step) => step,
            Err(error) => break End::Refused(error, at),
        };
        assert!(step.consumed <= rest.len(), "consumed what is not there");
        at += step.consumed;
        match step.event {
            Event::NeedMore => {
                if decoder.head().framing() == Framing::UntilClose && decoder.may_end_here() {
                    messages.last_mut().expect("a head came first").complete = true;
                    break End::Closing;
                }
                break End::Waiting;
            }
            Event::Head => messages.push(message(decoder.head(), false)),
            Event::Interim => messages.push(message(decoder.head(), true)),
            Event::Data(range) => {
                assert!(!range.is_empty(), "no data, and yet an event");
                let last = messages.last_mut().expect("a head came first");
                last.body.extend_from_slice(&rest[range]);
            }
            Event::End => {
                let last = messages.last_mut().expect("a head came first");
                last.complete = true;
                last.trailers = field_map(decoder.trailers());
                if !decoder.head().keep_alive() {
                    break End::Closing;
                }
            }
        }
    };
    Story { messages, end }
}

/// The requests in `bytes`, like those of [`decode_requests`], through a server's connection that gets the bytes in pieces.
pub fn read_requests(bytes: &[u8], limits: Limits, cuts: Cuts) -> Story {
    let pieces = Pieces::new(bytes, cuts);
    let mut reader = ServerConnection::new(pieces, (), limits).requests;
    let mut messages = Vec::new();
    let end = loop {
        match drive(reader.next_head()).expect("the stream never waits") {
            Ok(true) => {}
            Ok(false) => break End::Waiting,
            Err(error) => break end_of(&error),
        }
        messages.push(message(reader.head(), false));
        let last = messages.last_mut().expect("pushed above");
        if let Err(error) = drive(async {
            while let Some(data) = reader.next_data().await? {
                last.body.extend_from_slice(data);
            }
            Ok::<(), ReadError>(())
        })
        .expect("the stream never waits")
        {
            break end_of(&error);
        }
        last.complete = true;
        last.trailers = field_map(reader.trailers());
        if !reader.head().keep_alive() {
            break End::Closing;
        }
    };
    Story { messages, end }
}

/// The responses in `bytes`, like those of [`decode_responses`], through a client's connection that gets the bytes in pieces.
pub fn read_responses(bytes: &[u8], limits: Limits, to_head: bool, cuts: Cuts) -> Story {
    let pieces = Pieces::new(bytes, cuts);
    let mut reader = ClientConnection::new(pieces, (), limits).responses;
    reader.expect(to_head);
    let mut messages = Vec::new();
    let end = loop {
        if let Err(error) = drive(reader.next_head()).expect("the stream never waits") {
            break end_of(&error);
        }
        messages.push(message(reader.head(), false));
        let last = messages.last_mut().expect("pushed above");
        let is_interim = reader.head().is_interim();
        if let Err(error) = drive(async {
            while let Some(data) = reader.next_data().await? {
                last.body.extend_from_slice(data);
            }
            Ok::<(), ReadError>(())
        })
        .expect("the stream never waits")
        {
            break end_of(&error);
        }
        last.complete = true;
        if is_interim {
            continue;
        }
        last.trailers = field_map(reader.trailers());
        if !reader.head().keep_alive() {
            break End::Closing;
        }
    };
    Story { messages, end }
}

/// Offsets are known to the decoder alone.
fn end_of(error: &ReadError) -> End {
    match error {
        ReadError::Protocol(error) => End::Refused(*error, 0),
        ReadError::Closed => End::Waiting,
        ReadError::Io(error) => panic!("a stream in memory failed: {error}"),
    }
}
