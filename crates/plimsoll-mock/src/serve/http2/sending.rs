//! Sends answers on their streams as their stubs want it. A fault ends the connection, with all of its streams, as it does in WireMock.
//!
//! An answer that is not sent as a whole does not count as served.

use super::{Broken, StreamState};
use crate::records::metrics::Known;
use crate::serve::exchange::Pending;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::Response;
use plimsoll_base::counters::Counter;
use plimsoll_http::Patience;
use plimsoll_http::server::http2::CutOff;
use plimsoll_wiremock::response::answer::{Answer, Extent};
use plimsoll_wiremock::response::delivery::{Delivery, Ending, Fault, Pacing};
use std::future::poll_fn;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// An answer that is to be sent now.
pub(super) enum Outgoing {
    /// One that was made for this request, perhaps by a stub. Boxed, because most are stubs'.
    Own { answer: Box<Answer>, place: Known },
    /// A stub's, and the permit that is free for another when it is sent.
    Stub {
        pending: Pending,
        place: Known,
        _permit: Option<OwnedSemaphorePermit>,
    },
}

impl Outgoing {
    /// One that was made for this request; `place` is where its stub is counted.
    pub(super) fn new(answer: Answer, place: Known) -> Self {
        let answer = Box::new(answer);
        Self::Own { answer, place }
    }
}

/// One stream on which an answer is to be sent.
pub(super) struct Sender<'a> {
    pub(super) respond: SendResponse<Bytes>,
    pub(super) extent: Extent,
    pub(super) received: Instant,
    pub(super) stage: &'a StreamState,
    pub(super) cut_off: &'a CutOff,
}

/// Why an answer is not sent to its end.
enum Lost {
    /// The client has left.
    Gone,
    /// It does not take it.
    Unread,
}

impl From<h2::Error> for Lost {
    fn from(_: h2::Error) -> Self {
        Self::Gone
    }
}

/// A body on its way.
struct Body<'a> {
    answer: &'a Answer,
    stream: SendStream<Bytes>,
    patience: Patience,
    sent: usize,
}

