//! One connection: requests in, answers out, in order.
//!
//! A request counts as received when its head is complete, or refused, and as served when its answer is handed to the system. So that a mock killed
//! between the two never has served fewer than its clients saw, an answer is counted just before it is written and withdrawn if
//! that fails. Between the two lies the mock's own time: delays, the reading of the body and the wait for answers before it included.

use crate::admin::{self, AdminRequest};
use crate::answer::{Answer, Extent, Form, Persistence};
use crate::builtins;
use crate::request::Request;
use crate::shard::Shard;
use crate::stub::Stub;
use plimsoll_base::counters::Counter;
use plimsoll_http::{Framing, ReadError, RequestHead, TcpServer, Version, encode};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Bytes of answers that are queued at most before they are written, when requests come faster than answers are taken.
const QUEUE_BYTES: usize = 64 * 1024;

/// How long what a peer still sends is read and dropped after its last answer.
const LINGER: Duration = Duration::from_secs(2);

/// Serves a connection until its end, whichever side that comes from.
pub(crate) async fn serve(stream: TcpStream, shard: Rc<Shard>) {
    let mut connection = Connection {
        http: TcpServer::from_stream(stream, shard.shared.limits),
        body: Vec::new(),
        received: Instant::now(),
        unwritten: Vec::new(),
        ends: false,
        shard: &shard,
    };
    if let Err(ReadError::Protocol(error)) = connection.run().await {
        shard.counters.add(Counter::Malformed, 1);
        connection.received = Instant::now();
        let answer = Answer::text(error.status(), &format!("{error}\n"));
        connection.queue(
            &answer,
            Form {
                persistence: Persistence::Close,
                extent: Extent::Whole,
            },
        );
        connection.finish().await;
        connection.linger().await;
    }
}

struct Connection<'a> {
    http: TcpServer,
    /// The current request's body, where somebody wants it.
    body: Vec<u8>,
    /// When the current request's head was complete.
    received: Instant,
    /// Answers queued and not yet written, by when their requests were received. The queue's bytes bound it.
    unwritten: Vec<Instant>,
    /// Whether the connection closes after what is queued.
    ends: bool,
    shard: &'a Shard,
}

/// What to do about a request.
enum Decision {
    /// The answer is queued.
    Queued,
    /// A stub's answer, later.
    Stub(Arc<Stub>, Duration),
    /// An answer of our own, later.
    Own(Answer, Duration),
}

