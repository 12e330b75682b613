//! The reading halves: messages one after another, heads first, then their bodies piece by piece.

use crate::buffer::ReadBuffer;
use crate::decode::{Event, RequestDecoder, ResponseDecoder};
use crate::error::ReadError;
use crate::fields::Fields;
use crate::head::{RequestHead, ResponseHead};
use crate::limits::Limits;
use std::io;
use std::ops::Range;
use tokio::io::AsyncRead;

/// Reads requests.
#[derive(Debug)]
pub struct RequestReader<R> {
    stream: R,
    buffer: ReadBuffer,
    decoder: RequestDecoder,
    /// Bytes handed out by `next_data`, consumed when the reader is asked for more.
    lent: usize,
}

impl<R> RequestReader<R> {
    pub(super) fn new(stream: R, limits: Limits) -> Self {
        let buffer = ReadBuffer::new(limits.head_bytes);
        Self {
            stream,
            buffer,
            decoder: RequestDecoder::new(limits),
            lent: 0,
        }
    }

    /// The head of the current request.
    #[must_use]
    pub fn head(&self) -> &RequestHead {
        self.decoder.head()
    }

    /// The trailers of the current request, once its body has ended.
    #[must_use]
    pub fn trailers(&self) -> &Fields {
        self.decoder.trailers()
    }

    /// Whether the current request's body has not ended yet.
    #[must_use]
    pub fn body_pending(&self) -> bool {
        self.decoder.body_pending()
    }

    /// Whether more bytes have arrived already: part of the body or, behind it, a pipelined request.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        self.buffer.filled().len() > self.lent
    }

    pub(super) fn into_stream(self) -> R {
        self.stream
    }
}

impl<R: AsyncRead + Unpin> RequestReader<R> {
    /// Reads the next request's head; first discards what is left of the body before it. `false`: the peer closed
    /// between two requests.
    ///
    /// # Errors
    /// [`ReadError`]; the connection is of no further use then.
    pub async fn next_head(&mut self) -> Result<bool, ReadError> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        self.buffer.rest();
        while let Some(event) = self.next_event().await? {
            if event == Event::Head {
                return Ok(true);
            }
        }
        if self.buffer.is_empty() && !self.decoder.body_pending() {
            Ok(false)
        } else {
            Err(ReadError::Closed)
        }
    }

    /// The next piece of the current request's body, never empty; `None` at its end.
    ///
    /// # Errors
    /// [`ReadError`]; the connection is of no further use then.
    pub async fn next_data(&mut self) -> Result<Option<&[u8]>, ReadError> {
        if !self.decoder.body_pending() {
            return Ok(None);
        }
        match self.next_event().await? {
            Some(Event::Data(range)) => Ok(Some(&self.buffer.filled()[range])),
            Some(_) => Ok(None),
            None => Err(ReadError::Closed),
        }
    }

    /// Reads the rest of the body and appends it to `into`; the body limit bounds how much that is.
    ///
    /// # Errors
    /// As [`Self::next_data`].
    pub async fn read_body(&mut self, into: &mut Vec<u8>) -> Result<(), ReadError> {
        while let Some(data) = self.next_data().await? {
            into.extend_from_slice(data);
        }
        Ok(())
    }

    /// Reads and drops whatever still comes, of any message or none, until the peer closes. For the end of a connection
    /// whose last request was refused: closing while bytes are unread would reset it and take the refusal along.
    ///
    /// # Errors
    /// The transport's.
    pub async fn discard(&mut self) -> io::Result<()> {
        self.lent = 0;
        loop {
            self.buffer.consume(self.buffer.filled().len());
            if self.buffer.fill(&mut self.stream).await? == 0 {
                return Ok(());
            }
        }
    }

    /// The next event, reading as needed; `None` at the end of the stream.
    async fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        loop {
            let step = self.decoder.decode(self.buffer.filled())?;
            match step.event {
                Event::NeedMore => {
                    self.buffer.consume(step.consumed);
                    if self.buffer.fill(&mut self.stream).await? == 0 {
                        return Ok(None);
                    }
                }
                event @ Event::Data(_) => {
                    self.lent = step.consumed;
                    return Ok(Some(event));
                }
                event => {
                    self.buffer.consume(step.consumed);
                    return Ok(Some(event));
                }
            }
        }
    }
}

