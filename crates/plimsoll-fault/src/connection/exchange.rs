//! One exchange of HTTP on a connection whose client asked for its server by the target of a request: where request and answer end.
//!
//! Nothing is changed here. A request behind the first may be for another server, so it is not let through.

use crate::direction::Direction;
use plimsoll_http::decode::{Event, Head, MessageDecoder};
use plimsoll_http::{Limits, ProtocolError, RequestHead, ResponseHead};

/// Bodies may be as long as they are: none is kept.
const LIMITS: Limits = Limits {
    head_bytes: 32 * 1024,
    fields: 1024,
    target_bytes: 8 * 1024,
    body_bytes: u64::MAX,
    trailer_bytes: 8 * 1024,
};

/// A request that is under way, and its answer.
#[derive(Debug)]
pub struct Exchange {
    request: Message<RequestHead>,
    response: Message<ResponseHead>,
}

/// How bytes that were read go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goes {
    /// So many of them.
    Part(usize),
    /// So many of them, and then nothing more.
    Last(usize),
    /// All of them, and both peers speak what they want from here on.
    Unheard,
}

impl Exchange {
    /// The exchange that a request begins, of which nothing has been read but its head.
    ///
    /// # Errors
    /// It is none.
    pub fn of(head: &RequestHead) -> Result<Self, ProtocolError> {
        let mut exchange = Self {
            request: Message::new(),
            response: Message::new(),
        };
        exchange.request.follow(head.text())?;
        exchange.response.decoder.expect(head.method() == "HEAD");
        Ok(exchange)
    }

    /// How bytes go on that came from the sender of a direction.
    pub fn follow(&mut self, direction: Direction, bytes: &[u8]) -> Goes {
        match direction {
            Direction::Upstream => match self.request.follow(bytes) {
                Ok(count) => Goes::Part(count),
                // Its server shall not wait for an end that nobody can see.
                Err(_) => Goes::Last(0),
            },
            Direction::Downstream => match self.response.follow(bytes) {
                Ok(_) if self.response.switches_protocol() => Goes::Unheard,
                Ok(count) if self.response.has_ended => Goes::Last(count),
                Ok(count) => Goes::Part(count),
                Err(_) => Goes::Unheard,
            },
        }
    }
}

/// A message, as far as it has come.
#[derive(Debug)]
struct Message<H> {
    decoder: MessageDecoder<H>,
    /// The beginning of a line.
    undecoded: Vec<u8>,
    has_ended: bool,
}

impl<H: Head> Message<H> {
    fn new() -> Self {
        Self {
            decoder: MessageDecoder::new(LIMITS),
            undecoded: Vec::new(),
            has_ended: false,
        }
    }

    /// How many of the bytes belong to it.
    fn follow(&mut self, bytes: &[u8]) -> Result<usize, ProtocolError> {
        if self.has_ended {
            return Ok(0);
        }
        let before = self.undecoded.len();
        self.undecoded.extend_from_slice(bytes);
        let mut decoded = 0;
        loop {
            let step = self.decoder.decode(&self.undecoded[decoded..])?;
            decoded += step.consumed;
            self.has_ended = match step.event {
                Event::NeedMore => {
                    self.undecoded.drain(..decoded);
                    return Ok(bytes.len());
                }
                Event::Head => !self.decoder.body_pending(),
                Event::Interim | Event::Data(_) => false,
                Event::End => true,
            };
            if self.has_ended {
                self.undecoded = Vec::new();
                return Ok(decoded - before);
            }
        }
    }
}

impl Message<ResponseHead> {
    fn switches_protocol(&self) -> bool {
        self.has_ended && self.decoder.head().status() == 101
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Downstream, Upstream};

    const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

    fn exchange(head: &str) -> Exchange {
        let version = plimsoll_http::Version::Http11;
        let head = RequestHead::from_text(head.as_bytes(), version).unwrap();
        Exchange::of(&head).unwrap()
    }

    /// In one piece, and byte by byte: how many bytes go on, and whether anything may follow them.
    fn check(head: &str, direction: Direction, bytes: &str, expected: Goes) {
        let whole = exchange(head).follow(direction, bytes.as_bytes());
        assert_eq!(whole, expected, "{bytes}");
        let mut exchange = exchange(head);
        let mut passed = 0;
        for byte in bytes.as_bytes() {
            match exchange.follow(direction, std::slice::from_ref(byte)) {
                Goes::Part(count) => passed += count,
                Goes::Last(count) => {
                    assert_eq!(Goes::Last(passed + count), expected, "{bytes}");
                    return;
                }
                Goes::Unheard => {
                    assert_eq!(Goes::Unheard, expected, "{bytes}");
                    return;
                }
            }
        }
        assert_eq!(Goes::Part(passed), expected, "{bytes}");
    }

    #[test]
    fn a_request_ends_with_its_body() {
        check(GET, Upstream, "GET http://b/", Goes::Part(0));
        let sized = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
        check(sized, Upstream, "hello, world", Goes::Part(5));
        let chunks = "5\r\nhello\r\n0\r\nA: b\r\n\r\n";
        let more = format!("{chunks}GET http://b/");
        check(CHUNKED, Upstream, &more, Goes::Part(chunks.len()));
    }

    #[test]
    fn a_request_without_a_visible_end_is_ended() {
        let goes = exchange(CHUNKED).follow(Upstream, b"five\r\nhello");
        assert_eq!(goes, Goes::Last(0));
    }

    #[test]
    fn an_answer_ends_with_its_body() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n";
        check(GET, Downstream, interim, Goes::Part(interim.len()));
        let answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let more = format!("{answer}more");
        check(GET, Downstream, &more, Goes::Last(answer.len()));
        let until_close = "HTTP/1.1 200 OK\r\n\r\nok";
        check(GET, Downstream, until_close, Goes::Part(until_close.len()));
        let none = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        check(
            "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
            Downstream,
            none,
            Goes::Last(none.len()),
        );
    }

    #[test]
    fn other_protocols_are_left_alone() {
        let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n";
        check(GET, Downstream, switching, Goes::Unheard);
        let goes = exchange(GET).follow(Downstream, b"SSH-2.0-x\r\n");
        assert_eq!(goes, Goes::Unheard);
    }
}
