//! A client's connection: reading heads in time, keeping it between requests, ending it properly.
//!
//! Serving a request that was read is [`crate::exchange`]'s.

pub(crate) mod http2;

use crate::answering::answer::{Answer, Delivery};
use crate::exchange::{self, After};
use crate::listening::handshake::Reason;
use crate::listening::listener_id::ListenerId;
use crate::messages::http2::NO_ROOM;
use crate::metrics::TooMany;
use crate::shard::client::Client;
use crate::shard::{LimitShare, Shard};
use http2::Caller;
use plimsoll_base::counters::Counter;
use plimsoll_http::server::{Begun, Handshake, Head, Spoken, secure};
use plimsoll_http::{DrainBegins, Due, ReadError};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Outcome of waiting for a request.
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
    stream: TcpStream,
    address: IpAddr,
    accepted: Option<Instant>,
    _place: LimitShare,
) {
    let now = Instant::now();
    let mut client = Client::new(&shard.current(), stream.into(), address, now);
    client.arrival.accept = accepted.map_or(Duration::ZERO, |accepted| now - accepted);
    converse(shard, client, now).await;
}

/// Secures a connection, then serves its client. A handshake gets as long as a request's head.
pub(crate) async fn serve_secured(
    shard: Rc<Shard>,
    stream: TcpStream,
    address: IpAddr,
    listener_id: Rc<ListenerId>,
    accepted: Option<Instant>,
    _place: LimitShare,
) {
    let generation = shard.current();
    let entrance = generation.service.entrance(&listener_id.name);
    let Some(tls) = entrance.and_then(|entrance| entrance.tls.as_ref()) else {
        return; // closed in this moment
    };
    let begun = Instant::now();
    let patience = shard.timeouts().request_head;
    let failed = match secure(&tls.tls, stream, patience, &shard.drain).await {
        Handshake::Secured(stream) => {
            let trust = tls.trust.clone();
            drop(generation);
            let http2 = stream.agreed_on_http2();
            let now = Instant::now();
            let mut client = Client::new(&shard.current(), stream, address, now);
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
        Handshake::Failed(error) => Reason::of(&error),
        Handshake::Late => Reason::TimedOut,
        Handshake::Drained => return,
    };
    shard.metrics.handshakes.failed(failed);
}

/// Memory of an exchange is allocated with it and freed after it: ten thousand idle connections have this function's state and their client.
async fn converse(shard: Rc<Shard>, mut client: Box<Client>, now: Instant) {
    let mut drain = pin!(shard.drain.begins());
    let deadline = now + shard.timeouts().request_head;
    if !client.secured && shard.current().service.http2.is_some() {
        let limit = shard.timeouts().request_head;
        match client
            .spoken(Due::at(deadline), limit, drain.as_mut())
            .await
        {
            Spoken::Http1 => {}
            Spoken::Http2 => return converse_by_http2(Rc::clone(&shard), client).await,
            Spoken::Late => {
                let answer = late_head(&shard);
                return client.refuse(&shard, answer).await;
            }
        }
    }
    let mut due = Due::at(deadline);
    loop {
        match client.wait(&shard, due, drain.as_mut()).await {
            Waited::Request => {}
            Waited::Ended => return,
            Waited::Broken => return client.connection.reset(),
            Waited::Refused(answer) => return client.refuse(&shard, answer).await,
        }
        // Made where it is to stand: `Box::pin` copies all of its three kilobytes, of which only the arguments are written.
        let exchange = Box::write(Box::new_uninit(), exchange::serve(&shard, &mut client));
        match Box::into_pin(exchange).await {
            After::Keep if shard.drain.has_begun() => return client.close().await,
            After::Keep => due = Due::after(Instant::now(), shard.timeouts().idle),
            After::Close if client.connection.has_unread() => return client.linger().await,
            After::Close => return client.close().await,
            After::Abort => return client.connection.reset(),
        }
    }
}

/// Serves a client that speaks HTTP/2.
async fn converse_by_http2(shard: Rc<Shard>, mut client: Box<Client>) {
    let caller = Caller {
        peer: client.peer(),
        arrival: std::mem::take(&mut client.arrival),
    };
    if let (Some(stream), front) = client.connection.into_stream() {
        Box::pin(http2::serve(shard, stream, front, caller)).await;
    }
}

/// The refusal of a head that took too long, which is counted.
fn late_head(shard: &Shard) -> Answer {
    shard.counters.add(Counter::TimedOut, 1);
    shard.metrics.ended.slow_head.add(1);
    Answer::new(408, "the request's head took too long")
}

impl Client {
    /// The protocol that it speaks; its preface may take up to `limit` from its first byte.
    async fn spoken(
        &mut self,
        due: Due,
        limit: Duration,
        drain: Pin<&mut DrainBegins<'_>>,
    ) -> Spoken {
        let Self {
            connection, watch, ..
        } = self;
        connection.spoken(watch, due, limit, drain).await
    }

    /// Waits for a request: for its first byte until `due`, and from then on for the rest of its head as long as a head may take.
    async fn wait(&mut self, shard: &Shard, due: Due, drain: Pin<&mut DrainBegins<'_>>) -> Waited {
        let Self {
            connection, watch, ..
        } = self;
        let head = match connection.begins(watch, due, drain).await {
            Begun::Yes => {
                let timed = shard.current().service.timings.any();
                self.arrival.began = timed.then(Instant::now);
                connection.head(watch, shard.timeouts().request_head).await
            }
            Begun::Ended => Head::Ended,
            Begun::Failed(error) => Head::Failed(error),
            Begun::Idle => {
                shard.metrics.ended.idle.add(1);
                Head::Ended
            }
        };
        let ended = &shard.metrics.ended;
        let (waited, counter) = match head {
            Head::Complete => return Waited::Request,
            Head::Ended => return Waited::Ended,
            Head::Failed(ReadError::Protocol(error)) => {
                let answer = Answer::new(error.status(), error.to_string());
                (Waited::Refused(answer), &ended.malformed)
            }
            Head::Failed(ReadError::Closed | ReadError::Io(_)) => {
                (Waited::Broken, &ended.broken_head)
            }
            Head::Late => return Waited::Refused(late_head(shard)),
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

    /// Ends the connection after its last answer.
    async fn close(mut self: Box<Self>) {
        if !self.connection.close(&mut self.watch).await {
            self.connection.reset();
        }
    }

    /// Ends the connection while the client still sends.
    async fn linger(mut self: Box<Self>) {
        if !self.connection.linger(&mut self.watch).await {
            self.connection.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::sizes;

    #[test]
    fn a_connection_is_small() {
        let bytes = sizes::of_future(|(shard, stream, address, accepted, place)| {
            serve(shard, stream, address, accepted, place)
        });
        let bytes = bytes + size_of::<Client>();
        assert!(bytes <= 1_300, "{bytes}");
    }

    #[test]
    fn an_exchange_is_small() {
        fn bytes_of<'a, F: Future>(_: impl FnOnce(&'a Shard, &'a mut Client) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = bytes_of(exchange::serve);
        assert!(bytes <= 3_400, "{bytes}");
    }
}