/// Reads responses.
#[derive(Debug)]
pub struct ResponseReader<R> {
    stream: R,
    buffer: ReadBuffer,
    decoder: ResponseDecoder,
    lent: usize,
    received_any: bool,
}

impl<R> ResponseReader<R> {
    pub(super) fn new(stream: R, limits: Limits) -> Self {
        let buffer = ReadBuffer::new(limits.head_bytes);
        Self {
            stream,
            buffer,
            decoder: ResponseDecoder::new(limits),
            lent: 0,
            received_any: false,
        }
    }

    /// Announces the next response: whether it answers a HEAD request.
    pub fn expect(&mut self, to_head_request: bool) {
        self.decoder.expect(to_head_request);
        self.received_any = self.has_buffered();
    }

    /// The head of the current response.
    #[must_use]
    pub fn head(&self) -> &ResponseHead {
        self.decoder.head()
    }

    /// The trailers of the current response, once its body has ended.
    #[must_use]
    pub fn trailers(&self) -> &Fields {
        self.decoder.trailers()
    }

    /// Whether the current response's body has not ended yet.
    #[must_use]
    pub fn body_pending(&self) -> bool {
        self.decoder.body_pending()
    }

    /// Whether any byte has arrived since [`Self::expect`].
    #[must_use]
    pub fn received_any(&self) -> bool {
        self.received_any
    }

    /// Whether bytes have arrived that belong to no response read so far.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        self.buffer.filled().len() > self.lent
    }

    pub(super) fn stream(&self) -> &R {
        &self.stream
    }

    pub(super) fn into_stream(self) -> R {
        self.stream
    }
}

impl<R: AsyncRead + Unpin> ResponseReader<R> {
    /// Reads the next head. An interim one (status below 200, other than 101) is followed by another: call again.
    ///
    /// # Errors
    /// [`ReadError`]; a close before the first byte is [`ReadError::Closed`] too, see [`Self::received_any`].
    pub async fn next_head(&mut self) -> Result<(), ReadError> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        self.buffer.rest();
        loop {
            match self.next_event().await? {
                Some(Event::Head | Event::Interim) => return Ok(()),
                Some(_) => {}
                None => return Err(ReadError::Closed),
            }
        }
    }

    /// The next piece of the current response's body, never empty; `None` at its end.
    ///
    /// # Errors
    /// [`ReadError`]; a close before a stated length or the last chunk is [`ReadError::Closed`].
    pub async fn next_data(&mut self) -> Result<Option<&[u8]>, ReadError> {
        if !self.decoder.body_pending() {
            return Ok(None);
        }
        match self.next_event().await? {
            Some(Event::Data(range)) => Ok(Some(&self.buffer.filled()[range])),
            Some(_) => Ok(None),
            None if self.decoder.may_end_here() => Ok(None),
            None => Err(ReadError::Closed),
        }
    }

    /// The next event, reading as needed; `None` at the end of the stream.
    async fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        loop {
            let step = self.decoder.decode(self.buffer.filled())?;
            match step.event {
                Event::NeedMore => {
                    self.buffer.consume(step.consumed);
                    let range = self.buffer.fill(&mut self.stream).await?;
                    if range == 0 {
                        return Ok(None);
                    }
                    self.received_any = true;
                }
                event => {
                    if matches!(event, Event::Data(Range { .. })) {
                        self.lent = step.consumed;
                    } else {
                        self.buffer.consume(step.consumed);
                    }
                    return Ok(Some(event));
                }
            }
        }
    }
}
