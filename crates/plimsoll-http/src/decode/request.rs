//! Requests: the server's side of decoding.

use super::body::BodyDecoder;
use super::line::{Framers, LineScanner, is_token_text, parse_field};
use super::{Event, Step};
use crate::error::ProtocolError;
use crate::fields::Fields;
use crate::head::{Framing, RequestHead, Version};
use crate::limits::Limits;
use std::ops::Range;

/// Decodes the requests of one connection, one after another.
#[derive(Debug)]
pub struct RequestDecoder {
    limits: Limits,
    state: State,
    head: RequestHead,
    body: BodyDecoder,
}

#[derive(Debug)]
enum State {
    /// Between requests, or inside a head.
    Head {
        lines: LineScanner,
        framers: Framers,
        seen_request_line: bool,
    },
    Body,
}

impl State {
    fn start() -> Self {
        Self::Head {
            lines: LineScanner::default(),
            framers: Framers::default(),
            seen_request_line: false,
        }
    }
}

impl RequestDecoder {
    /// A decoder at the start of a connection.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::start(),
            head: RequestHead::default(),
            body: BodyDecoder::new(),
        }
    }

    /// The head of the current request, once [`Event::Head`] was returned.
    #[must_use]
    pub fn head(&self) -> &RequestHead {
        &self.head
    }

    /// The trailers of the current request, once [`Event::End`] was returned.
    #[must_use]
    pub fn trailers(&self) -> &Fields {
        self.body.trailers()
    }

    /// Whether a part of the current message's body is still to be decoded; never for a message without one.
    #[must_use]
    pub fn body_pending(&self) -> bool {
        matches!(self.state, State::Body) && !self.body.is_done()
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
            seen_request_line,
        } = &mut self.state
        else {
            return Ok(Step::new(0, Event::NeedMore));
        };
        while let Some(line) = lines.next_line(input, self.limits.head_bytes)? {
            if !*seen_request_line {
                // One empty line before a request is skipped (RFC 9112, section 2.2).
                if line == (0..0) {
                    continue;
                }
                self.head.fields.clear();
                parse_request_line(input, line, &mut self.head, &self.limits)?;
                *seen_request_line = true;
            } else if line.is_empty() {
                let end = lines.consumed();
                let framers = std::mem::take(framers);
                conclude(&mut self.head, input, &framers)?;
                self.head.fields.set_text(&input[..end]);
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

fn parse_request_line(
    input: &[u8],
    line: Range<usize>,
    head: &mut RequestHead,
    limits: &Limits,
) -> Result<(), ProtocolError> {
    let text = &input[line.clone()];
    let first = memchr::memchr(b' ', text).ok_or(ProtocolError::RequestLine)?;
    let last = memchr::memrchr(b' ', text).ok_or(ProtocolError::RequestLine)?;
    if first == last {
        return Err(ProtocolError::RequestLine);
    }
    head.method = line.start..line.start + first;
    head.target = line.start + first + 1..line.start + last;
    if !is_token_text(&input[head.method.clone()]) {
        return Err(ProtocolError::Method);
    }
    head.version = match &text[last + 1..] {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            return Err(ProtocolError::Version);
        }
        _ => return Err(ProtocolError::RequestLine),
    };
    if head.target.len() > limits.target_bytes {
        return Err(ProtocolError::TargetTooLong);
    }
    parse_target(input, head)
}

/// Finds path and authority within the target, by its form (RFC 9112, section 3.2).
fn parse_target(input: &[u8], head: &mut RequestHead) -> Result<(), ProtocolError> {
    let target = &input[head.target.clone()];
    let visible = target
        .iter()
        .all(|byte| byte.is_ascii_graphic() && *byte != b'#');
    if target.is_empty() || !visible {
        return Err(ProtocolError::Target);
    }
    let method = &input[head.method.clone()];
    head.authority = 0..0;
    let path_start = if method == b"CONNECT" {
        if target.contains(&b'/') || !is_authority(target) {
            return Err(ProtocolError::Target);
        }
        head.authority = head.target.clone();
        target.len()
    } else if target[0] == b'/' || (target == b"*" && method == b"OPTIONS") {
        0
    } else {
        let scheme = target
            .iter()
            .position(|byte| *byte == b':')
            .ok_or(ProtocolError::Target)?;
        let known = target[..scheme].eq_ignore_ascii_case(b"http")
            || target[..scheme].eq_ignore_ascii_case(b"https");
        let rest = target[scheme..]
            .strip_prefix(b"://")
            .filter(|_| known)
            .ok_or(ProtocolError::Target)?;
        let length = rest
            .iter()
            .position(|byte| matches!(byte, b'/' | b'?'))
            .unwrap_or(rest.len());
        if !is_authority(&rest[..length]) {
            return Err(ProtocolError::Target);
        }
        let start = head.target.start + scheme + 3;
        head.authority = start..start + length;
        scheme + 3 + length
    };
    let query = target[path_start..]
        .iter()
        .position(|byte| *byte == b'?')
        .unwrap_or(target.len() - path_start);
    let start = head.target.start + path_start;
    head.path = start..start + query;
    Ok(())
}

/// Settles host, framing and keep-alive once every field is known.
fn conclude(head: &mut RequestHead, input: &[u8], framers: &Framers) -> Result<(), ProtocolError> {
    match &framers.host {
        None if head.version == Version::Http11 => return Err(ProtocolError::Host),
        None => {}
        Some(host) if !is_authority(&input[host.clone()]) => return Err(ProtocolError::Host),
        Some(host) if head.authority.is_empty() => head.authority = host.clone(),
        Some(host) if !input[host.clone()].eq_ignore_ascii_case(&input[head.authority.clone()]) => {
            return Err(ProtocolError::Host);
        }
        Some(_) => {}
    }
    head.framing = match (framers.chunked, framers.length) {
        (true, Some(_)) => return Err(ProtocolError::AmbiguousLength),
        (true, None) if head.version == Version::Http10 => {
            return Err(ProtocolError::TransferEncoding);
        }
        (true, None) => Framing::Chunked,
        (false, Some(length)) => Framing::Length(length),
        (false, None) => Framing::None,
    };
    head.keep_alive = !framers.close && (head.version == Version::Http11 || framers.keep_alive);
    head.expects_continue = framers.expects_continue && head.version == Version::Http11;
    Ok(())
}

/// A host name, IPv4 address or bracketed IPv6 address with an optional port. No user information.
fn is_authority(text: &[u8]) -> bool {
    let (host, port) = if text.first() == Some(&b'[') {
        let Some(end) = text.iter().position(|byte| *byte == b']') else {
            return false;
        };
        let inside = &text[1..end];
        if inside.is_empty()
            || !inside
                .iter()
                .all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'))
        {
            return false;
        }
        (&text[..=end], &text[end + 1..])
    } else {
        let end = text
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(text.len());
        let host = &text[..end];
        let reg_name = |b: &u8| {
            b.is_ascii_alphanumeric()
                || matches!(
                    b,
                    b'-' | b'.'
                        | b'_'
                        | b'~'
                        | b'%'
                        | b'!'
                        | b'$'
                        | b'&'
                        | b'\''
                        | b'('
                        | b')'
                        | b'*'
                        | b'+'
                        | b';'
                        | b'='
                )
        };
        if !host.iter().all(reg_name) {
            return false;
        }
        (host, &text[end..])
    };
    let port_is_valid = match port {
        [] => true,
        [b':', digits @ ..] => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    !host.is_empty() && port_is_valid
}
