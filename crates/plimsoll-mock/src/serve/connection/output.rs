//! Answers on their way out: queued, handed to the system together, and counted as served when they are.

use super::{Connection, Trouble, Wait};
use crate::records::metrics::Known;
use plimsoll_base::counters::Counter;
use plimsoll_http::{Elapsed, Patience};
use plimsoll_wiremock::response::answer::{Answer, Extent, Form};
use tokio::time::Instant;

/// An answer that is queued.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unwritten {
    /// When its request was.
    pub(super) received: Instant,
    pub(super) place: Known,
}

impl Connection<'_> {
    /// Notes that the answer to the current request waits to be written.
    pub(super) fn answer_is_queued(&mut self) {
        self.unwritten.push(Unwritten {
            received: self.received,
            place: self.place,
        });
    }

    /// Queues an answer; a long one is written piece by piece, and queued only with its last.
    pub(super) async fn queue(&mut self, answer: &Answer, form: Form) -> Result<(), Trouble> {
        if form.extent == Extent::Whole && answer.is_long() {
            self.ends |= answer.closes();
            answer.append_head(self.http.output.buffer(), form.persistence);
            let mut next = Some(0);
            while let Some(from) = next {
                next = answer.append_piece(self.http.output.buffer(), from);
                if next.is_some() {
                    self.flush().await?;
                    // A client that takes much takes turns with the others.
                    tokio::task::yield_now().await;
                }
            }
            self.answer_is_queued();
        } else {
            self.queue_whole(answer, form);
        }
        Ok(())
    }

    /// Queues an answer that is not long, or of which only the head is sent.
    pub(super) fn queue_whole(&mut self, answer: &Answer, form: Form) {
        self.ends |= answer.closes();
        answer.append_to(self.http.output.buffer(), form);
        self.answer_is_queued();
    }

    /// Writes what is queued; when that was done, a reading of the clock since which the task has not waited. `None`: nothing was queued.
    pub(super) async fn flush(&mut self) -> Result<Option<Instant>, Trouble> {
        if self.http.output.queued() == 0 {
            return Ok(None);
        }
        let counters = &self.shard.counters;
        let answers = self.unwritten.len() as u64;
        counters.add(Counter::Served, answers);
        let written = self.write().await.map(|()| Instant::now());
        if let Ok(now) = written {
            self.quiet_since = now;
            let metrics = &self.shard.shared.metrics;
            for answer in &self.unwritten {
                let time = now.duration_since(answer.received);
                counters.record(time);
                metrics.served(self.shard.index, answer.place, time);
            }
        } else {
            counters.withdraw(Counter::Served, answers);
        }
        self.unwritten.clear();
        written.map(Some)
    }

    /// Hands what is queued to the system, for as long as the client takes some of it.
    pub(super) async fn write(&mut self) -> Result<(), Trouble> {
        let mut patience = Patience::new(self.shard.shared.timeouts.body);
        let output = &mut self.http.output;
        let all = output.queued();
        loop {
            let wait = Wait::new(patience.allowance((all - output.queued()) as u64));
            let some = output.flush_some();
            let some = self.watch.until(|| wait.deadline(), some).await;
            if !some.map_err(|Elapsed| Trouble::Unread)?? {
                return Ok(());
            }
            patience.waited(wait.time());
        }
    }
}
