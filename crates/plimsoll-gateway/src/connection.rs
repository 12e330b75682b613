//! A client's connection: reading heads in time, keeping it between requests, ending it properly.
//!
//! What happens to a request that was read is [`crate::exchange`]'s.

pub(crate) mod http2;

use crate::answer::{Answer, Delivery};
use crate::client::Client;
use crate::connection_limiter::ConnectionPermit;
use crate::exchange::{self, After};
use crate::handshake::Reason;
use crate::http2::NO_ROOM;
use crate::listener_set::ListenerId;
use crate::metrics::TooMany;
use crate::shard::Shard;
use http2::Caller;
use plimsoll_base::counters::Counter;
use plimsoll_http::{Elapsed, Framing, ReadError, Stream, TcpServer};
use std::cell::OnceCell;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long what the client still sends is read and dropped after the last answer, so that it gets to read that answer.
const LINGER: Duration = Duration::from_secs(2);

/// What came of waiting for a request.
enum Waited {
    Request,
    /// The client closed, or was idle for too long, or the gateway is draining.
    Ended,
    /// The connection failed inside a head.
    Broken,
    Refused(Answer),
}

/// Serves one client until its connection ends. Never fails: what goes wrong is the client's or counted.
/// `accepted` is when it was taken from the system's queue, if that is measured; `_place` it has until its connection ends.
pub(crate) async fn serve(
    shard: Rc<Shard>,
    stream: Stream,
    accepted: Option<Instant>,
    _place: Option<ConnectionPermit<IpAddr>>,
) {
    let now = Instant::now();
    let Ok(mut client) = Client::new(&shard.current(), stream, now) else {
        return; // gone before it said anything
    };
    client.arrival.accept = accepted.map_or(Duration::ZERO, |accepted| now - accepted);
    converse(shard, client, now).await;
}

/// Secures a connection, then serves its client. A handshake gets as long as a request's head.
pub(crate) async fn serve_secured(
    shard: Rc<Shard>,
    stream: TcpStream,
    listener_id: Rc<ListenerId>,
    accepted: Option<Instant>,
    _place: Option<ConnectionPermit<IpAddr>>,
) {
    if shard.draining.get() {
        return;
    }
    let generation = shard.current();
    let entrance = generation.service.entrance(&listener_id.name);
    let Some(tls) = entrance.and_then(|entrance| entrance.tls.as_ref()) else {
        return; // closed in this moment
    };
    let begun = Instant::now();
    let patience = shard.timeouts().request_head;
    let handshake = Box::pin(tokio::time::timeout(patience, tls.tls.accept(stream)));
    let secured = tokio::select! {
        secured = handshake => secured,
        () = shard.drain.notified() => return,
    };
    let failed = match secured {
        Ok(Ok(stream)) => {
            let trust = tls.trust.clone();
            drop(generation);
            let stream = Stream::Tls(Box::new(stream));
            let http2 = stream.agreed_on_http2();
            let now = Instant::now();
            let Ok(mut client) = Client::new(&shard.current(), stream, now) else {
                return;
            };
            if let Some(accepted) = accepted {
                client.arrival.accept = begun - accepted;
                client.arrival.tls = now - begun;
            }
            if let Err(withdrawn) = shard.know(&client, &listener_id, trust.as_deref()) {
                return shard.metrics.ended.withdrawn(withdrawn).add(1);
            }
            let place = match shard.place_of_identity(&client) {
                Ok(place) => place,
                Err(why) => return client.turn_away(&shard, why, http2).await,
            };
            match http2 {
                true => converse_by_http2(shard, client).await,
                false => converse(shard, client, now).await,
            }
            return drop(place);
        }
        Ok(Err(error)) => Reason::of(&error),
        Err(_) => Reason::TimedOut,
    };
    shard.metrics.handshakes.failed(failed);
}

/// What an exchange needs is allocated with it and freed after it: ten thousand idle connections have this function's state and their client.
async fn converse(shard: Rc<Shard>, mut client: Box<Client>, now: Instant) {
    let drained = shard.drain.notified();
    let mut drained = pin!(drained);
    let mut deadline = now + shard.timeouts().request_head;
    if !client.secured
        && shard.current().service.http2.is_some()
        && client.begins_with_http2(deadline, drained.as_mut()).await
    {
        return converse_by_http2(Rc::clone(&shard), client).await;
    }
    loop {
        match client.wait(&shard, deadline, drained.as_mut()).await {
            Waited::Request => {}
            Waited::Ended => return,
            Waited::Broken => return client.connection.reset(),
            Waited::Refused(answer) => return client.refuse(&shard, answer).await,
        }
        match Box::pin(exchange::serve(&shard, &mut client)).await {
            After::Keep if shard.draining.get() => return client.close().await,
            After::Keep => deadline = Instant::now() + shard.timeouts().idle,
            After::Close if client.has_unread() => return client.linger().await,
            After::Close => return client.close().await,
            After::Abort => return client.connection.reset(),
        }
    }
}

/// The same with a client that speaks HTTP/2.
async fn converse_by_http2(shard: Rc<Shard>, mut client: Box<Client>) {
    let caller = Caller {
        peer: client.peer(),
        arrival: std::mem::take(&mut client.arrival),
    };
    if let (Some(stream), front) = client.connection.into_stream() {
        Box::pin(http2::serve(shard, stream, front, caller)).await;
    }
}

