//! Finds the answer to a request, and does what has to be done before it can be queued.

use super::{Connection, Trouble, Wait};
use crate::admin;
use crate::serve::exchange::{Call, Decision, Exchange, LATE_BODY};
use plimsoll_http::{Elapsed, Framing, Patience, RequestHead, Version, encode};
use plimsoll_wiremock::response::answer::{Extent, Form, Persistence};
use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;

/// Remainder of the work on an answer, in a box: no idle connection has its memory.
type Rest<'a> = Pin<Box<dyn Future<Output = Result<(), Trouble>> + 'a>>;

impl Connection<'_> {
    /// Begins the answer to the current request: the form that it is to have.
    pub(super) fn begin_answer(&mut self) -> Form {
        let form = form_of(self.http.requests.head(), self.shard.drain.has_begun());
        self.ends = form.persistence == Persistence::Close;
        form
    }

    /// Whether the current request's body has to be there before its answer can be found.
    pub(super) fn body_comes_first(&self) -> bool {
        let head = self.http.requests.head();
        head.framing() != Framing::None && !admin::is_admin(head.path())
    }

    /// Queues the answer to the current request, unless there is something to wait for: then that is what is left to do. Most answers need not
    /// wait, and so touch nothing of the memory that waiting takes.
    pub(super) fn answer_at_once(&mut self, form: Form) -> Option<Rest<'_>> {
        if admin::is_admin(self.http.requests.head().path()) {
            return Some(Box::pin(self.answer_admin(form)));
        }
        match self.decide(form) {
            Decision::Done => None,
            Decision::Stub(pending) => Some(Box::pin(self.carry_out(pending, form))),
            Decision::Own(answer, Duration::ZERO) if !answer.is_long() => {
                self.queue_whole(&answer, form);
                None
            }
            Decision::Own(answer, delay) => Some(Box::pin(async move {
                self.hold_back(delay).await?;
                self.queue(&answer, form).await
            })),
            Decision::File(file) => Some(Box::pin(async move {
                let answer = self.exchange().read_static(file).await;
                self.queue(&answer, form).await
            })),
        }
    }

    /// The current request, which is there as a whole.
    pub(super) fn exchange(&self) -> Exchange<'_> {
        Exchange {
            shard: self.shard,
            head: self.http.requests.head(),
            body: self.kept.bytes(),
            channel: self.channel,
            received: self.received,
            place: Cell::new(self.place),
            id: OnceCell::new(),
            misread: Cell::default(),
        }
    }

    /// Finds the answer; one that need not wait is queued at once.
    fn decide(&mut self, form: Form) -> Decision {
        let exchange = Exchange {
            shard: self.shard,
            head: self.http.requests.head(),
            body: self.kept.bytes(),
            channel: self.channel,
            received: self.received,
            place: Cell::new(None),
            id: OnceCell::new(),
            misread: Cell::default(),
        };
        let (output, ends) = (&mut self.http.output, &mut self.ends);
        let decision = exchange.decide(|answer| {
            if answer.is_long() {
                return false;
            }
            *ends |= answer.closes();
            answer.append_to(output.buffer(), form);
            true
        });
        self.place = exchange.place.get();
        if matches!(decision, Decision::Done) {
            self.answer_is_queued();
        }
        decision
    }

    async fn answer_admin(&mut self, form: Form) -> Result<(), Trouble> {
        self.place = None;
        let call = Call::of(self.shard, self.http.requests.head(), self.channel.scheme);
        self.take_body().await?;
        let answer = call.answer(self.kept.take()).await?;
        self.queue(&answer, form).await
    }

    /// Reads the body, after telling a client that waits for leave; keeps it where somebody wants it.
    pub(super) async fn take_body(&mut self) -> Result<(), Trouble> {
        let head = self.http.requests.head();
        let mut wish = self.shard.shared.wish(head.path());
        if head.expects_continue() && head.framing() != Framing::None {
            let out = self.http.output.buffer();
            encode::status_line(out, 100, None);
            encode::end_head(out);
        }
        // The body may come only after the answers before it.
        self.flush().await?;
        let mut patience = Patience::new(self.shard.shared.timeouts.body);
        let mut bytes = 0;
        loop {
            let wait = Wait::new(patience.allowance(bytes));
            let data = self.http.requests.next_data();
            let data = self.watch.until(|| wait.deadline(), data).await;
            let late = |Elapsed| Trouble::Late(LATE_BODY);
            let Some(data) = data.map_err(late)?? else {
                return Ok(());
            };
            bytes += data.len() as u64;
            self.kept.keep(&mut wish, data)?;
            patience.waited(wait.time());
        }
    }

    /// Holds the answer back for as long as is meant.
    pub(super) async fn hold_back(&mut self, delay: Duration) -> Result<(), Trouble> {
        if delay.is_zero() {
            return Ok(());
        }
        let due = Instant::now() + delay;
        self.wait(delay).await?;
        let late = Instant::now().duration_since(due);
        let metrics = &self.shard.shared.metrics;
        metrics.delayed(self.shard.index, self.place, delay, late);
        Ok(())
    }

    /// Waits; what was queued before goes out first.
    pub(super) async fn wait(&mut self, delay: Duration) -> Result<(), Trouble> {
        if delay.is_zero() {
            return Ok(());
        }
        let deadline = Instant::now() + delay;
        self.flush().await?;
        Ok(self.shard.timer.sleep_until(deadline).await?)
    }
}

fn form_of(head: &RequestHead, stopping: bool) -> Form {
    let persistence = match head.version() {
        _ if stopping || !head.keep_alive() => Persistence::Close,
        Version::Http10 => Persistence::KeepSaid,
        Version::Http11 | Version::Http2 => Persistence::Keep,
    };
    let extent = match head.method() {
        "HEAD" => Extent::HeadOnly,
        _ => Extent::Whole,
    };
    Form {
        persistence,
        extent,
    }
}
