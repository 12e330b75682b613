//! One connection: requests in, answers out, in order.
//!
//! A request counts as received when its head is complete, or refused, and as served when its answer is handed to the system. So that a mock killed
//! between the two never has served fewer than its clients saw, an answer is counted just before it is written and withdrawn if
//! that fails. Between the two lies the mock's own time: delays, the reading of the body and the wait for answers before it included.

mod behave;
mod deliver;

use crate::admin::{self, AdminRequest};
use crate::answer::{Answer, Extent, Form, Persistence};
use crate::builtins;
use crate::clock;
use crate::delivery::Delivery;
use crate::held::{Full, Held};
use crate::journal::{Answered, Seen};
use crate::request::{Channel, Request, Scheme};
use crate::shard::Shard;
use deliver::{Broken, Pending};
use plimsoll_base::counters::Counter;
use plimsoll_http::tls::ServerTls;
use plimsoll_http::{
    Elapsed, Framing, Patience, ReadError, RequestHead, Stream, TcpServer, Version, Watch, encode,
};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
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

/// Bytes of a request's body for which memory is kept from one request to the next.
const KEPT_BYTES: usize = 64 * 1024;

/// Bytes of a body that the journal keeps at most; a longer one is noted without.
const JOURNAL_BODY_BYTES: usize = 1 << 20;

/// Serves a connection until its end, whichever side that comes from.
pub(crate) async fn serve(stream: TcpStream, shard: Rc<Shard>) {
    let channel = channel(&stream, Scheme::Http);
    converse(stream, channel, &shard).await;
}

/// The same for a connection that is to be secured first. A handshake gets as long as a head.
pub(crate) async fn serve_secured(stream: TcpStream, tls: ServerTls, shard: Rc<Shard>) {
    if shard.stopping.get() {
        return;
    }
    let channel = channel(&stream, Scheme::Https);
    let handshake = tokio::time::timeout(shard.shared.timeouts.head, tls.accept(stream));
    let secured = tokio::select! {
        secured = handshake => secured,
        () = shard.stop.notified() => return,
    };
    match secured {
        Ok(Ok(stream)) => converse(Stream::Tls(Box::new(stream)), channel, &shard).await,
        // The client, or whatever it is, has been sent an alert.
        Ok(Err(_)) => {}
        Err(_) => shard.counters.add(Counter::TimedOut, 1),
    }
}

fn channel(stream: &TcpStream, scheme: Scheme) -> Channel {
    Channel {
        client: stream.peer_addr().ok().map(|peer| peer.ip()),
        scheme,
    }
}

async fn converse(stream: impl Into<Stream>, channel: Channel, shard: &Rc<Shard>) {
    let now = Instant::now();
    let mut connection = Connection {
        channel,
        http: TcpServer::from_stream(stream, shard.shared.limits),
        body: Vec::new(),
        held: Held::new(Arc::clone(&shard.shared)),
        watch: Watch::new(now + shard.shared.timeouts.idle),
        quiet_since: now,
        received: now,
        unwritten: Vec::new(),
        ends: false,
        shard,
    };
    let (status, why) = match connection.run().await {
        Ok(()) | Err(Trouble::Read(ReadError::Closed | ReadError::Io(_))) => return,
        Err(Trouble::Read(ReadError::Protocol(error))) => {
            shard.counters.add(Counter::Malformed, 1);
            (error.status(), error.to_string())
        }
        Err(Trouble::Late(why)) => {
            shard.counters.add(Counter::TimedOut, 1);
            (408, why.to_owned())
        }
        Err(Trouble::Unread) => {
            shard.counters.add(Counter::TimedOut, 1);
            return connection.http.reset();
        }
        Err(Trouble::Full) => (503, "too many bodies are held".to_owned()),
        Err(Trouble::Broken(broken)) => return connection.break_off(broken).await,
    };
    connection.refuse(status, &why).await;
}

