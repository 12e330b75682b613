//! Lines of a head or a trailer section, and the fields on them.
//!
//! Lines are handled one at a time as they become complete, so a head that trickles in is scanned once.

use crate::codec::error::ProtocolError;
use crate::codec::fields::{Entry, Fields};
use plimsoll_base::words;
use std::ops::Range;

/// Finds the complete lines of a section that starts at offset 0 of the input.
#[derive(Debug, Clone, Default)]
pub(super) struct LineScanner {
    /// Where the first line not yet returned begins.
    next: usize,
    /// Up to where that line was searched for its end.
    searched: usize,
    /// Whether it has a byte before that which may not stand in a field value.
    has_other: bool,
}

/// A complete line, without its CR LF.
#[derive(Debug, Clone)]
pub struct Line {
    /// Where it stands in the input.
    pub(super) range: Range<usize>,
    /// Whether every byte of it may stand in a field value.
    pub(super) is_field_value: bool,
}

impl LineScanner {
    /// The next complete line; `None` when the input ends first.
    ///
    /// # Errors
    /// A bare CR or a bare LF, refused on sight (RFC 9112, section 2.2), so that nobody waits for the rest of such a line; or a
    /// line that ends (or must end) beyond `limit` bytes.
    pub(super) fn next_line(
        &mut self,
        input: &[u8],
        limit: usize,
    ) -> Result<Option<Line>, ProtocolError> {
        loop {
            // The input's end, if nothing is there: a CR may still be the first half of a line's end.
            let end = self.searched + field_value(&input[self.searched..]);
            self.searched = end;
            let feed = match input.get(end) {
                Some(b'\r') => end + 1,
                _ => end,
            };
            if feed >= limit {
                return Err(ProtocolError::HeadTooLarge);
            }
            match &input[end..] {
                [] | [b'\r'] => return Ok(None),
                [b'\r', b'\n', ..] => {
                    let line = Line {
                        range: self.next..end,
                        is_field_value: !self.has_other,
                    };
                    self.next = feed + 1;
                    self.searched = self.next;
                    self.has_other = false;
                    return Ok(Some(line));
                }
                [b'\r', ..] => return Err(ProtocolError::BareCarriageReturn),
                [b'\n', ..] => return Err(ProtocolError::BareLineFeed),
                [_, rest @ ..] => {
                    self.has_other = true;
                    // Nobody asks whether there are more.
                    let plain = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                    self.searched = end + 1 + plain;
                }
            }
        }
    }

    /// How many bytes the lines returned so far take.
    pub(super) fn consumed(&self) -> usize {
        self.next
    }
}

/// Parses one field line of `input` and notes it in `fields`.
pub(super) fn parse_field(
    input: &[u8],
    line: &Line,
    fields: &mut Fields,
) -> Result<Entry, ProtocolError> {
    let text = &input[line.range.clone()];
    if matches!(text[0], b' ' | b'\t') {
        return Err(ProtocolError::Folded);
    }
    let colon = token(text);
    if colon == 0 || text.get(colon) != Some(&b':') {
        return Err(ProtocolError::FieldName);
    }
    if !line.is_field_value {
        return Err(ProtocolError::FieldValue);
    }
    let value = trim(text, colon + 1);
    let start = line.range.start;
    let entry = Entry {
        name: start..start + colon,
        value: start + value.start..start + value.end,
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

/// Whether the byte may stand in a field value: it is visible, a space, a tab or beyond ASCII (RFC 9110, section 5.5).
pub(super) fn is_field_value_byte(byte: u8) -> bool {
    (byte >= b' ' || byte == b'\t') && byte != 0x7f
}

/// How many bytes at the beginning may stand in a field value: looked at eight at a time, and once the first [`FEW`] may, in blocks.
fn field_value(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        rest = match words::first(words::less(word, b' ') | words::equal(word, 0x7f)) {
            None if bytes.len() - rest.len() == FEW => behind_blocks(behind),
            None => behind,
            Some(place) if rest[place] == b'\t' => &rest[place + 1..],
            Some(place) => return bytes.len() - rest.len() + place,
        };
    }
    let other = rest.iter().position(|byte| !is_field_value_byte(*byte));
    bytes.len() - rest.len() + other.unwrap_or(rest.len())
}

/// Behind so many bytes it pays to look at blocks.
const FEW: usize = 64;

/// The text behind all blocks at its beginning in which every byte may stand in a field value.
fn behind_blocks(mut text: &[u8]) -> &[u8] {
    // Without an early exit within a block it compiles to vector code.
    let is_plain = |block: &[u8; 64]| {
        block
            .iter()
            .fold(true, |all, byte| all & is_field_value_byte(*byte))
    };
    while let Some((block, behind)) = text.split_first_chunk()
        && is_plain(block)
    {
        text = behind;
    }
    text
}

/// Whether a text is a token, as methods, names of fields and protocols are: every byte is a `tchar`, and there is at least one (RFC 9110,
/// section 5.6.2).
#[must_use]
pub fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && token(text) == text.len()
}