impl Sender<'_> {
    /// Sends an answer, or does what its stub wants instead.
    pub(super) async fn send(mut self, outgoing: Outgoing) {
        let (answer, delivery, place) = match &outgoing {
            Outgoing::Own { answer, place } => (&**answer, Delivery::Plain, *place),
            Outgoing::Stub { pending, place, .. } => {
                (pending.answer(), pending.stub.delivery, *place)
            }
        };
        let sent = match delivery {
            Delivery::Plain => self.served(answer, None, place).await,
            Delivery::Paced(pacing) => self.served(answer, Some(pacing), place).await,
            Delivery::Cut(bytes, ending) => self.cut(answer, bytes, ending).await,
            Delivery::Hang(limit) => self.hang(limit).await,
            Delivery::Fault(fault) => self.fail(fault).await,
        };
        match sent {
            Ok(()) => {}
            Err(Lost::Gone) => self
                .cut_off
                .look(|context| self.respond.poll_reset(context)),
            Err(Lost::Unread) => {
                self.stage.shard.counters.add(Counter::TimedOut, 1);
                self.respond.send_reset(Reason::CANCEL);
            }
        }
    }

    /// Sends an answer to its end. It counts before its last byte can be seen, and not if it does not get so far.
    async fn served(
        &mut self,
        answer: &Answer,
        pacing: Option<Pacing>,
        place: Known,
    ) -> Result<(), Lost> {
        let stage = self.stage;
        let counters = &stage.shard.counters;
        counters.add(Counter::Served, 1);
        let sent = match pacing {
            None => self.whole(answer).await,
            Some(pacing) => self.trickle(answer, pacing).await,
        };
        match sent {
            Ok(()) => {
                let time = self.received.elapsed();
                counters.record(time);
                let metrics = &stage.shard.shared.metrics;
                metrics.served(stage.shard.index, place, time);
            }
            Err(_) => counters.withdraw(Counter::Served, 1),
        }
        sent
    }

    async fn whole(&mut self, answer: &Answer) -> Result<(), Lost> {
        if let Some(mut body) = self.begin(answer)? {
            body.send(answer.body_len(), Last::Yes).await?;
        }
        Ok(())
    }

    async fn trickle(&mut self, answer: &Answer, pacing: Pacing) -> Result<(), Lost> {
        let all = answer.body_len();
        if self.extent == Extent::HeadOnly || all == 0 {
            return self.whole(answer).await;
        }
        let mut body = None;
        for piece in pacing.pieces(all) {
            self.wait(body.as_mut(), piece.wait).await?;
            if body.is_none() {
                body = self.begin(answer)?;
            }
            let last = if piece.until == all {
                Last::Yes
            } else {
                Last::No
            };
            if let Some(body) = &mut body {
                body.send(piece.until, last).await?;
            }
        }
        Ok(())
    }

    /// Sends the head and so many bytes of the body. Then the stream is reset, or ends sooner than the head has said.
    async fn cut(&mut self, answer: &Answer, bytes: usize, ending: Ending) -> Result<(), Lost> {
        let body = self.begin(answer)?;
        if let Some(mut body) = body {
            let until = bytes.min(answer.body_len());
            let last = match ending {
                Ending::Close => Last::Yes,
                Ending::Reset => Last::No,
            };
            body.send(until, last).await?;
        }
        if ending == Ending::Reset {
            // What is queued goes out before.
            tokio::task::yield_now().await;
            self.respond.send_reset(Reason::INTERNAL_ERROR);
        }
        Ok(())
    }

    /// Answers nothing until the client leaves, the time is over or the mock stops; then the stream is reset.
    async fn hang(&mut self, limit: Duration) -> Result<(), Lost> {
        let shard = &self.stage.shard;
        if !shard.drain.has_begun() {
            let left = poll_fn(|context| self.respond.poll_reset(context));
            tokio::select! {
                left = tokio::time::timeout(limit, left) => if left.is_ok() {
                    return Err(Lost::Gone);
                },
                () = shard.drain.begins() => {}
            }
        }
        self.respond.send_reset(Reason::INTERNAL_ERROR);
        Ok(())
    }

    /// Breaks the connection off, perhaps with the promise of a body before.
    async fn fail(&mut self, fault: Fault) -> Result<(), Lost> {
        if fault == Fault::MalformedResponseChunk {
            self.respond.send_response(Response::new(()), false)?;
            // The head goes out before.
            tokio::task::yield_now().await;
        }
        self.stage.break_off(Broken {
            bytes: fault.garbage().to_vec(),
            ending: fault.ending(),
        });
        Ok(())
    }

    /// Sends the head; gives the body that is to follow.
    fn begin<'b>(&mut self, answer: &'b Answer) -> Result<Option<Body<'b>>, Lost> {
        let ends = self.extent == Extent::HeadOnly || answer.body_len() == 0;
        let stream = self.respond.send_response(answer.http2_head(), ends)?;
        Ok((!ends).then(|| Body {
            answer,
            stream,
            patience: Patience::new(self.stage.shard.shared.timeouts.body),
            sent: 0,
        }))
    }

    /// Waits with the next piece, unless the client does not want it any more.
    async fn wait(&mut self, mut body: Option<&mut Body<'_>>, delay: Duration) -> Result<(), Lost> {
        let deadline = Instant::now() + delay;
        let reset = poll_fn(|context| match &mut body {
            Some(body) => body.stream.poll_reset(context),
            None => self.respond.poll_reset(context),
        });
        tokio::select! {
            waited = self.stage.shard.timer.sleep_until(deadline) => waited.map_err(|_| Lost::Gone),
            _ = reset => Err(Lost::Gone),
        }
    }
}

/// Whether the stream ends with a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

impl Body<'_> {
    /// Sends the body on to a byte of it, as the client makes room.
    async fn send(&mut self, until: usize, last: Last) -> Result<(), Lost> {
        if self.sent == until && last == Last::Yes {
            self.stream.send_data(Bytes::new(), true)?;
        }
        while self.sent < until {
            let mut piece = self.answer.http2_piece(self.sent, until);
            let room = self.room(piece.len()).await?;
            let part = piece.split_to(room.min(piece.len()));
            self.sent += part.len();
            let ends = last == Last::Yes && self.sent == until;
            self.stream.send_data(part, ends)?;
        }
        Ok(())
    }

    /// How many bytes the client takes now, at least one; waited for as long as its patience lasts.
    async fn room(&mut self, wanted: usize) -> Result<usize, Lost> {
        self.stream.reserve_capacity(wanted);
        loop {
            match self.stream.capacity() {
                0 => {}
                room => return Ok(room),
            }
            let allowance = self.patience.allowance(self.sent as u64);
            let since = Instant::now();
            let more = poll_fn(|context| self.stream.poll_capacity(context));
            let more = tokio::time::timeout(allowance, more).await;
            self.patience.waited(since.elapsed());
            match more {
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(_)) | None) => return Err(Lost::Gone),
                Err(_) => return Err(Lost::Unread),
            }
        }
    }
}
