//! Lines of a head or a trailer section, and the fields on them.
//!
//! Lines are handled one at a time as they become complete, so a head that trickles in is scanned once.

use crate::codec::error::ProtocolError;
use crate::codec::fields::{Entry, Fields};
use std::ops::Range;

/// Finds the complete lines of a section that starts at offset 0 of the input.
#[derive(Debug, Clone, Default)]
pub(super) struct LineScanner {
    /// Where the first line not yet returned begins.
    next: usize,
    /// Up to where that line was searched for its end.
    searched: usize,
}

impl LineScanner {
    /// The next complete line, without its CR LF; `None` when the input ends first.
    ///
    /// # Errors
    /// A bare CR or a bare LF, refused on sight (RFC 9112, section 2.2), so that nobody waits for the rest of such a line; or a
    /// line that ends (or must end) beyond `limit` bytes.
    pub(super) fn next_line(
        &mut self,
        input: &[u8],
        limit: usize,
    ) -> Result<Option<Range<usize>>, ProtocolError> {
        let rest = &input[self.searched..];
        // The input's end, if neither is there: a CR may still be the first half of a line's end.
        let end = self.searched + memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        self.searched = end;
        let feed = match input.get(end) {
            Some(b'\r') => end + 1,
            _ => end,
        };
        if feed >= limit {
            return Err(ProtocolError::HeadTooLarge);
        }
        match &input[end..] {
            [] | [b'\r'] => Ok(None),
            [b'\r', b'\n', ..] => {
                let line = self.next..end;
                self.next = feed + 1;
                self.searched = self.next;
                Ok(Some(line))
            }
            [b'\r', ..] => Err(ProtocolError::BareCarriageReturn),
            _ => Err(ProtocolError::BareLineFeed),
        }
    }

    /// How many bytes the lines returned so far take.
    pub(super) fn consumed(&self) -> usize {
        self.next
    }
}

/// Parses one field line at `line` of `input` and notes it in `fields`.
pub(super) fn parse_field(
    input: &[u8],
    line: Range<usize>,
    fields: &mut Fields,
) -> Result<Entry, ProtocolError> {
    let text = &input[line.clone()];
    if matches!(text[0], b' ' | b'\t') {
        return Err(ProtocolError::Folded);
    }
    let colon = text
        .iter()
        .position(|byte| !is_token_byte(*byte))
        .ok_or(ProtocolError::FieldName)?;
    if colon == 0 || text[colon] != b':' {
        return Err(ProtocolError::FieldName);
    }
    let value = trim(text, colon + 1);
    if !is_field_value(&text[value.clone()]) {
        return Err(ProtocolError::FieldValue);
    }
    let entry = Entry {
        name: line.start..line.start + colon,
        value: line.start + value.start..line.start + value.end,
    };
    fields.push(entry.clone());
    Ok(entry)
}

/// The range of `text` from `start` without surrounding spaces and tabs.
fn trim(text: &[u8], start: usize) -> Range<usize> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let first = text[start..]
        .iter()
        .position(|b| !blank(b))
        .map_or(text.len(), |at| start + at);
    let last = text[first..]
        .iter()
        .rposition(|b| !blank(b))
        .map_or(first, |at| first + at + 1);
    first..last
}

/// Whether every byte may stand in a field value: visible, space, tab or beyond ASCII (RFC 9110, section 5.5).
pub(super) fn is_field_value(value: &[u8]) -> bool {
    // A fold without an early exit compiles to vector code.
    !value.iter().fold(false, |bad, byte| {
        bad | ((*byte < b' ') & (*byte != b'\t')) | (*byte == 0x7f)
    })
}

/// Whether a text is a token, as methods, names of fields and protocols are: every byte is a `tchar`, and there is at least one (RFC 9110,
/// section 5.6.2).
#[must_use]
pub fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| is_token_byte(*byte))
}

/// Whether the byte is a `tchar` (RFC 9110, section 5.6.2).
pub(super) fn is_token_byte(byte: u8) -> bool {
    TOKEN[byte as usize]
}

static TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let value = byte as u8;
        table[byte] = value.is_ascii_alphanumeric()
            || matches!(
                value,
                b'!' | b'#'
                    | b'$'
                    | b'%'
                    | b'&'
                    | b'\''
                    | b'*'
                    | b'+'
                    | b'-'
                    | b'.'
                    | b'^'
                    | b'_'
                    | b'`'
                    | b'|'
                    | b'~'
            );
        byte += 1;
    }
    table
};

/// Framing and connection handling as the fields of a head state them, gathered line by line.
#[derive(Debug, Clone, Default)]
pub struct Framers {
    pub(super) length: Option<u64>,
    pub(super) chunked: bool,
    pub(super) close: bool,
    pub(super) keep_alive: bool,
    pub(super) expects_continue: bool,
    /// An expectation other than `100-continue`.
    pub(super) expects_more: bool,
    pub(super) host: Option<Range<usize>>,
    pub(super) repeats_host: bool,
}

impl Framers {
    /// Takes note of a field that matters for framing; every other field is ignored.
    pub(super) fn note(&mut self, input: &[u8], entry: &Entry) -> Result<(), ProtocolError> {
        let name = &input[entry.name.clone()];
        let value = &input[entry.value.clone()];
        // The length decides first: most fields are none of these.
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => {
                self.repeats_host |= self.host.replace(entry.value.clone()).is_some();
            }
            6 if name.eq_ignore_ascii_case(b"expect") => {
                self.expects_continue = true;
                self.expects_more |= !value.eq_ignore_ascii_case(b"100-continue");
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                let length = parse_length(value).ok_or(ProtocolError::ContentLength)?;
                // Refused even if it is the same.
                if self.length.replace(length).is_some() {
                    return Err(ProtocolError::ContentLength);
                }
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(ProtocolError::TransferEncoding);
                }
                self.chunked = true;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Digits only, at most 18 of them: no sign, no list, no overflow.
fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 18 {
        return None;
    }
    value.iter().try_fold(0, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u64::from(byte - b'0'))
    })
}
