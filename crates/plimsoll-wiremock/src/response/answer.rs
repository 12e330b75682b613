//! An answer as the bytes that go to the socket, made once and sent many times.
//!
//! Which answer a request gets is decided elsewhere. Bodies are framed by `Content-Length`.

mod gzip;
mod http2;

use bytes::Bytes;
pub use gzip::Coding;
use http::HeaderMap;
use plimsoll_http::encode;
use std::sync::OnceLock;

/// How much of a long answer is queued at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// Bytes of the empty line that ends a head.
const END_OF_HEAD: usize = 2;
/// Text that bodies of letters repeat.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A complete HTTP/1.1 response: head, empty line, body.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    bytes: Bytes,
    /// Where the fields end: the empty line follows.
    fields_end: usize,
    /// So many letters follow `bytes`. They are made when they are sent, so that a long answer takes no memory.
    letters: usize,
    /// Whether it says `Connection: close` itself.
    closes: bool,
    /// Its fields in the form of HTTP/2, once somebody wants them.
    http2: OnceLock<Box<HeaderMap>>,
}

/// The parts of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'a> {
    /// Its status.
    pub status: u16,
    /// Header fields in their order.
    pub fields: Vec<(String, String)>,
    /// The body as it goes out.
    pub body: &'a [u8],
}

/// How one request wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Whether the connection stays open.
    pub persistence: Persistence,
    /// How much of the answer goes out.
    pub extent: Extent,
}

/// Fate of the connection afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// It stays, which in HTTP/1.1 goes without saying.
    Keep,
    /// It stays, and an HTTP/1.0 client must be told.
    KeepSaid,
    /// It closes.
    Close,
}

/// How much of the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// To HEAD: no body.
    HeadOnly,
}

impl Answer {
    /// A text answer of our own.
    pub fn text(status: u16, text: &str) -> Self {
        AnswerBuilder::new(status, None)
            .field("Content-Type", "text/plain;charset=UTF-8")
            .body(text.as_bytes())
    }

    /// A JSON answer of our own.
    pub fn json(status: u16, value: &serde_json::Value) -> Self {
        Self::json_text(status, &value.to_string())
    }

    /// A document that is written already.
    pub fn json_text(status: u16, text: &str) -> Self {
        AnswerBuilder::new(status, None)
            .field("Content-Type", "application/json")
            .body(text.as_bytes())
    }