impl Connection<'_> {
    async fn run(&mut self) -> Result<(), ReadError> {
        let stop = self.shard.stop.notified();
        tokio::pin!(stop);
        loop {
            let more = match self.arrived().await {
                Some(more) => more,
                None => {
                    self.flush().await?;
                    tokio::select! {
                        biased;
                        more = self.http.requests.next_head() => more,
                        () = &mut stop => Ok(false),
                    }
                }
            };
            let more = more.inspect_err(|error| {
                if matches!(error, ReadError::Protocol(_)) {
                    self.shard.counters.add(Counter::Received, 1);
                }
            })?;
            if !more {
                break;
            }
            self.received = Instant::now();
            self.shard.counters.add(Counter::Received, 1);
            self.answer().await?;
            if self.ends {
                break;
            }
        }
        self.finish().await;
        if self.http.requests.has_buffered() {
            self.linger().await;
        }
        Ok(())
    }

    /// The next request's head if it is here already, whole: only then may the answers before it wait for its own. `None`, too, if
    /// enough of them do.
    async fn arrived(&mut self) -> Option<Result<bool, ReadError>> {
        if !self.http.requests.has_buffered() || self.http.output.queued() > QUEUE_BYTES {
            return None;
        }
        let mut head = pin!(self.http.requests.next_head());
        poll_fn(|context| match head.as_mut().poll(context) {
            Poll::Ready(more) => Poll::Ready(Some(more)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// Reads the rest of the request and queues its answer.
    async fn answer(&mut self) -> Result<(), ReadError> {
        let head = self.http.requests.head();
        let form = form_of(head, self.shard.stopping.get());
        self.ends = form.persistence == Persistence::Close;
        if admin::is_admin(head.path()) {
            return self.answer_admin(form).await;
        }
        if head.framing() != Framing::None {
            self.take_body().await?;
        }
        let decision = self.decide(form);
        match decision {
            Decision::Queued => {}
            Decision::Stub(stub, delay) => {
                self.wait(delay).await?;
                self.queue(&stub.answer, form);
            }
            Decision::Own(answer, delay) => {
                self.wait(delay).await?;
                self.queue(&answer, form);
            }
        }
        Ok(())
    }

    /// Finds the answer: a stub's, a built-in's, or 404. What need not wait is queued at once.
    fn decide(&mut self, form: Form) -> Decision {
        let shared = &self.shard.shared;
        let request = Request::of(self.http.requests.head());
        let set = shared.stubs.current();
        let found = set.find(&request);
        let stub = match found {
            Ok(Some(stub)) => stub,
            Ok(None) => {
                if let Some(reply) = builtins::reply(request, &self.body, || shared.draw()) {
                    return Decision::Own(reply.answer, reply.delay);
                }
                self.shard.counters.add(Counter::Unmatched, 1);
                return Decision::Own(unmatched(set.stubs().is_empty()), Duration::ZERO);
            }
            Err(error) => {
                return Decision::Own(Answer::text(500, &error.to_string()), Duration::ZERO);
            }
        };
        if stub.delay.is_none() {
            let answer = &stub.answer;
            self.ends |= answer.closes();
            self.unwritten.push(self.received);
            answer.append_to(self.http.output.buffer(), form);
            return Decision::Queued;
        }
        let delay = stub.delay.sample(shared.precision, || shared.draw());
        Decision::Stub(Arc::clone(stub), delay)
    }

    async fn answer_admin(&mut self, form: Form) -> Result<(), ReadError> {
        let allowed = self.shard.shared.guard.check(self.http.requests.head());
        self.take_body().await?;
        let answer = match allowed {
            Err(error) => error.answer(),
            Ok(()) => {
                let head = self.http.requests.head();
                let request = AdminRequest {
                    method: head.method().to_owned(),
                    path: head.path().to_owned(),
                    query: head.query().unwrap_or_default().to_owned(),
                    body: std::mem::take(&mut self.body),
                };
                let admin = Arc::clone(&self.shard.shared.admin);
                tokio::task::spawn_blocking(move || admin.answer(&request))
                    .await
                    .map_err(io::Error::other)?
            }
        };
        self.queue(&answer, form);
        Ok(())
    }

    /// Reads the body, after telling a client that waits for leave; keeps it where somebody wants it.
    async fn take_body(&mut self) -> Result<(), ReadError> {
        self.body.clear();
        let head = self.http.requests.head();
        let wanted = builtins::wants_body(head.path()) || admin::is_admin(head.path());
        if head.expects_continue() && head.framing() != Framing::None {
            let out = self.http.output.buffer();
            encode::status_line(out, 100, None);
            encode::end_head(out);
        }
        // The body may come only after the answers before it.
        self.flush().await?;
        if wanted {
            return self.http.requests.read_body(&mut self.body).await;
        }
        while self.http.requests.next_data().await?.is_some() {}
        Ok(())
    }

    /// Holds the answer back; what was queued before it goes out first.
    async fn wait(&mut self, delay: Duration) -> Result<(), ReadError> {
        if delay.is_zero() {
            return Ok(());
        }
        let deadline = Instant::now() + delay;
        self.flush().await?;
        Ok(self.shard.timer.sleep_until(deadline).await?)
    }

    fn queue(&mut self, answer: &Answer, form: Form) {
        self.ends |= answer.closes();
        self.unwritten.push(self.received);
        answer.append_to(self.http.output.buffer(), form);
    }

    /// Writes what is queued.
    async fn flush(&mut self) -> io::Result<()> {
        if self.http.output.queued() == 0 {
            return Ok(());
        }
        let counters = &self.shard.counters;
        let answers = self.unwritten.len() as u64;
        counters.add(Counter::Served, answers);
        let written = self.http.output.flush().await;
        if written.is_ok() {
            let now = Instant::now();
            for received in &self.unwritten {
                counters.record(now.duration_since(*received));
            }
        } else {
            counters.withdraw(Counter::Served, answers);
        }
        self.unwritten.clear();
        written
    }

    /// Writes what is queued and ends the connection; a peer that is gone already is no error.
    async fn finish(&mut self) {
        if self.flush().await.is_ok() {
            self.http.output.shutdown().await.ok();
        }
    }

    /// Drops what the peer still sends until it closes: a close with bytes unread would reset the connection and take the last
    /// answer along. A mock that stops waits for nobody.
    async fn linger(&mut self) {
        if self.shard.stopping.get() {
            return;
        }
        let rest = tokio::time::timeout(LINGER, self.http.requests.discard());
        tokio::select! {
            // However it ends, the connection ends with it.
            _ = rest => {}
            () = self.shard.stop.notified() => {}
        }
    }
}

fn form_of(head: &RequestHead, stopping: bool) -> Form {
    let persistence = match head.version() {
        _ if stopping || !head.keep_alive() => Persistence::Close,
        Version::Http10 => Persistence::KeepSaid,
        Version::Http11 => Persistence::Keep,
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

/// WireMock's answers when nothing matches.
fn unmatched(no_stubs: bool) -> Answer {
    Answer::text(
        404,
        if no_stubs {
            "No response could be served as there are no stub mappings in this WireMock instance."
        } else {
            "Request was not matched"
        },
    )
}
