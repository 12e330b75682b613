//! Bodies in bulk: pieces that go from socket to socket without being looked at or copied.

use super::MessageReader;
use crate::codec::decode::Head;
use crate::codec::error::ReadError;
use crate::connection::Output;
use crate::transport::splice::{LEAST_BYTES, splice};
use crate::transport::stream::Bare;
use std::io;
use std::task::{Context, Poll, ready};

/// Why a piece of a body did not go on.
#[derive(Debug)]
pub enum SpliceError {
    /// Reading it failed; the connection that it came from is of no further use.
    Source(ReadError),
    /// Writing it failed. It is lost, and so is the message.
    Sink(io::Error),
}

impl<R: Bare, H: Head> MessageReader<R, H> {
    /// Moves a piece of the current message's body, of at most `most` bytes, on to `sink` as it comes, and says how many it had. What the sink
    /// does not take at once is queued there: only the source is waited for.
    ///
    /// None where the body has to be read with [`Self::next_data`]: its length was not stated, or little of it is left or asked for; something has been
    /// read ahead of it or is queued in front of it; one of the two connections is secured or in memory; the system has no pipe to spare.
    ///
    /// # Errors
    /// [`SpliceError`]; a close before the stated length is [`ReadError::Closed`].
    pub fn poll_splice<W: Bare>(
        &mut self,
        context: &mut Context<'_>,
        sink: &mut Output<W>,
        most: usize,
    ) -> Poll<Result<Option<usize>, SpliceError>> {
        self.buffer.consume(std::mem::take(&mut self.lent));
        let Some(decoder) = self.message.0.as_deref_mut() else {
            return Poll::Ready(Ok(None));
        };
        let left = decoder.left_by_length().unwrap_or(0);
        let most = most.min(usize::try_from(left).unwrap_or(usize::MAX));
        if most < LEAST_BYTES || !self.buffer.is_empty() || sink.queued() > 0 {
            return Poll::Ready(Ok(None));
        }
        let (Some(from), Some(to)) = (self.stream.socket(), sink.stream().socket()) else {
            return Poll::Ready(Ok(None));
        };
        let spliced = ready!(splice(context, from, to, most));
        Poll::Ready(match spliced {
            Err(error) => Err(SpliceError::Source(error.into())),
            Ok(None) => Ok(None),
            Ok(Some(spliced)) if spliced.received == 0 => {
                Err(SpliceError::Source(ReadError::Closed))
            }
            Ok(Some(spliced)) => {
                decoder.skip(spliced.received as u64);
                let sent = spliced.sent.map_err(SpliceError::Sink);
                sent.map(|_| {
                    sink.queue(spliced.rest);
                    Some(spliced.received)
                })
            }
        })
    }
}
