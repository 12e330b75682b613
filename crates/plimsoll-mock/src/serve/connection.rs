//! One connection: requests in, answers out, in order.
//!
//! A request counts as received when its head is complete, or refused, and as served when its answer is handed to the system. So that a mock killed
//! between the two never has served fewer than its clients saw, an answer is counted just before it is written and withdrawn if
//! that fails. Between the two lies the mock's own time: delays, the reading of the body and the wait for answers before it included.

mod answer;
mod deliver;
mod output;

use crate::kept_body::{Full, KeptBody};
use crate::records::metrics::Known;
use crate::serve::http2;
use crate::serve::shard::Shard;
use deliver::Broken;
use output::Unwritten;
use plimsoll_base::counters::Counter;
use plimsoll_http::server::{Begun, ConnectionSlot, Handshake, Head, Spoken, secure};
use plimsoll_http::tls::ServerTls;
use plimsoll_http::{DrainBegins, Due, ReadError, Stream, TcpServer, Watch};
use plimsoll_wiremock::request::{Channel, Scheme};
use plimsoll_wiremock::response::answer::{Answer, Extent, Form, Persistence};
use smallvec::SmallVec;
use std::cell::Cell;
use std::future::{Future as _, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Bytes of answers that are queued at most before they are written, when requests come faster than answers are taken.
const QUEUE_BYTES: usize = 64 * 1024;

/// Why a request whose head does not come is refused.
const LATE_HEAD: &str = "the request's head took too long";

/// Serves a connection until its end, whichever side that comes from; `_slot` is given back then.
pub(crate) async fn serve(
    stream: TcpStream,
    client: IpAddr,
    shard: Rc<Shard>,
    _slot: ConnectionSlot,
) {
    let channel = channel(client, Scheme::Http);
    converse(stream, channel, &shard).await;
}

/// Secures a connection, then serves it. A handshake may take as long as a head.
pub(crate) async fn serve_secured(
    stream: TcpStream,
    client: IpAddr,
    tls: ServerTls,
    shard: Rc<Shard>,
    _slot: ConnectionSlot,
) {
    let channel = channel(client, Scheme::Https);
    match secure(&tls, stream, shard.shared.timeouts.head, &shard.drain).await {
        Handshake::Secured(stream) if stream.agreed_on_http2() => {
            Box::pin(http2::serve(stream, Vec::new(), channel, shard)).await;
        }
        Handshake::Secured(stream) => converse(stream, channel, &shard).await,
        // The client, or whatever it is, has been sent an alert.
        Handshake::Failed(_) | Handshake::Drained => {}
        Handshake::Late => shard.counters.add(Counter::TimedOut, 1),
    }
}

fn channel(client: IpAddr, scheme: Scheme) -> Channel {
    Channel {
        client: Some(client),
        scheme,
    }
}

async fn converse(stream: impl Into<Stream>, channel: Channel, shard: &Rc<Shard>) {
    let now = Instant::now();
    let mut connection = Connection {
        channel,
        http: TcpServer::from_stream(stream, shard.shared.limits),
        kept: KeptBody::new(Arc::clone(&shard.shared.bodies)),
        watch: Watch::new(now + shard.shared.timeouts.idle),
        quiet_since: now,
        received: now,
        unwritten: SmallVec::new(),
        place: None,
        ends: false,
        shard,
    };
    // Every idle connection has the memory of this function, so nothing is moved into what it waits for.
    let ended = connection.run().await;
    // Whatever a client is told of its end, nobody needs its body.
    connection.kept.release();
    let closed = match ended {
        Ok(Course::Ended) => connection.end().await,
        Ok(Course::Http2) => {
            if let (Some(stream), front) = connection.http.into_stream() {
                Box::pin(http2::serve(stream, front, channel, Rc::clone(shard))).await;
            }
            return;
        }
        Err(Trouble::Read(ReadError::Closed | ReadError::Io(_))) => return,
        Err(Trouble::Read(ReadError::Protocol(error))) => {
            shard.counters.add(Counter::Malformed, 1);
            let why = error.to_string();
            connection.refuse(error.status(), &why).await
        }
        Err(Trouble::Late(why)) => {
            shard.counters.add(Counter::TimedOut, 1);
            connection.refuse(408, why).await
        }
        Err(Trouble::Unread) => {
            shard.counters.add(Counter::TimedOut, 1);
            false
        }
        Err(Trouble::Full) => connection.refuse(503, "too many bodies are held").await,
        Err(Trouble::Broken(broken)) => connection.break_off(broken).await,
    };
    if !closed {
        connection.http.reset();
    }
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

/// How a connection's part in HTTP/1 ends without trouble.
enum Course {
    Ended,
    /// The client has begun with the preface of HTTP/2.
    Http2,
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
    kept: KeptBody,
    watch: Watch,
    /// When the last answers were written, or the connection was accepted.
    quiet_since: Instant,
    /// When the current request's head was complete.
    received: Instant,
    /// Answers queued and not yet written, nearly always one. The queue's bytes bound it.
    unwritten: SmallVec<[Unwritten; 1]>,
    /// Where the stub that answers the current request is counted.
    place: Known,
    /// Whether the connection closes after what is queued.
    ends: bool,
    shard: &'a Rc<Shard>,
}

impl Connection<'_> {
    async fn run(&mut self) -> Result<Course, Trouble> {
        let mut drain = pin!(self.shard.drain.begins());
        let may_be_http2 = self.channel.scheme == Scheme::Http && self.shard.shared.http2_in_clear;
        if may_be_http2 {
            let idle = self.idle(None);
            let limit = self.shard.shared.timeouts.head;
            let spoken = self
                .http
                .spoken(&mut self.watch, idle, limit, drain.as_mut());
            match spoken.await {
                Spoken::Http1 => {}
                Spoken::Http2 => return Ok(Course::Http2),
                Spoken::Late => {
                    self.shard.counters.add(Counter::Received, 1);
                    return Err(Trouble::Late(LATE_HEAD));
                }
            }
        }
        loop {
            let more = match self.arrived().await {
                Some(more) => more.map_err(Trouble::Read),
                None => {
                    let now = self.flush().await?;
                    self.next_head(now, drain.as_mut()).await
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
            let form = self.begin_answer();
            if self.body_comes_first() {
                self.take_body().await?;
            }
            if let Some(rest) = self.answer_at_once(form) {
                rest.await?;
            }
            self.kept.release();
            if self.ends {
                break;
            }
        }
        self.flush().await?;
        Ok(Course::Ended)
    }

    /// Awaits the next request's head: its first byte for as long as a connection may be idle, the rest for as long as a head may
    /// take. `false` at the end of the connection. `now`: as for [`Due`].
    async fn next_head(
        &mut self,
        now: Option<Instant>,
        mut drain: Pin<&mut DrainBegins<'_>>,
    ) -> Result<bool, Trouble> {
        let timeouts = &self.shard.shared.timeouts;
        let idle = self.idle(now);
        match self
            .http
            .begins(&mut self.watch, idle, drain.as_mut())
            .await
        {
            Begun::Yes => {}
            Begun::Ended | Begun::Idle => return Ok(false),
            Begun::Failed(error) => return Err(error.into()),
        }
        // A mock that stops waits for nobody.
        let head = tokio::select! {
            biased;
            head = self.http.head(&mut self.watch, timeouts.head) => head,
            () = drain => Head::Ended,
        };
        match head {
            Head::Complete => Ok(true),
            Head::Ended => Ok(false),
            Head::Late => Err(Trouble::Late(LATE_HEAD)),
            Head::Failed(error) => Err(error.into()),
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

    /// Until when the connection may be idle. `now`: as for [`Due`].
    fn idle(&self, now: Option<Instant>) -> Due {
        Due {
            at: self.quiet_since + self.shard.shared.timeouts.idle,
            now,
        }
    }

    /// Ends the connection after its last answer; whether the client lets it. If not, the connection is to be reset.
    async fn end(&mut self) -> bool {
        match self.http.has_unread() {
            true => self.linger().await,
            false => self.http.close(&mut self.watch).await,
        }
    }

    /// Ends it while the client still sends; whether the client lets it. A mock that stops waits for nobody.
    async fn linger(&mut self) -> bool {
        tokio::select! {
            biased;
            closed = self.http.linger(&mut self.watch) => closed,
            () = self.shard.drain.begins() => true,
        }
    }

    /// Says why the connection ends here, and ends it; whether the client lets it.
    async fn refuse(&mut self, status: u16, why: &str) -> bool {
        (self.received, self.place) = (Instant::now(), None);
        let answer = Answer::text(status, &format!("{why}\n"));
        let form = Form {
            persistence: Persistence::Close,
            extent: Extent::Whole,
        };
        let told = match self.queue(&answer, form).await {
            Ok(()) => self.flush().await.map(drop),
            failed => failed,
        };
        told.is_ok() && self.linger().await
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

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::sizes;

    #[test]
    fn a_connection_is_small() {
        let bytes =
            sizes::of_future(|(stream, client, shard, slot)| serve(stream, client, shard, slot));
        assert!(bytes <= 1_200, "{bytes}");
    }
}
