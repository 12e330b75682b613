//! Responses: the status line, and the rules for what has a body.

use super::line::{Framers, Line};
use super::message::{Head, MessageDecoder, SPARE_DECODERS};
use crate::codec::error::ProtocolError;
use crate::codec::fields::Fields;
use crate::codec::head::{Framing, ResponseHead, Version};
use crate::codec::limits::Limits;
use plimsoll_base::spare::Spare;
use std::ops::Range;
use std::thread::LocalKey;

/// Decodes the responses of one connection: the client's side.
pub type ResponseDecoder = MessageDecoder<ResponseHead>;

thread_local! {
    static SPARE: Spare<Box<ResponseDecoder>> = const { Spare::new(SPARE_DECODERS) };
}

impl Head for ResponseHead {
    const MAY_FOLLOW_EMPTY_LINE: bool = false;

    fn parse_start_line(
        &mut self,
        input: &[u8],
        line: &Line,
        _: &Limits,
    ) -> Result<(), ProtocolError> {
        parse_status_line(input, line, self)
    }

    /// RFC 9112, section 6.3.
    fn conclude(&mut self, _: &[u8], framers: &Framers) -> Result<(), ProtocolError> {
        if framers.chunked && framers.length.is_some() {
            return Err(ProtocolError::AmbiguousLength);
        }
        if framers.chunked && self.version == Version::Http10 {
            return Err(ProtocolError::TransferEncoding);
        }
        let bodiless = self.to_head_request || matches!(self.status, 100..200 | 204 | 304);
        self.framing = match (bodiless, framers.chunked, framers.length) {
            (true, _, _) => Framing::None,
            (false, true, _) => Framing::Chunked,
            (false, false, Some(length)) => Framing::Length(length),
            (false, false, None) => Framing::UntilClose,
        };
        // A body where none may be: whether bytes follow, the peer alone knows. Behind 101 another protocol is spoken.
        let stray_body = matches!(self.status, 100..200 | 204)
            && (framers.chunked || framers.length.is_some_and(|length| length > 0));
        let wants_more = self.version == Version::Http11 || framers.keep_alive;
        self.keep_alive = wants_more && !framers.close && !stray_body && self.status != 101;
        Ok(())
    }

    fn is_interim(&self) -> bool {
        matches!(self.status, 100 | 102..200)
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn fields_mut(&mut self) -> &mut Fields {
        &mut self.fields
    }

    fn expect(&mut self, to_head_request: bool) {
        self.to_head_request = to_head_request;
    }

    fn spare() -> &'static LocalKey<Spare<Box<ResponseDecoder>>> {
        &SPARE
    }
}

/// `HTTP/1.x SP 3DIGIT [SP reason]`: the space before an empty reason is often missing in the wild, and harmless.
fn parse_status_line(
    input: &[u8],
    line: &Line,
    head: &mut ResponseHead,
) -> Result<(), ProtocolError> {
    let Range { start, end } = line.range;
    let text = &input[start..end];
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
    if !valid_rest || !line.is_field_value {
        return Err(ProtocolError::StatusLine);
    }
    head.reason = end.min(start + 13)..end;
    Ok(())
}
