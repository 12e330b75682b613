//! The reading half: messages one after another, heads first, then their bodies piece by piece.

mod splicing;

pub use splicing::SpliceError;

use crate::codec::buffer::ReadBuffer;
use crate::codec::decode::{Event, Head, MessageDecoder};
use crate::codec::error::ReadError;
use crate::codec::fields::Fields;
use crate::codec::head::{RequestHead, ResponseHead};
use crate::codec::limits::Limits;
use plimsoll_base::spare;
use std::io;
use tokio::io::AsyncRead;

/// Reads requests.
pub type RequestReader<R> = MessageReader<R, RequestHead>;
/// Reads responses.
pub type ResponseReader<R> = MessageReader<R, ResponseHead>;

/// Reads the messages of one kind from a stream. While it waits for the first byte of one, it holds no memory but its own.
#[derive(Debug)]
pub struct MessageReader<R, H: Head> {
    stream: R,
    limits: Limits,
    buffer: ReadBuffer,
    message: HeldDecoder<H>,
    /// Bytes handed out by `next_data`, consumed when the reader is asked for more.
    lent: usize,
    received_any: bool,
    to_head_request: bool,
}

/// The decoder of the message under way, or of the last one until the next is waited for; the shard's otherwise.
#[derive(Debug)]
struct HeldDecoder<H: Head>(Option<Box<MessageDecoder<H>>>);

impl<H: Head> HeldDecoder<H> {
    fn give_back(&mut self) {
        if let Some(mut decoder) = self.0.take()
            && decoder.is_worth_keeping()
        {
            spare::give(H::spare(), decoder);
        }
    }

    fn get_or_take(&mut self, limits: Limits, to_head_request: bool) -> &mut MessageDecoder<H> {
        self.0.get_or_insert_with(|| {
            let mut decoder = match spare::take(H::spare()) {
                Some(mut decoder) => {
                    decoder.renew(limits);
                    decoder
                }
                None => Box::new(MessageDecoder::new(limits)),
            };
            decoder.expect(to_head_request);
            decoder
        })
    }
}

impl<H: Head> Drop for HeldDecoder<H> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<R, H: Head> MessageReader<R, H> {
    pub(crate) fn new(stream: R, limits: Limits) -> Self {
        Self {
            stream,
            limits,
            buffer: ReadBuffer::new(limits.head_bytes),
            message: HeldDecoder(None),
            lent: 0,
            received_any: false,
            to_head_request: false,
        }
    }

    /// The head of the current message, until the next one is waited for.
    ///
    /// # Panics
    /// When no head was read.
    #[must_use]
    pub fn head(&self) -> &H {
        self.known_head()
            .expect("invariant: a head is asked for after it was read")
    }

    /// The head of the current message, if there is one.
    pub(super) fn known_head(&self) -> Option<&H> {
        self.message.0.as_deref().map(MessageDecoder::head)
    }

    /// The trailers of the current message, once its body has ended.
    ///
    /// # Panics
    /// When no head was read.
    #[must_use]
    pub fn trailers(&self) -> &Fields {
        let decoder = self.message.0.as_deref();
        let trailers = decoder.map(MessageDecoder::trailers);
        trailers.expect("invariant: trailers are asked for after they were read")
    }

    /// Whether the current message's body has not ended yet; never for a message without one.
    #[must_use]
    pub fn body_pending(&self) -> bool {
        let decoder = self.message.0.as_deref();
        decoder.is_some_and(MessageDecoder::body_pending)
    }

    /// Nobody needs the last message any more: gives its memory back, if nothing of the next one has arrived.
    #[inline]
    pub(crate) fn rest(&mut self) {
        self.buffer.consume(std::mem::take(&mut self.lent));
        self.buffer.rest();
        let decoder = self.message.0.as_deref();
        if self.buffer.is_empty() && decoder.is_some_and(MessageDecoder::is_between_messages) {
            self.message.give_back();
        }
    }

    /// Whether bytes have arrived that were not handed out yet: of this message or, behind it, of another.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        self.buffer.filled().len() > self.lent
    }

    /// Bytes that have arrived and were not handed out yet.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer.filled()[self.lent..]
    }

    pub(super) fn stream(&self) -> &R {
        &self.stream
    }

    pub(super) fn into_stream(self) -> R {
        self.stream
    }
}