    /// Its status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Bytes of memory that it takes beyond itself.
    pub fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Its parts, for showing. Letters that are made when they are sent are not among them, nor is the length, which frames it.
    pub fn shown(&self) -> Shown<'_> {
        // In the coding in which fields are written.
        let head: String = self.bytes[..self.fields_end]
            .iter()
            .map(|byte| char::from(*byte))
            .collect();
        let fields = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "));
        Shown {
            status: self.status,
            fields: fields
                .filter(|(name, _)| !name.eq_ignore_ascii_case("Content-Length"))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: &self.bytes[self.fields_end + END_OF_HEAD..],
        }
    }

    /// This answer with more fields, whose names and values must have been checked.
    pub fn with_fields(&self, fields: &[(&str, &str)]) -> Self {
        let mut bytes = self.bytes[..self.fields_end].to_vec();
        for (name, value) in fields {
            encode::field(&mut bytes, name, latin_1(value));
        }
        self.with_head(bytes)
    }

    /// This answer without the fields of some names.
    pub fn without(&self, unwanted: impl Fn(&str) -> bool) -> Self {
        let lines = self.bytes[..self.fields_end].split_inclusive(|byte| *byte == b'\n');
        let is_wanted = |line: &&[u8]| {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            !std::str::from_utf8(name).is_ok_and(&unwanted)
        };
        self.with_head(lines.filter(is_wanted).flatten().copied().collect())
    }

    /// This answer with another status line and fields.
    fn with_head(&self, mut bytes: Vec<u8>) -> Self {
        let fields_end = bytes.len();
        bytes.extend_from_slice(&self.bytes[self.fields_end..]);
        Self {
            status: self.status,
            bytes: bytes.into(),
            fields_end,
            letters: self.letters,
            closes: self.closes,
            http2: OnceLock::new(),
        }
    }

    /// Whether the connection must close after this answer, whatever the client wishes.
    pub fn closes(&self) -> bool {
        self.closes
    }

    /// Bytes of the body.
    pub fn body_len(&self) -> usize {
        self.bytes.len() - self.fields_end - END_OF_HEAD + self.letters
    }

    /// Whether it goes out in several pieces, so that a client which takes its time holds little memory.
    pub fn is_long(&self) -> bool {
        self.body_len() > PIECE_BYTES
    }

    /// Queues the head of a long answer in `out`.
    pub fn append_head(&self, out: &mut Vec<u8>, persistence: Persistence) {
        let extent = Extent::HeadOnly;
        self.append_to(
            out,
            Form {
                persistence,
                extent,
            },
        );
    }

    /// Queues the next piece of the body, from byte `from` of it, in `out`; where the one after it begins, `None` for the last.
    pub fn append_piece(&self, out: &mut Vec<u8>, from: usize) -> Option<usize> {
        self.append_until(out, from, self.body_len())
    }

    /// Queues the next piece of what lies before byte `end` of the body; where the one after it begins, `None` for the last.
    pub fn append_until(&self, out: &mut Vec<u8>, from: usize, end: usize) -> Option<usize> {
        let body = &self.bytes[self.fields_end + END_OF_HEAD..];
        let to = end.min(from + PIECE_BYTES);
        out.extend_from_slice(&body[from.min(body.len())..to.min(body.len())]);
        let letters = LETTERS.iter().copied().cycle();
        let skipped = from.saturating_sub(body.len()) % LETTERS.len();
        out.extend(
            letters
                .skip(skipped)
                .take(to - from.max(body.len()).min(to)),
        );
        (to < end).then_some(to)
    }

    /// Queues the answer in `out`.
    pub fn append_to(&self, out: &mut Vec<u8>, form: Form) {
        let connection: &[u8] = match form.persistence {
            Persistence::Keep => b"",
            _ if self.closes => b"",
            Persistence::KeepSaid => b"Connection: keep-alive\r\n",
            Persistence::Close => b"Connection: close\r\n",
        };
        if connection.is_empty() && form.extent == Extent::Whole && self.letters == 0 {
            out.extend_from_slice(&self.bytes);
            return;
        }
        out.extend_from_slice(&self.bytes[..self.fields_end]);
        out.extend_from_slice(connection);
        match form.extent {
            Extent::Whole => {
                encode::end_head(out);
                let mut next = Some(0);
                while let Some(from) = next {
                    next = self.append_piece(out, from);
                }
            }
            Extent::HeadOnly => encode::end_head(out),
        }
    }
}

/// Assembles an [`Answer`].
#[derive(Debug, Clone)]
pub struct AnswerBuilder {
    bytes: Vec<u8>,
    status: u16,
    has_length: bool,
    closes: bool,
}

impl AnswerBuilder {
    /// Starts with the status line; without a reason it has the standard phrase.
    pub fn new(status: u16, reason: Option<&str>) -> Self {
        let mut bytes = Vec::with_capacity(256);
        encode::status_line(&mut bytes, status, reason.map(str::as_bytes));
        Self {
            bytes,
            status,
            has_length: false,
            closes: false,
        }
    }

    /// Adds a field; its name and value must have been checked.
    pub fn field(mut self, name: &str, value: &str) -> Self {
        self.has_length |= name.eq_ignore_ascii_case("Content-Length");
        self.closes |= name.eq_ignore_ascii_case("Connection")
            && value
                .split(',')
                .any(|option| option.trim().eq_ignore_ascii_case("close"));
        encode::field(&mut self.bytes, name, latin_1(value));
        self
    }

    /// No length is said but one that was given: the body is not known.
    pub fn of_unsaid_length(mut self) -> Self {
        self.has_length = true;
        self
    }

    /// Ends with a body of so many letters.
    pub fn letters(mut self, count: usize) -> Answer {
        encode::content_length(&mut self.bytes, count as u64);
        self.has_length = true;
        Answer {
            letters: count,
            ..self.body(b"")
        }
    }

