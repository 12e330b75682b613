//! Responses: the client's side of decoding.

use super::body::BodyDecoder;
use super::line::{Framers, LineScanner, is_field_value, parse_field};
use super::{Event, Step};
use crate::error::ProtocolError;
use crate::fields::Fields;
use crate::head::{Framing, ResponseHead, Version};
use crate::limits::Limits;
use std::ops::Range;

/// Decodes the responses of one connection, one after another.
#[derive(Debug)]
pub struct ResponseDecoder {
    limits: Limits,
    state: State,
    to_head_request: bool,
    head: ResponseHead,
    body: BodyDecoder,
}

#[derive(Debug)]
enum State {
    Head {
        lines: LineScanner,
        framers: Framers,
        seen_status_line: bool,
    },
    Body,
}

impl State {
    fn start() -> Self {
        Self::Head {
            lines: LineScanner::default(),
            framers: Framers::default(),
            seen_status_line: false,
        }
    }
}

impl ResponseDecoder {
    /// A decoder at the start of a connection.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::start(),
            to_head_request: false,
            head: ResponseHead::default(),
            body: BodyDecoder::new(),
        }
    }

    /// Says before each response whether it answers a HEAD request, and so has no body whatever its fields say.
    pub fn expect(&mut self, to_head_request: bool) {
        self.to_head_request = to_head_request;
    }

    /// The head of the current response, once [`Event::Head`] or [`Event::Interim`] was returned.
    #[must_use]
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// The trailers of the current response, once [`Event::End`] was returned.
    #[must_use]
    pub fn trailers(&self) -> &Fields {
        self.body.trailers()
    }

    /// Whether a part of the current message's body is still to be decoded; never for a message without one.
    #[must_use]
    pub fn body_pending(&self) -> bool {
        matches!(self.state, State::Body) && !self.body.is_done()
    }

    /// Whether a close of the connection at this point is a proper end of the current response.
    #[must_use]
    pub fn may_end_here(&self) -> bool {
        self.body_pending() && self.body.may_end_here()
    }

    /// Decodes the next event from all bytes not consumed so far.
    ///
    /// # Errors
    /// [`ProtocolError`]; nothing more can be decoded from this connection then.
    pub fn decode(&mut self, input: &[u8]) -> Result<Step, ProtocolError> {
        match self.state {
            State::Head { .. } => self.decode_head(input),
            State::Body => {
                let step = self.body.decode(input, &self.limits)?;
                if step.event == Event::End {
                    self.state = State::start();
                }
                Ok(step)
            }
        }
    }

    fn decode_head(&mut self, input: &[u8]) -> Result<Step, ProtocolError> {
        let State::Head {
            lines,
            framers,
            seen_status_line,
        } = &mut self.state
        else {
            return Ok(Step::new(0, Event::NeedMore));
        };
        while let Some(line) = lines.next_line(input, self.limits.head_bytes)? {
            if !*seen_status_line {
                self.head.fields.clear();
                parse_status_line(input, line, &mut self.head)?;
                *seen_status_line = true;
            } else if line.is_empty() {
                let end = lines.consumed();
                let framers = std::mem::take(framers);
                conclude(&mut self.head, &framers, self.to_head_request)?;
                self.head.fields.set_text(&input[..end]);
                if matches!(self.head.status, 100 | 102..200) {
                    self.state = State::start();
                    return Ok(Step::new(end, Event::Interim));
                }
                self.body.start(self.head.framing, &self.limits)?;
                self.state = State::Body;
                return Ok(Step::new(end, Event::Head));
            } else {
                if self.head.fields.len() == self.limits.fields {
                    return Err(ProtocolError::HeadTooLarge);
                }
                let entry = parse_field(input, line, &mut self.head.fields)?;
                framers.note(input, &entry)?;
            }
        }
        Ok(Step::new(0, Event::NeedMore))
    }
}

/// `HTTP/1.x SP 3DIGIT [SP reason]`: the space before an empty reason is often missing in the wild, and harmless.
fn parse_status_line(
    input: &[u8],
    line: Range<usize>,
    head: &mut ResponseHead,
) -> Result<(), ProtocolError> {
    let text = &input[line.clone()];
    head.version = match text.get(..9) {
        Some(b"HTTP/1.1 ") => Version::Http11,
        Some(b"HTTP/1.0 ") => Version::Http10,
        Some(start) if start.starts_with(b"HTTP/") => return Err(ProtocolError::Version),
        _ => return Err(ProtocolError::StatusLine),
    };
    let digits = text
        .get(9..12)
        .filter(|d| d.iter().all(u8::is_ascii_digit) && d[0] != b'0')
        .ok_or(ProtocolError::StatusLine)?;
    head.status = digits
        .iter()
        .fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    let valid_rest = matches!(text.get(12), None | Some(b' '));
    if !valid_rest || !is_field_value(text) {
        return Err(ProtocolError::StatusLine);
    }
    head.reason = line.end.min(line.start + 13)..line.end;
    Ok(())
}

/// Settles framing and keep-alive once every field is known (RFC 9112, section 6.3).
fn conclude(
    head: &mut ResponseHead,
    framers: &Framers,
    to_head_request: bool,
) -> Result<(), ProtocolError> {
    if framers.chunked && framers.length.is_some() {
        return Err(ProtocolError::AmbiguousLength);
    }
    if framers.chunked && head.version == Version::Http10 {
        return Err(ProtocolError::TransferEncoding);
    }
    let bodiless = to_head_request || matches!(head.status, 100..200 | 204 | 304);
    head.framing = match (bodiless, framers.chunked, framers.length) {
        (true, _, _) => Framing::None,
        (false, true, _) => Framing::Chunked,
        (false, false, Some(length)) => Framing::Length(length),
        (false, false, None) => Framing::UntilClose,
    };
    head.keep_alive = !framers.close && (head.version == Version::Http11 || framers.keep_alive);
    Ok(())
}