impl<R: AsyncRead + Unpin, H: Head> MessageReader<R, H> {
    /// The next piece of the current message's body, never empty; `None` at its end.
    ///
    /// # Errors
    /// [`ReadError`]; the connection is of no further use then. A close before a stated length or the last chunk is
    /// [`ReadError::Closed`].
    pub async fn next_data(&mut self) -> Result<Option<&[u8]>, ReadError> {
        if !self.body_pending() {
            return Ok(None);
        }
        match self.next_event().await? {
            Some(Event::Data(range)) => Ok(Some(&self.buffer.filled()[range])),
            Some(_) => Ok(None),
            None if self.decoder().may_end_here() => Ok(None),
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

    /// The next bytes, whatever they are, for a connection that speaks another protocol from here on: first those that have arrived already. `None`:
    /// the peer sends nothing more.
    ///
    /// # Errors
    /// The transport's.
    pub async fn next_bytes(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        if self.buffer.is_empty() && self.buffer.fill(&mut self.stream).await? == 0 {
            return Ok(None);
        }
        self.lent = self.buffer.filled().len();
        Ok(Some(self.buffer.filled()))
    }

    /// Discards what is left of the current message and reads the next head; `false`: the stream ended before it did.
    async fn advance(&mut self) -> Result<bool, ReadError> {
        self.rest();
        while let Some(event) = self.next_event().await? {
            if matches!(event, Event::Head | Event::Interim) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn decoder(&mut self) -> &mut MessageDecoder<H> {
        self.message.get_or_take(self.limits, self.to_head_request)
    }

    /// The next event, reading as needed; `None` at the end of the stream.
    async fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        loop {
            if self.buffer.is_empty() && self.message.0.is_none() {
                // Of the message that comes nothing has to be remembered yet.
                if self.buffer.fill(&mut self.stream).await? == 0 {
                    return Ok(None);
                }
                self.received_any = true;
            }
            let decoder = self.message.get_or_take(self.limits, self.to_head_request);
            let step = decoder.decode(self.buffer.filled())?;
            match step.event {
                Event::NeedMore => {
                    self.buffer.consume(step.consumed);
                    if self.buffer.fill(&mut self.stream).await? == 0 {
                        return Ok(None);
                    }
                    self.received_any = true;
                }
                Event::Data(_) => {
                    self.lent = step.consumed;
                    return Ok(Some(step.event));
                }
                event => {
                    self.buffer.consume(step.consumed);
                    return Ok(Some(event));
                }
            }
        }
    }
}

impl<R: AsyncRead + Unpin> RequestReader<R> {
    /// Reads the next request's head; first discards what is left of the body before it. `false`: the peer closed
    /// between two requests.
    ///
    /// # Errors
    /// [`ReadError`]; the connection is of no further use then.
    pub async fn next_head(&mut self) -> Result<bool, ReadError> {
        match self.advance().await? {
            true => Ok(true),
            false if self.buffer.is_empty() && !self.body_pending() => Ok(false),
            false => Err(ReadError::Closed),
        }
    }

    /// Waits for the first bytes of the next request unless some are here; `false`: the stream has ended. What came before must have
    /// been read.
    ///
    /// # Errors
    /// The transport's.
    pub async fn begins(&mut self) -> io::Result<bool> {
        self.rest();
        self.arrives().await
    }

    /// As [`Self::begins`], while the current message is still needed.
    ///
    /// # Errors
    /// The transport's.
    pub async fn arrives(&mut self) -> io::Result<bool> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        self.buffer.rest();
        if self.buffer.is_empty() && self.buffer.fill(&mut self.stream).await? == 0 {
            return Ok(false);
        }
        self.received_any = true;
        Ok(true)
    }

    /// Reads once, behind what has arrived; `false`: the stream has ended.
    pub(crate) async fn more(&mut self) -> io::Result<bool> {
        Ok(self.buffer.fill(&mut self.stream).await? > 0)
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
}

impl<R> ResponseReader<R> {
    /// Announces the next response: whether it answers a HEAD request.
    pub fn expect(&mut self, to_head_request: bool) {
        self.rest();
        self.to_head_request = to_head_request;
        if let Some(decoder) = self.message.0.as_deref_mut() {
            decoder.expect(to_head_request);
        }
        self.received_any = self.has_buffered();
    }

    /// Whether any byte has arrived since [`Self::expect`].
    #[must_use]
    pub fn received_any(&self) -> bool {
        self.received_any
    }
}

impl<R: AsyncRead + Unpin> ResponseReader<R> {
    /// Waits until a byte of the next response is there.
    ///
    /// # Errors
    /// The transport's; [`ReadError::Closed`] when the peer closed.
    pub async fn first_byte(&mut self) -> Result<(), ReadError> {
        self.rest();
        if self.buffer.is_empty() {
            if self.buffer.fill(&mut self.stream).await? == 0 {
                return Err(ReadError::Closed);
            }
            self.received_any = true;
        }
        Ok(())
    }

    /// Reads the next head. An interim one (status below 200, other than 101) is followed by another: call again.
    ///
    /// # Errors
    /// [`ReadError`]; a close before the first byte is [`ReadError::Closed`] too, see [`Self::received_any`].
    pub async fn next_head(&mut self) -> Result<(), ReadError> {
        match self.advance().await? {
            true => Ok(()),
            false => Err(ReadError::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::spare::take;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::ReadBuf;

    fn requests(bytes: &'static [u8]) -> RequestReader<&'static [u8]> {
        MessageReader::new(bytes, Limits::default())
    }

    fn spares() -> usize {
        std::iter::from_fn(|| take(RequestHead::spare())).count()
    }

    #[tokio::test]
    async fn a_reader_between_messages_holds_no_memory_of_one() {
        let mut reader = requests(b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(reader.next_head().await.unwrap());
        assert_eq!((reader.head().path(), spares()), ("/1", 0));
        reader.rest();
        assert!(reader.known_head().is_none());
        assert_eq!(spares(), 1);
    }

    #[tokio::test]
    async fn nothing_of_one_connection_is_seen_on_another() {
        let mut broken = requests(b"POST /1 HTTP/1.0\r\nHost: a\r\nContent-Length: 3\r\nConne");
        assert!(broken.next_head().await.is_err());
        drop(broken);
        let mut reader = requests(b"GET /2 HTTP/1.1\r\nHost: b\r\n\r\n");
        assert!(reader.next_head().await.unwrap());
        assert_eq!(spares(), 0, "the decoder is another one");
        let head = reader.head();
        let seen = (head.path(), head.fields().len(), head.keep_alive());
        assert_eq!((seen, reader.body_pending()), (("/2", 1, true), false));
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
        for (to_head, has_body) in [(true, false), (false, true)] {
            let mut responses = ResponseReader::new(&answer[..], Limits::default());
            responses.expect(to_head);
            responses.next_head().await.unwrap();
            assert_eq!(responses.body_pending(), has_body);
        }
    }

    #[tokio::test]
    async fn the_memory_of_a_large_head_is_not_kept() {
        let head = format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
            "x".repeat(9_000)
        );
        let mut reader: RequestReader<&[u8]> =
            MessageReader::new(head.as_bytes(), Limits::default());
        assert!(reader.next_head().await.unwrap());
        drop(reader);
        assert_eq!(spares(), 0);
    }

    /// Gives one piece a read, and notes how many bytes it might have been.
    struct Pieces {
        pieces: std::vec::IntoIter<Vec<u8>>,
        rooms: Vec<usize>,
    }

    impl Pieces {
        fn reader(pieces: Vec<Vec<u8>>) -> RequestReader<Self> {
            let (pieces, rooms) = (pieces.into_iter(), Vec::new());
            MessageReader::new(Self { pieces, rooms }, Limits::default())
        }
    }

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.rooms.push(buffer.remaining());
            buffer.put_slice(&self.pieces.next().unwrap_or_default());
            Poll::Ready(Ok(()))
        }
    }

    const FIRST_ROOM: usize = 4096;

    #[tokio::test]
    async fn what_comes_behind_a_body_is_no_part_of_its_stream() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4046\r\n\r\n";
        let mut filled = head.as_bytes().to_vec();
        filled.resize(FIRST_ROOM, b'x');
        assert_eq!(head.len() + 4046, FIRST_ROOM);
        let mut reader = Pieces::reader(vec![filled, b"G".to_vec()]);
        assert!(reader.next_head().await.unwrap());
        while reader.next_data().await.unwrap().is_some() {}
        assert!(reader.arrives().await.unwrap());
        assert_eq!(reader.head().path(), "/");
        assert!(reader.stream.rooms.iter().all(|room| *room == FIRST_ROOM));
    }

    #[tokio::test]
    async fn a_tunnel_goes_on_with_large_reads() {
        let pieces = [FIRST_ROOM, 100, 100].map(|bytes| vec![b'x'; bytes]);
        let mut reader = Pieces::reader(pieces.to_vec());
        while reader.next_bytes().await.unwrap().is_some() {}
        let [first, rest @ ..] = &reader.stream.rooms[..] else {
            panic!("nothing was read");
        };
        assert_eq!(*first, FIRST_ROOM);
        assert!(rest.iter().all(|room| *room == 16 * FIRST_ROOM), "{rest:?}");
    }
}