    /// Ends with a body; a status that has none gets none.
    pub fn body(mut self, body: &[u8]) -> Answer {
        let has_body = !matches!(self.status, 204 | 304);
        if has_body && !self.has_length {
            encode::content_length(&mut self.bytes, body.len() as u64);
        }
        let fields_end = self.bytes.len();
        encode::end_head(&mut self.bytes);
        if has_body {
            self.bytes.extend_from_slice(body);
        }
        Answer {
            status: self.status,
            bytes: self.bytes.into(),
            fields_end,
            letters: 0,
            closes: self.closes,
            http2: OnceLock::new(),
        }
    }
}

/// A field's value as Jetty, and so WireMock, writes it: in ISO 8859-1, with `?` for what that does not have.
fn latin_1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(c).unwrap_or(b'?'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &Answer, persistence: Persistence, extent: Extent, expected: &str) {
        let mut out = Vec::new();
        answer.append_to(
            &mut out,
            Form {
                persistence,
                extent,
            },
        );
        assert_eq!(
            String::from_utf8(out).unwrap(),
            expected.replace('\n', "\r\n")
        );
    }

    #[test]
    fn an_answer_in_every_form() {
        let answer = AnswerBuilder::new(200, Some("Fine"))
            .field("A", "b")
            .body(b"hi");
        let head = "HTTP/1.1 200 Fine\nA: b\nContent-Length: 2\n";
        check(
            &answer,
            Persistence::Keep,
            Extent::Whole,
            &format!("{head}\nhi"),
        );
        check(
            &answer,
            Persistence::Keep,
            Extent::HeadOnly,
            &format!("{head}\n"),
        );
        check(
            &answer,
            Persistence::Close,
            Extent::Whole,
            &format!("{head}Connection: close\n\nhi"),
        );
        check(
            &answer,
            Persistence::KeepSaid,
            Extent::HeadOnly,
            &format!("{head}Connection: keep-alive\n\n"),
        );
    }

    #[test]
    fn a_long_answer_is_the_same_in_pieces() {
        for answer in [
            AnswerBuilder::new(200, None).letters(3 * PIECE_BYTES + 7),
            AnswerBuilder::new(200, None).body(&[7; 2 * PIECE_BYTES]),
            AnswerBuilder::new(200, None).letters(PIECE_BYTES + 1),
        ] {
            let form = |persistence| Form {
                persistence,
                extent: Extent::Whole,
            };
            let (mut whole, mut pieces) = (Vec::new(), Vec::new());
            answer.append_to(&mut whole, form(Persistence::Keep));
            assert!(answer.is_long());
            answer.append_head(&mut pieces, Persistence::Keep);
            let mut next = Some(0);
            while let Some(from) = next {
                let before = pieces.len();
                next = answer.append_piece(&mut pieces, from);
                assert!(pieces.len() - before <= PIECE_BYTES);
            }
            assert!(whole == pieces);
        }
        let short = AnswerBuilder::new(200, None).letters(54);
        let mut out = Vec::new();
        short.append_piece(&mut out, 0);
        assert!(out.ends_with(b"XYZab") && !short.is_long());
    }

    #[test]
    fn statuses_without_a_body_have_none() {
        let answer = AnswerBuilder::new(204, None).body(b"hi");
        check(
            &answer,
            Persistence::Keep,
            Extent::Whole,
            "HTTP/1.1 204 No Content\n\n",
        );
    }

    #[test]
    fn fields_come_and_go() {
        let answer = AnswerBuilder::new(200, None).field("A", "b").body(b"a: b");
        let expected = "HTTP/1.1 200 OK\nContent-Length: 4\nC: d\n\na: b";
        let changed = answer
            .without(|name| name == "A")
            .with_fields(&[("C", "d")]);
        check(&changed, Persistence::Keep, Extent::Whole, expected);
    }

    #[test]
    fn fields_are_latin_1() {
        assert_eq!(latin_1("né€"), b"n\xe9?");
    }

    #[test]
    fn a_connection_field_of_the_stub_is_not_repeated() {
        let answer = AnswerBuilder::new(200, None)
            .field("connection", "Close")
            .body(b"");
        assert!(answer.closes());
        let expected = "HTTP/1.1 200 OK\nconnection: Close\nContent-Length: 0\n\n";
        check(&answer, Persistence::Close, Extent::Whole, expected);
    }
}