/// Why a connection ends before its client wants it to.
enum Trouble {
    Read(ReadError),
    /// The client took too long over a request.
    Late(&'static str),
    /// It does not take its answers.
    Unread,
    /// There is no room to hold its request's body.
    Full,
    /// A stub wants it so.
    Broken(Broken),
}

impl From<ReadError> for Trouble {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<Full> for Trouble {
    fn from(Full: Full) -> Self {
        Self::Full
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Read(error.into())
    }
}

struct Connection<'a> {
    http: TcpServer,
    channel: Channel,
    /// The current request's body, where somebody wants it.
    body: Vec<u8>,
    /// The room that it takes.
    held: Held,
    watch: Watch,
    /// When the last answers were written, or the connection was accepted.
    quiet_since: Instant,
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
    Stub(Pending),
    /// An answer of our own, later.
    Own(Answer, Duration),
}

impl Connection<'_> {
    async fn run(&mut self) -> Result<(), Trouble> {
        let stop = self.shard.stop.notified();
        let mut stop = pin!(stop);
        loop {
            let more = match self.arrived().await {
                Some(more) => more.map_err(Trouble::Read),
                None => {
                    self.flush().await?;
                    self.next_head(stop.as_mut()).await
                }
            };
            let more = more.inspect_err(|trouble| {
                if matches!(
                    trouble,
                    Trouble::Read(ReadError::Protocol(_)) | Trouble::Late(_)
                ) {
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
        self.finish().await?;
        if self.http.requests.has_buffered() {
            self.linger().await;
        }
        Ok(())
    }

    /// Awaits the next request's head: its first byte for as long as a connection may be idle, the rest for as long as a head may
    /// take. `false` at the end of the connection.
    async fn next_head(
        &mut self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<bool, Trouble> {
        let timeouts = self.shard.shared.timeouts;
        let requests = &mut self.http.requests;
        let idle = self.quiet_since + timeouts.idle;
        let begins = async {
            tokio::select! {
                biased;
                begun = requests.begins() => begun,
                () = &mut stop => Ok(false),
            }
        };
        let begun = match self.watch.until(|| idle, begins).await {
            Ok(begun) => begun?,
            Err(Elapsed) => false,
        };
        if !begun {
            return Ok(false);
        }
        let wait = Wait::new(timeouts.head);
        let head = async {
            tokio::select! {
                biased;
                more = requests.next_head() => more,
                () = &mut stop => Ok(false),
            }
        };
        match self.watch.until(|| wait.deadline(), head).await {
            Ok(more) => Ok(more?),
            Err(Elapsed) => Err(Trouble::Late("the request's head took too long")),
        }
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
    async fn answer(&mut self) -> Result<(), Trouble> {
        let answered = self.answer_held().await;
        self.body.clear();
        self.body.shrink_to(KEPT_BYTES);
        self.held.release();
        answered
    }

    async fn answer_held(&mut self) -> Result<(), Trouble> {
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
            Decision::Stub(pending) => self.carry_out(pending, form).await?,
            Decision::Own(answer, delay) => {
                self.wait(delay).await?;
                self.queue(&answer, form).await?;
            }
        }
        Ok(())
    }

    /// Finds the answer: a stub's, a built-in's, or 404. What need not wait is queued at once.
    fn decide(&mut self, form: Form) -> Decision {
        let shared = &self.shard.shared;
        let request = Request::of(self.http.requests.head(), &self.body, self.channel);
        let set = shared.stubs.current();
        let found = set.find(&request);
        let stub = match found {
            Ok(Some(stub)) => stub,
            Ok(None) => {
                if let Some(reply) = builtins::reply(&request, || shared.draw()) {
                    self.note(Answered::Own(reply.answer.status()), reply.delay);
                    return Decision::Own(reply.answer, reply.delay);
                }
                self.shard.counters.add(Counter::Unmatched, 1);
                self.note(Answered::Unmatched, Duration::ZERO);
                return Decision::Own(unmatched(set.stubs().is_empty()), Duration::ZERO);
            }
            Err(error) => {
                self.note(Answered::Own(500), Duration::ZERO);
                return Decision::Own(Answer::text(500, &error.to_string()), Duration::ZERO);
            }
        };
        let default_delay = set.default_delay();
        if let Some(behaviour) = &stub.behaviour {
            return self.decide_behaving(stub, behaviour, default_delay);
        }
        let delay = if stub.delay.is_none() && default_delay.is_none() {
            Duration::ZERO
        } else {
            let precision = shared.precision;
            stub.delay
                .sample(default_delay, precision, || shared.draw())
        };
        if let Some(templated) = &stub.templated
            && stub.delivery == Delivery::Plain
        {
            let url = &stub.request.url;
            let answer = templated.answer(&request, url, clock::now(), shared.draw());
            self.note_answer(Answered::Stub(stub), delay, Some(&answer));
            return Decision::Own(answer, delay);
        }
        self.note(Answered::Stub(stub), delay);
        if delay.is_zero() && stub.delivery == Delivery::Plain && !stub.answer.is_long() {
            let answer = &stub.answer;
            self.ends |= answer.closes();
            self.unwritten.push(self.received);
            answer.append_to(self.http.output.buffer(), form);
            return Decision::Queued;
        }
        Decision::Stub(Pending {
            stub: Arc::clone(stub),
            delay,
            room: None,
        })
    }

    /// Notes the request in the journal, with an answer that is the same for every request.
    fn note(&self, outcome: Answered<'_>, delay: Duration) {
        self.note_answer(outcome, delay, None);
    }

    /// Notes the request in the journal; `answer` was made for it.
    fn note_answer(&self, outcome: Answered<'_>, delay: Duration, answer: Option<&Answer>) {
        let seen = Seen {
            head: self.http.requests.head(),
            body: &self.body,
            channel: self.channel,
            received: self.received,
            delay,
            outcome,
            answer,
        };
        self.shard.shared.journal.note(self.shard.index, &seen);
    }

    async fn answer_admin(&mut self, form: Form) -> Result<(), Trouble> {
        let head = self.http.requests.head();
        let allowed = self.shard.shared.guard.check(head, self.channel.scheme);
        self.take_body().await?;
        let answer = match allowed {
            Err(error) => error.answer(),
            Ok(()) => {
                let head = self.http.requests.head();
                let request = AdminRequest {
                    method: head.method().to_owned(),
                    path: head.path().to_owned(),
                    query: head.query().unwrap_or_default().to_owned(),
                    accept: head.fields().get("Accept").unwrap_or_default().to_vec(),
                    body: std::mem::take(&mut self.body),
                };
                let admin = Arc::clone(&self.shard.shared.admin);
                tokio::task::spawn_blocking(move || admin.answer(&request))
                    .await
                    .map_err(io::Error::other)?
            }
        };
        self.queue(&answer, form).await
    }

    /// Reads the body, after telling a client that waits for leave; keeps it where somebody wants it.
    async fn take_body(&mut self) -> Result<(), Trouble> {
        let head = self.http.requests.head();
        let needed = builtins::wants_body(head.path())
            || admin::is_admin(head.path())
            || self.shard.shared.stubs.current().wants_bodies();
        let mut wanted = needed || self.shard.shared.journal.is_on();
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
            let late = |Elapsed| Trouble::Late("the request's body took too long");
            let Some(data) = data.map_err(late)?? else {
                return Ok(());
            };
            bytes += data.len() as u64;
            if wanted {
                let held = self.held.grow(data.len());
                if needed {
                    held?;
                }
                // The journal does without a body sooner than turn a request away.
                let kept = self.body.len() + data.len() <= JOURNAL_BODY_BYTES;
                wanted = needed || (kept && held.is_ok());
                if wanted {
                    self.body.extend_from_slice(data);
                } else {
                    self.body.clear();
                    self.held.release();
                }
            }
            patience.waited(wait.time());
        }
    }

    /// Holds the answer back; what was queued before it goes out first.
    async fn wait(&mut self, delay: Duration) -> Result<(), Trouble> {
        if delay.is_zero() {
            return Ok(());
        }
        let deadline = Instant::now() + delay;
        self.flush().await?;
        Ok(self.shard.timer.sleep_until(deadline).await?)
    }

    /// Queues an answer; a long one is written piece by piece, and queued only with its last.
    async fn queue(&mut self, answer: &Answer, form: Form) -> Result<(), Trouble> {
        self.ends |= answer.closes();
        if form.extent == Extent::Whole && answer.is_long() {
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
        } else {
            answer.append_to(self.http.output.buffer(), form);
        }
        self.unwritten.push(self.received);
        Ok(())
    }

    /// Writes what is queued.
    async fn flush(&mut self) -> Result<(), Trouble> {
        if self.http.output.queued() == 0 {
            return Ok(());
        }
        let counters = &self.shard.counters;
        let answers = self.unwritten.len() as u64;
        counters.add(Counter::Served, answers);
        let written = self.write().await;
        if written.is_ok() {
            let now = Instant::now();
            self.quiet_since = now;
            for received in &self.unwritten {
                counters.record(now.duration_since(*received));
            }
        } else {
            counters.withdraw(Counter::Served, answers);
        }
        self.unwritten.clear();
        written
    }

    /// Hands what is queued to the system, for as long as the client takes some of it.
    async fn write(&mut self) -> Result<(), Trouble> {
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

    /// Writes what is queued and ends the connection.
    async fn finish(&mut self) -> Result<(), Trouble> {
        self.flush().await?;
        Ok(self.http.output.shutdown().await?)
    }

    /// Says why the connection ends here, and ends it.
    async fn refuse(mut self, status: u16, why: &str) {
        self.received = Instant::now();
        let answer = Answer::text(status, &format!("{why}\n"));
        let form = Form {
            persistence: Persistence::Close,
            extent: Extent::Whole,
        };
        let told = match self.queue(&answer, form).await {
            Ok(()) => self.finish().await,
            failed => failed,
        };
        match told {
            Ok(()) => self.linger().await,
            // The client is gone, or does not listen.
            Err(_) => self.http.reset(),
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

/// One wait for the client, begun only when there is something to wait for.
struct Wait {
    allowance: Duration,
    since: Cell<Option<Instant>>,
}

impl Wait {
    fn new(allowance: Duration) -> Self {
        Self {
            allowance,
            since: Cell::new(None),
        }
    }

    /// When it is over. The first who asks begins it.
    fn deadline(&self) -> Instant {
        let since = self.since.get().unwrap_or_else(Instant::now);
        self.since.set(Some(since));
        since + self.allowance
    }

    /// How long it has taken.
    fn time(&self) -> Duration {
        self.since
            .get()
            .map_or(Duration::ZERO, |since| since.elapsed())
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