impl Client {
    /// Whether it speaks HTTP/2, as its first bytes say; waits for as many of them as it takes, and consumes none. What takes too long is
    /// no HTTP/2, and no wait is longer for it.
    async fn begins_with_http2(
        &mut self,
        deadline: Instant,
        mut drained: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> bool {
        let mut preface = pin!(self.connection.requests.begins_with_preface());
        let preface_or_drain = poll_fn(|context| match preface.as_mut().poll(context) {
            Poll::Ready(begins) => Poll::Ready(begins.unwrap_or(false)),
            Poll::Pending => drained.as_mut().poll(context).map(|()| false),
        });
        let begins = self.watch.until(|| deadline, preface_or_drain).await;
        begins == Ok(true)
    }

    /// Waits for a request: for its first byte until `deadline`, and from then on for the rest of its head as long as a head may take.
    /// Draining ends the first wait and not the second.
    async fn wait(
        &mut self,
        shard: &Shard,
        deadline: Instant,
        mut drained: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Waited {
        let requests = &mut self.connection.requests;
        let begun = {
            let begins = async {
                // What is left of a body that was refused is small and sure to come; it is no part of a head.
                while requests.next_data().await?.is_some() {}
                Ok::<bool, ReadError>(requests.begins().await?)
            };
            let mut begins = pin!(begins);
            let begins_or_drain = poll_fn(|cx| match begins.as_mut().poll(cx) {
                Poll::Ready(begun) => Poll::Ready(begun),
                Poll::Pending if shard.draining.get() => Poll::Ready(Ok(false)),
                Poll::Pending => drained.as_mut().poll(cx).map(|()| Ok(false)),
            });
            self.watch.until(|| deadline, begins_or_drain).await
        };
        let result = match begun {
            Ok(Ok(true)) => {
                let timed = shard.current().service.timings.any();
                self.arrival.began = timed.then(Instant::now);
                // The clock is read only if the head is not there as a whole, which is when it has just begun.
                let since = OnceCell::new();
                let limit = shard.timeouts().request_head;
                let deadline = || *since.get_or_init(Instant::now) + limit;
                self.watch.until(deadline, requests.next_head()).await
            }
            Ok(ended) => Ok(ended),
            Err(Elapsed) => {
                shard.metrics.ended.idle.add(1);
                return Waited::Ended;
            }
        };
        let ended = &shard.metrics.ended;
        let (waited, counter) = match result {
            Ok(Ok(true)) => return Waited::Request,
            Ok(Ok(false)) => return Waited::Ended,
            Ok(Err(ReadError::Protocol(error))) => {
                let answer = Answer::new(error.status(), error.to_string());
                (Waited::Refused(answer), &ended.malformed)
            }
            Ok(Err(ReadError::Closed | ReadError::Io(_))) => (Waited::Broken, &ended.broken_head),
            Err(Elapsed) => {
                shard.counters.add(Counter::TimedOut, 1);
                let answer = Answer::new(408, "the request's head took too long");
                (Waited::Refused(answer), &ended.slow_head)
            }
        };
        counter.add(1);
        waited
    }

    /// Tells the client why its bytes are no request, and ends the connection.
    async fn refuse(mut self: Box<Self>, shard: &Shard, answer: Answer) {
        let current = shard.current();
        let answer = current.service.error_format.say(answer);
        current.tally.unrouted().answered(answer.status());
        for counter in [Counter::Malformed, Counter::Received, Counter::Served] {
            shard.counters.add(counter, 1);
        }
        let delivery = Delivery {
            to_head: false,
            close: true,
            http10: false,
        };
        answer.write(self.connection.output.buffer(), delivery);
        self.linger().await;
    }

    /// Tells the client that there is no room for it, in the protocol that was agreed on.
    async fn turn_away(mut self: Box<Self>, shard: &Shard, why: TooMany, http2: bool) {
        let answer = shard.refusal(why, &shard.current().service);
        let out = self.connection.output.buffer();
        match http2 {
            true => out.extend_from_slice(&NO_ROOM),
            false => answer.write(
                out,
                Delivery {
                    to_head: false,
                    close: true,
                    http10: false,
                },
            ),
        }
        self.linger().await;
    }

    /// Whether bytes of the client have arrived, or are sure to come, that nobody wants any more.
    fn has_unread(&self) -> bool {
        let requests = &self.connection.requests;
        let has_body = requests.head().framing() != Framing::None;
        requests.has_buffered() || (has_body && requests.body_pending())
    }

    /// Ends the connection after its last answer.
    async fn close(mut self: Box<Self>) {
        let deadline = Instant::now() + LINGER;
        let shutdown = self.connection.output.shutdown();
        if !matches!(self.watch.until(|| deadline, shutdown).await, Ok(Ok(()))) {
            self.connection.reset();
        }
    }

    /// Ends the connection while the client still sends: closing with bytes unread would reset it and take the answer along.
    async fn linger(mut self: Box<Self>) {
        let deadline = Instant::now() + LINGER;
        let TcpServer { requests, output } = &mut self.connection;
        let closing = async {
            output.shutdown().await?;
            requests.discard().await
        };
        if !matches!(self.watch.until(|| deadline, closing).await, Ok(Ok(()))) {
            self.connection.reset();
        }
    }
}
