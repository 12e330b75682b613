//! Bodies: by length, chunked with trailers, until close.

use super::line::{LineScanner, is_field_value_byte, is_token_byte, parse_field};
use super::{Event, Step};
use crate::codec::error::ProtocolError;
use crate::codec::fields::Fields;
use crate::codec::head::Framing;
use crate::codec::limits::Limits;

/// The longest accepted chunk-size line: sixteen digits and some extensions nobody uses.
const CHUNK_LINE_BYTES: usize = 256;

/// Names that would change framing, routing or authentication if a trailer could bring them (RFC 9110, section 6.5.1).
const FORBIDDEN_TRAILERS: [&[u8]; 6] = [
    b"transfer-encoding",
    b"content-length",
    b"host",
    b"authorization",
    b"trailer",
    b"connection",
];

#[derive(Debug, Clone)]
enum State {
    Done,
    Length { left: u64 },
    UntilClose,
    ChunkSize(LineScanner),
    ChunkData { left: u64 },
    ChunkEnd,
    Trailers(LineScanner),
}

/// Decodes one body after another.
#[derive(Debug, Clone)]
pub(super) struct BodyDecoder {
    state: State,
    decoded: u64,
    trailers: Fields,
}

impl BodyDecoder {
    pub(super) fn new() -> Self {
        Self {
            state: State::Done,
            decoded: 0,
            trailers: Fields::default(),
        }
    }

    /// Forgets the body before, and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.state = State::Done;
        self.trailers.clear();
    }

    /// Prepares for the body of a message whose head was just read.
    ///
    /// # Errors
    /// A stated length beyond the limit.
    pub(super) fn start(&mut self, framing: Framing, limits: &Limits) -> Result<(), ProtocolError> {
        self.decoded = 0;
        self.trailers.clear();
        self.state = match framing {
            Framing::None | Framing::Length(0) => State::Done,
            Framing::Length(left) if left > limits.body_bytes => {
                return Err(ProtocolError::BodyTooLarge);
            }
            Framing::Length(left) => State::Length { left },
            Framing::Chunked => State::ChunkSize(LineScanner::default()),
            Framing::UntilClose => State::UntilClose,
        };
        Ok(())
    }

    /// Whether everything of the current body has been decoded.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// How many bytes of it are left where its length was stated: whatever they are, they are its own.
    pub(super) fn left_by_length(&self) -> Option<u64> {
        match self.state {
            State::Length { left } => Some(left),
            _ => None,
        }
    }

    /// So many of those bytes went past unseen.
    pub(super) fn skip(&mut self, bytes: u64) {
        if let State::Length { left } = &mut self.state {
            *left = left.saturating_sub(bytes);
            if *left == 0 {
                self.state = State::Done;
            }
        }
    }

    pub(super) fn trailers(&self) -> &Fields {
        &self.trailers
    }

    /// Whether the end of the input is a proper end of this body.
    pub(super) fn may_end_here(&self) -> bool {
        matches!(self.state, State::Done | State::UntilClose)
    }

    /// The next event of the body.
    pub(super) fn decode(&mut self, input: &[u8], limits: &Limits) -> Result<Step, ProtocolError> {
        let mut at = 0;
        loop {
            match &mut self.state {
                State::Done => return Ok(Step::new(at, Event::End)),
                State::Length { left } | State::ChunkData { left } => {
                    let taken = usize::try_from(*left)
                        .unwrap_or(usize::MAX)
                        .min(input.len() - at);
                    if taken == 0 {
                        return Ok(Step::new(at, Event::NeedMore));
                    }
                    *left -= taken as u64;
                    if *left == 0 {
                        let by_length = matches!(self.state, State::Length { .. });
                        self.state = if by_length {
                            State::Done
                        } else {
                            State::ChunkEnd
                        };
                    }
                    return Ok(Step::new(at + taken, Event::Data(at..at + taken)));
                }
                State::UntilClose => {
                    // What the limit allows is handed out before the rest is refused, however the input is cut.
                    let room = limits.body_bytes.saturating_sub(self.decoded);
                    let taken = usize::try_from(room).unwrap_or(usize::MAX).min(input.len());
                    if input.is_empty() {
                        return Ok(Step::new(0, Event::NeedMore));
                    }
                    if taken == 0 {
                        return Err(ProtocolError::BodyTooLarge);
                    }
                    self.decoded += taken as u64;
                    return Ok(Step::new(taken, Event::Data(0..taken)));
                }
                State::ChunkSize(scanner) => {
                    let line = scanner.next_line(&input[at..], CHUNK_LINE_BYTES);
                    let Some(line) = line.map_err(chunk_line_error)? else {
                        return Ok(Step::new(at, Event::NeedMore));
                    };
                    let size = parse_chunk_size(&input[at..][line.range])?;
                    at += scanner.consumed();
                    self.count(size, limits)?;
                    self.state = if size == 0 {
                        State::Trailers(LineScanner::default())
                    } else {
                        State::ChunkData { left: size }
                    };
                }
                State::ChunkEnd => match &input[at..] {
                    [b'\r', b'\n', ..] => {
                        at += 2;
                        self.state = State::ChunkSize(LineScanner::default());
                    }
                    [] | [b'\r'] => return Ok(Step::new(at, Event::NeedMore)),
                    _ => return Err(ProtocolError::ChunkEnd),
                },
                State::Trailers(_) => return self.decode_trailers(input, at, limits),
            }
        }
    }

    fn decode_trailers(
        &mut self,
        input: &[u8],
        at: usize,
        limits: &Limits,
    ) -> Result<Step, ProtocolError> {
        let section = &input[at..];
        let State::Trailers(scanner) = &mut self.state else {
            return Ok(Step::new(at, Event::NeedMore));
        };
        while let Some(line) = scanner.next_line(section, limits.trailer_bytes)? {
            if line.range.is_empty() {
                let end = scanner.consumed();
                self.trailers.set_text(&section[..end]);
                self.state = State::Done;
                return Ok(Step::new(at + end, Event::End));
            }
            if self.trailers.len() == limits.fields {
                return Err(ProtocolError::HeadTooLarge);
            }
            let entry = parse_field(section, &line, &mut self.trailers)?;
            let name = &section[entry.name];
            if FORBIDDEN_TRAILERS
                .iter()
                .any(|forbidden| name.eq_ignore_ascii_case(forbidden))
            {
                return Err(ProtocolError::Trailer);
            }
        }
        Ok(Step::new(at, Event::NeedMore))
    }

    fn count(&mut self, bytes: u64, limits: &Limits) -> Result<(), ProtocolError> {
        self.decoded = self.decoded.saturating_add(bytes);
        if self.decoded > limits.body_bytes {
            Err(ProtocolError::BodyTooLarge)
        } else {
            Ok(())
        }
    }
}