/// How many bytes at the beginning may stand in a token.
fn token(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some(([a, b, c, d], behind)) = rest.split_first_chunk()
        && is_token_byte(*a) & is_token_byte(*b) & is_token_byte(*c) & is_token_byte(*d)
    {
        rest = behind;
    }
    let other = rest.iter().position(|byte| !is_token_byte(*byte));
    bytes.len() - rest.len() + other.unwrap_or(rest.len())
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
        if is(name, b"host") {
            self.repeats_host |= self.host.replace(entry.value.clone()).is_some();
        } else if is(name, b"expect") {
            self.expects_continue = true;
            self.expects_more |= !is(value, b"100-continue");
        } else if is(name, b"connection") {
            for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                self.close |= is(option, b"close");
                self.keep_alive |= is(option, b"keep-alive");
            }
        } else if is(name, b"content-length") {
            let length = parse_length(value).ok_or(ProtocolError::ContentLength)?;
            // Refused even if it is the same.
            if self.length.replace(length).is_some() {
                return Err(ProtocolError::ContentLength);
            }
        } else if is(name, b"transfer-encoding") {
            if self.chunked || !is(value, b"chunked") {
                return Err(ProtocolError::TransferEncoding);
            }
            self.chunked = true;
        }
        Ok(())
    }
}

/// Whether a text is this word, whose letters are small, in any case. The word's length is known when this is compiled: it is compared as a whole.
fn is<const LENGTH: usize>(text: &[u8], word: &[u8; LENGTH]) -> bool {
    let text: Result<&[u8; LENGTH], _> = text.try_into();
    let difference = |text: &[u8; LENGTH]| {
        let pairs = text.iter().zip(word);
        pairs.fold(0, |difference, (byte, small)| {
            difference | (byte.to_ascii_lowercase() ^ small)
        })
    };
    text.is_ok_and(|text| difference(text) == 0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A text that is long enough for blocks, most of which may stand in a field value.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            40 => b'a'..=b'z',
            1 => Just(b'\t'),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..300)
    }

    proptest! {
        #[test]
        fn texts_are_as_long_as_their_first_other_byte_says(text in texts()) {
            let length = |may_stand: fn(u8) -> bool| {
                let other = text.iter().position(|byte| !may_stand(*byte));
                other.unwrap_or(text.len())
            };
            prop_assert_eq!(field_value(&text), length(is_field_value_byte));
            prop_assert_eq!(token(&text), length(is_token_byte));
        }

        #[test]
        fn lines_are_the_same_however_they_come(text in texts(), other in texts(), split: prop::sample::Index) {
            let input = [&text[..], b"\r\n", &other, b"\r\n"].concat();
            let lines = |splits: &[usize]| {
                let (mut scanner, mut lines) = (LineScanner::default(), Vec::new());
                for end in splits {
                    while let Some(line) = scanner.next_line(&input[..*end], usize::MAX)? {
                        let all = input[line.range.clone()].iter().all(|byte| is_field_value_byte(*byte));
                        assert_eq!(line.is_field_value, all);
                        lines.push(line.range);
                    }
                }
                Ok::<_, ProtocolError>(lines)
            };
            let whole = lines(&[input.len()]);
            prop_assert_eq!(lines(&[split.index(input.len()), input.len()]), whole.clone());
            let has_bare = |text: &[u8]| text.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
            if !has_bare(&text) && !has_bare(&other) {
                let second = text.len() + 2..input.len() - 2;
                prop_assert_eq!(whole, Ok(vec![0..text.len(), second]));
            }
        }

        #[test]
        fn words_are_compared_whatever_their_case(text in "[kK][eE][eE][pP][-_M\r]?[aA]?live") {
            prop_assert_eq!(is(text.as_bytes(), b"keep-alive"), text.eq_ignore_ascii_case("keep-alive"));
        }
    }
}
