//! The common form of requests and responses: a start line, fields, a body, and then the next message.

use super::body::BodyDecoder;
use super::line::{Framers, Line, LineScanner, parse_field};
use super::{Event, Step};
use crate::codec::error::ProtocolError;
use crate::codec::fields::Fields;
use crate::codec::head::Framing;
use crate::codec::limits::Limits;
use plimsoll_base::spare::Spare;
use std::thread::LocalKey;

/// Decoders that a thread has to spare at most, of each kind: a message under way keeps its own, and a thousand end in one moment when a slow
/// server has answered. With [`SPARE_BYTES`] of fields each that is 9 MiB, whatever strangers send.
pub(super) const SPARE_DECODERS: usize = 1024;
/// Memory of fields above which a decoder is freed instead of kept.
const SPARE_BYTES: usize = 8 * 1024;

/// The differences between the kinds of message.
pub trait Head: Default + 'static {
    /// Whether one empty line may stand before the start line.
    const MAY_FOLLOW_EMPTY_LINE: bool;

    /// Parses the start line of `input`.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    fn parse_start_line(
        &mut self,
        input: &[u8],
        line: &Line,
        limits: &Limits,
    ) -> Result<(), ProtocolError>;

    /// Settles framing and keep-alive once every field is known.
    ///
    /// # Errors
    /// Fields that contradict each other or the start line.
    fn conclude(&mut self, input: &[u8], framers: &Framers) -> Result<(), ProtocolError>;

    /// Whether another head follows at once, with no body between.
    fn is_interim(&self) -> bool;

    /// How the body ends, once concluded.
    fn framing(&self) -> Framing;

    /// The fields, to be filled.
    fn fields_mut(&mut self) -> &mut Fields;

    /// Forgets the message, and keeps its memory.
    fn clear(&mut self) {
        let mut fields = std::mem::take(self.fields_mut());
        fields.clear();
        *self = Self::default();
        *self.fields_mut() = fields;
    }

    /// Says what the message answers, where it answers something: whether that is a HEAD request.
    fn expect(&mut self, to_head_request: bool);

    /// The decoders of this kind that a thread has to spare.
    fn spare() -> &'static LocalKey<Spare<Box<MessageDecoder<Self>>>>;
}

/// Decodes the messages of one connection in one direction, one after another.
#[derive(Debug)]
pub struct MessageDecoder<H> {
    limits: Limits,
    state: State,
    pub(super) head: H,
    body: BodyDecoder,
}

#[derive(Debug)]
enum State {
    /// Between messages, or inside a head.
    Head {
        lines: LineScanner,
        framers: Framers,
        seen_start_line: bool,
    },
    Body,
}

impl State {
    fn start() -> Self {
        Self::Head {
            lines: LineScanner::default(),
            framers: Framers::default(),
            seen_start_line: false,
        }
    }
}

impl<H: Head> MessageDecoder<H> {
    /// A decoder at the start of a connection.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::start(),
            head: H::default(),
            body: BodyDecoder::new(),
        }
    }

    /// Forgets everything but its memory: the decoder of another connection, at its start.
    pub(crate) fn renew(&mut self, limits: Limits) {
        self.limits = limits;
        self.state = State::start();
        self.head.clear();
        self.body.clear();
    }

    /// Whether it is small enough to be kept for another message.
    pub(crate) fn is_worth_keeping(&mut self) -> bool {
        self.head.fields_mut().memory() + self.body.trailers().memory() <= SPARE_BYTES
    }

    /// Says before each message what it answers, where it answers something: whether that is a HEAD request, whose answer has no body
    /// whatever its fields say.
    pub fn expect(&mut self, to_head_request: bool) {
        self.head.expect(to_head_request);
    }

    /// Whether it is between two messages: what it holds of the last one, nobody needs to decode the next.
    pub(crate) fn is_between_messages(&self) -> bool {
        match self.state {
            State::Head {
                seen_start_line, ..
            } => !seen_start_line,
            State::Body => self.body.is_done(),
        }
    }

    /// The head of the current message, once [`Event::Head`] or [`Event::Interim`] was returned.
    #[must_use]
    pub fn head(&self) -> &H {
        &self.head
    }

    /// The head of the current message, taken out of the decoder.
    #[must_use]
    pub fn into_head(self) -> H {
        self.head
    }

    /// The trailers of the current message, once [`Event::End`] was returned.
    #[must_use]
    pub fn trailers(&self) -> &Fields {
        self.body.trailers()
    }

    /// Whether a part of the current message's body is still to be decoded; never for a message without one.
    #[must_use]
    pub fn body_pending(&self) -> bool {
        matches!(self.state, State::Body) && !self.body.is_done()
    }

    /// How many bytes are left of the current message's body, where its length was stated.
    #[must_use]
    pub(crate) fn left_by_length(&self) -> Option<u64> {
        match self.state {
            State::Head { .. } => None,
            State::Body => self.body.left_by_length(),
        }
    }

    /// So many bytes of [`Self::left_by_length`] went past without being decoded.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.body.skip(bytes);
    }

    /// Whether a close of the connection at this point is a proper end of the current body.
    #[must_use]
    pub fn may_end_here(&self) -> bool {
        matches!(self.state, State::Body) && self.body.may_end_here()
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
            seen_start_line,
        } = &mut self.state
        else {
            return Ok(Step::new(0, Event::NeedMore));
        };
        while let Some(line) = lines.next_line(input, self.limits.head_bytes)? {
            if !*seen_start_line {
                if H::MAY_FOLLOW_EMPTY_LINE && line.range == (0..0) {
                    continue;
                }
                self.head.fields_mut().clear();
                self.head.parse_start_line(input, &line, &self.limits)?;
                *seen_start_line = true;
            } else if line.range.is_empty() {
                self.head.conclude(input, framers)?;
                let end = lines.consumed();
                self.head.fields_mut().set_text(&input[..end]);
                return self.end_head(end);
            } else {
                if self.head.fields_mut().len() == self.limits.fields {
                    return Err(ProtocolError::HeadTooLarge);
                }
                let entry = parse_field(input, &line, self.head.fields_mut())?;
                framers.note(input, &entry)?;
            }
        }
        Ok(Step::new(0, Event::NeedMore))
    }

    fn end_head(&mut self, consumed: usize) -> Result<Step, ProtocolError> {
        if self.head.is_interim() {
            self.state = State::start();
            return Ok(Step::new(consumed, Event::Interim));
        }
        self.body.start(self.head.framing(), &self.limits)?;
        self.state = State::Body;
        Ok(Step::new(consumed, Event::Head))
    }
}