fn chunk_line_error(error: ProtocolError) -> ProtocolError {
    match error {
        ProtocolError::HeadTooLarge => ProtocolError::ChunkSize,
        other => other,
    }
}

/// Hexadecimal digits, then nothing or extensions (RFC 9112, section 7.1.1), which are checked and ignored.
fn parse_chunk_size(line: &[u8]) -> Result<u64, ProtocolError> {
    let digits = line
        .iter()
        .position(|byte| !byte.is_ascii_hexdigit())
        .unwrap_or(line.len());
    if digits == 0 || digits > 15 || !are_extensions(&line[digits..]) {
        return Err(ProtocolError::ChunkSize);
    }
    let text =
        std::str::from_utf8(&line[..digits]).expect("invariant: hexadecimal digits are ASCII");
    u64::from_str_radix(text, 16).map_err(|_| ProtocolError::ChunkSize)
}

/// `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`, and nothing behind it.
fn are_extensions(mut rest: &[u8]) -> bool {
    while !rest.is_empty() {
        let Some(extension) = skip_blanks(rest).strip_prefix(b";") else {
            return false;
        };
        let Some(after_name) = skip_token(skip_blanks(extension)) else {
            return false;
        };
        rest = after_name;
        if let Some(value) = skip_blanks(after_name).strip_prefix(b"=") {
            let value = skip_blanks(value);
            let Some(after_value) = skip_token(value).or_else(|| skip_quoted(value)) else {
                return false;
            };
            rest = after_value;
        }
    }
    true
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    &text[blanks..]
}

fn skip_token(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take_while(|byte| is_token_byte(**byte)).count();
    (length > 0).then(|| &text[length..])
}

/// The text behind a quoted string (RFC 9110, section 5.6.4).
fn skip_quoted(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.strip_prefix(b"\"")?;
    loop {
        match rest {
            [b'"', after @ ..] => return Some(after),
            [b'\\', quoted, after @ ..] if is_field_value_byte(*quoted) => rest = after,
            [byte, after @ ..] if *byte != b'\\' && is_field_value_byte(*byte) => rest = after,
            _ => return None,
        }
    }
}
