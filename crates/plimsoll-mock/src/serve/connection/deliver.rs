//! Sends answers as their stubs want it: whole, at a pace, in part, not at all.
//!
//! An answer that is not sent as a whole does not count as served.

use super::{Connection, Trouble};
use crate::serve::exchange::Pending;
use plimsoll_wiremock::response::answer::{Answer, Extent, Form};
use plimsoll_wiremock::response::delivery::{Closes, Delivery, Ending, Pacing};
use plimsoll_wiremock::stub::behaviour::Room;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// How a connection ends because a stub wants it so.
#[derive(Debug)]
pub(super) struct Broken {
    /// Bytes sent before.
    bytes: Vec<u8>,
    ending: Ending,
}

impl Connection<'_> {
    /// Waits for what an answer has to wait for, and sends it.
    pub(super) async fn carry_out(
        &mut self,
        mut pending: Pending,
        form: Form,
    ) -> Result<(), Trouble> {
        let mut place = None;
        if let Some(room) = &pending.room {
            place = Box::pin(self.enter(room)).await?;
            if place.is_none() {
                return self.queue(&Room::refusal(), form).await;
            }
        }
        if pending.is_elsewhere() {
            self.flush().await?;
            self.exchange().fetch(&mut pending).await;
        }
        self.hold_back(pending.delay).await?;
        let delivery = pending.stub.delivery;
        let mut sent = self.deliver(pending.answer(), delivery, form).await;
        if !pending.afterwards.are_none() {
            // The receivers of webhooks may rely on the answer being out.
            if sent.is_ok() {
                sent = self.flush().await.map(drop);
            }
            std::mem::take(&mut pending.afterwards).begin(&self.shard.webhooks);
        }
        sent?;
        if place.is_some() {
            // The place is free for another when the answer is out.
            self.flush().await?;
        }
        Ok(())
    }

    /// Waits for a place, after writing the answers before this one; `None` if there is none to wait for.
    async fn enter(&mut self, room: &Room) -> Result<Option<OwnedSemaphorePermit>, Trouble> {
        if let Ok(place) = room.try_enter() {
            return Ok(Some(place));
        }
        self.flush().await?;
        Ok(room.enter().await.ok())
    }

    /// Queues an answer, or does what a stub wants instead.
    async fn deliver(
        &mut self,
        answer: &Answer,
        delivery: Delivery,
        form: Form,
    ) -> Result<(), Trouble> {
        match delivery {
            Delivery::Plain => self.queue(answer, form).await,
            // Boxed, so that connections which never need them do not carry their memory.
            Delivery::Paced(pacing) => Box::pin(self.trickle(answer, form, pacing)).await,
            Delivery::Cut(bytes, ending) => Box::pin(self.cut(answer, form, bytes, ending)).await,
            Delivery::Hang(limit) => Box::pin(self.hang(limit)).await,
            Delivery::Fault(fault) => {
                let closes = if self.ends { Closes::Yes } else { Closes::No };
                Err(Trouble::Broken(Broken {
                    bytes: fault.bytes(closes),
                    ending: fault.ending(),
                }))
            }
        }
    }

    /// Queues an answer piece by piece, each of them after its wait; the last one is left to whoever writes next.
    async fn trickle(
        &mut self,
        answer: &Answer,
        form: Form,
        pacing: Pacing,
    ) -> Result<(), Trouble> {
        if form.extent == Extent::HeadOnly || answer.body_len() == 0 {
            return self.queue(answer, form).await;
        }
        self.ends |= answer.closes();
        let mut sent = None;
        for piece in pacing.pieces(answer.body_len()) {
            self.wait(piece.wait).await?;
            if sent.is_none() {
                answer.append_head(self.http.output.buffer(), form.persistence);
            }
            self.append(answer, sent.unwrap_or(0), piece.until).await?;
            sent = Some(piece.until);
        }
        self.answer_is_queued();
        Ok(())
    }

    /// Sends the head and so many bytes of the body, and ends the connection.
    async fn cut(
        &mut self,
        answer: &Answer,
        form: Form,
        bytes: usize,
        ending: Ending,
    ) -> Result<(), Trouble> {
        self.flush().await?;
        answer.append_head(self.http.output.buffer(), form.persistence);
        if form.extent == Extent::Whole {
            let until = bytes.min(answer.body_len());
            self.append(answer, 0, until).await?;
        }
        self.write().await?;
        let bytes = Vec::new();
        Err(Trouble::Broken(Broken { bytes, ending }))
    }

    /// Answers nothing until the client leaves, the time is over or the mock stops; then the connection closes.
    async fn hang(&mut self, limit: Duration) -> Result<(), Trouble> {
        self.flush().await?;
        if !self.shard.drain.has_begun() {
            let left = tokio::time::timeout(limit, self.http.requests.discard());
            tokio::select! {
                // However it ends, the connection ends with it.
                _ = left => {}
                () = self.shard.drain.begins() => {}
            }
        }
        Err(Trouble::Broken(Broken {
            bytes: Vec::new(),
            ending: Ending::Close,
        }))
    }

    /// Queues the bytes of a body from one on to another, writing when there are many.
    async fn append(&mut self, answer: &Answer, from: usize, until: usize) -> Result<(), Trouble> {
        let mut next = Some(from);
        while let Some(from) = next {
            next = answer.append_until(self.http.output.buffer(), from, until);
            if next.is_some() {
                self.write().await?;
                // A client that takes much takes turns with the others.
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Ends the connection as a stub wants it, after the answers before it; `false` if with a reset.
    pub(super) async fn break_off(&mut self, broken: Broken) -> bool {
        let sent = match self.flush().await {
            Ok(_) => self.send(&broken.bytes).await,
            Err(trouble) => Err(trouble),
        };
        broken.ending == Ending::Close && sent.is_ok() && self.linger().await
    }

    /// Writes bytes that are no answer.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.http.output.buffer().extend_from_slice(bytes);
        self.write().await
    }
}
