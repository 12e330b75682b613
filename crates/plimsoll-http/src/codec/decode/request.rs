//! Requests: the request line, the target's forms, and the rules for `Host`.

use super::Event;
use super::line::{Framers, Line, is_token};
use super::message::{Head, MessageDecoder, SPARE_DECODERS};
use crate::codec::error::ProtocolError;
use crate::codec::fields::Fields;
use crate::codec::head::{Framing, RequestHead, Version};
use crate::codec::limits::Limits;
use plimsoll_base::spare::Spare;
use std::net::Ipv6Addr;
use std::ops::Range;
use std::thread::LocalKey;

/// Decodes the requests of one connection: the server's side.
pub type RequestDecoder = MessageDecoder<RequestHead>;

thread_local! {
    static SPARE: Spare<Box<RequestDecoder>> = const { Spare::new(SPARE_DECODERS) };
}

impl Head for RequestHead {
    /// RFC 9112, section 2.2: a server should ignore at least one.
    const MAY_FOLLOW_EMPTY_LINE: bool = true;

    fn parse_start_line(
        &mut self,
        input: &[u8],
        line: &Line,
        limits: &Limits,
    ) -> Result<(), ProtocolError> {
        parse_request_line(input, line, self, limits)
    }

    fn conclude(&mut self, input: &[u8], framers: &Framers) -> Result<(), ProtocolError> {
        if framers.expects_more {
            return Err(ProtocolError::Expectation);
        }
        self.authority = settle_authority(self, input, framers)?;
        self.framing = match (framers.chunked, framers.length) {
            (true, Some(_)) => return Err(ProtocolError::AmbiguousLength),
            (true, None) if self.version == Version::Http10 => {
                return Err(ProtocolError::TransferEncoding);
            }
            (true, None) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) => Framing::None,
        };
        self.keep_alive = !framers.close && (self.version == Version::Http11 || framers.keep_alive);
        self.expects_continue = framers.expects_continue && self.version == Version::Http11;
        Ok(())
    }

    fn is_interim(&self) -> bool {
        false
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn fields_mut(&mut self) -> &mut Fields {
        &mut self.fields
    }

    fn expect(&mut self, _: bool) {}

    fn spare() -> &'static LocalKey<Spare<Box<RequestDecoder>>> {
        &SPARE
    }
}

impl RequestHead {
    /// The head whose [`Self::text`] this is, of a message of this version.
    #[must_use]
    pub fn from_text(text: &[u8], version: Version) -> Option<Self> {
        // It was within limits when it came.
        let mut decoder = RequestDecoder::new(Limits {
            head_bytes: usize::MAX,
            fields: usize::MAX,
            target_bytes: usize::MAX,
            body_bytes: u64::MAX,
            ..Limits::default()
        });
        let step = decoder.decode(text).ok()?;
        (step.event == Event::Head).then(|| Self {
            version,
            ..decoder.into_head()
        })
    }
}

fn parse_request_line(
    input: &[u8],
    line: &Line,
    head: &mut RequestHead,
    limits: &Limits,
) -> Result<(), ProtocolError> {
    let Range { start, end } = line.range;
    let text = &input[start..end];
    let first = memchr::memchr(b' ', text).ok_or(ProtocolError::RequestLine)?;
    let last = memchr::memrchr(b' ', text).ok_or(ProtocolError::RequestLine)?;
    if first == last {
        return Err(ProtocolError::RequestLine);
    }
    head.method = start..start + first;
    head.target = start + first + 1..start + last;
    if !is_token(&input[head.method.clone()]) {
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
        // RFC 9110, section 9.3.6: a port must be there, and not be empty.
        let has_port = is_authority(target)
            && target.last().is_some_and(u8::is_ascii_digit)
            && port_of(target).is_some();
        if !has_port {
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

/// Whom the client addressed: `Host` and an absolute target must agree, and HTTP/1.1 must have a `Host`.
fn settle_authority(
    head: &RequestHead,
    input: &[u8],
    framers: &Framers,
) -> Result<Range<usize>, ProtocolError> {
    let target = head.authority.clone();
    match &framers.host {
        _ if framers.repeats_host => Err(ProtocolError::Host),
        None if head.version == Version::Http11 => Err(ProtocolError::Host),
        None => Ok(target),
        Some(host) if !is_authority(&input[host.clone()]) => Err(ProtocolError::Host),
        Some(host) if target.is_empty() => Ok(host.clone()),
        Some(host) if !input[host.clone()].eq_ignore_ascii_case(&input[target.clone()]) => {
            Err(ProtocolError::Host)
        }
        Some(_) => Ok(target),
    }
}

/// A host name, IPv4 address or bracketed IPv6 address with an optional port. No user information.
fn is_authority(text: &[u8]) -> bool {
    let (host, port) = match port_of(text) {
        Some(port) => (&text[..text.len() - port.len() - 1], port),
        None => (text, &[][..]),
    };
    let port_is_valid = port.len() <= 5
        && port.iter().all(u8::is_ascii_digit)
        && port
            .iter()
            .fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
            <= u32::from(u16::MAX);
    port_is_valid && (is_registered_name(host) || is_bracketed_address(host))
}

/// The text behind the colon after the host, if there is one.
fn port_of(authority: &[u8]) -> Option<&[u8]> {
    let host = match authority.first() {
        Some(b'[') => memchr::memchr(b']', authority)?,
        _ => 0,
    };
    let colon = memchr::memchr(b':', &authority[host..])?;
    Some(&authority[host + colon + 1..])
}

/// An IPv6 address in brackets (RFC 3986, section 3.2.2), without a zone.
fn is_bracketed_address(host: &[u8]) -> bool {
    let inside = host
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"));
    inside
        .and_then(|inside| std::str::from_utf8(inside).ok())
        .is_some_and(|inside| inside.parse::<Ipv6Addr>().is_ok())
}

/// A name or an IPv4 address: unreserved characters, sub-delimiters but the comma, and complete percent-encodings.
fn is_registered_name(host: &[u8]) -> bool {
    let mut bytes = host.iter();
    while let Some(byte) = bytes.next() {
        let valid = match byte {
            b'%' => {
                let mut is_digit = || bytes.next().is_some_and(u8::is_ascii_hexdigit);
                is_digit() && is_digit()
            }
            b'-' | b'.' | b'_' | b'~' => true,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b';' | b'=' => true,
            other => other.is_ascii_alphanumeric(),
        };
        if !valid {
            return false;
        }
    }
    !host.is_empty()
}
