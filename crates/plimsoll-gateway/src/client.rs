//! A client's connection: reading heads in time, keeping it between requests, ending it properly.
//!
//! What happens to a request that was read is [`crate::exchange`]'s.

use crate::answer::{Answer, Delivery};
use crate::crowd::{Place, household};
use crate::doors::DoorId;
use crate::exchange::mirror::Lane;
use crate::exchange::{self, After, Progress, Scratch};
use crate::generation::Generation;
use crate::handshake::Reason;
use crate::http2::{
    self,
    serving::{self, Caller},
};
use crate::metrics::TooMany;
use crate::phases::Phase;
use crate::shard::Shard;
use crate::standing::Standing;
use plimsoll_base::counters::Counter;
use plimsoll_http::tls::CertificateDer;
use plimsoll_http::{Elapsed, Framing, ReadError, Stream, TcpServer, Watch};
use std::cell::OnceCell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long what the client still sends is read and dropped after the last answer, so that it gets to read that answer.
const LINGER: Duration = Duration::from_secs(2);

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) connection: TcpServer,
    pub(crate) watch: Watch,
    /// The peer's address, as text.
    pub(crate) peer: String,
    address: IpAddr,
    /// Whether the peer is one of the trusted proxies.
    pub(crate) trusted: bool,
    /// Which generation has said so.
    judged_by: u64,
    /// Whether the connection is secured.
    pub(crate) secured: bool,
    /// What its certificate makes of it, one for all streams of a connection. A client that nobody asks for one has none, and costs nothing.
    pub(crate) standing: Option<Rc<Standing>>,
    /// What it has shown, if this is one of its streams: else its connection knows.
    shown: Option<Rc<[CertificateDer<'static>]>>,
    pub(crate) scratch: Scratch,
    pub(crate) arrival: Arrival,
    /// Copies of its requests, once there are any.
    lane: Option<Rc<Lane>>,
}

/// Who is at the other end of a connection, for all of its streams.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    text: String,
    address: IpAddr,
    trusted: bool,
    judged_by: u64,
    secured: bool,
    /// The certificates that it has shown, its own first.
    shown: Rc<[CertificateDer<'static>]>,
    standing: Option<Rc<Standing>>,
    lane: Rc<Lane>,
}

impl Peer {
    /// Sees it as `generation` does.
    pub(crate) fn under(&mut self, generation: &Generation) {
        if self.judged_by != generation.number {
            self.judged_by = generation.number;
            self.trusted = generation.service.trusts(self.address);
            self.standing = Standing::of(&self.shown, &generation.service).map(Rc::new);
        }
    }
}

/// When a request came, if that is measured.
#[derive(Debug, Default)]
pub(crate) struct Arrival {
    /// What its connection took before it, unless another request was before it.
    pub(crate) accept: Duration,
    pub(crate) tls: Duration,
    /// Its first byte.
    began: Option<Instant>,
}

impl Arrival {
    /// Tells `progress` how long it took until the request's head was there, at `received`.
    pub(crate) fn count(&mut self, progress: &Progress, received: Instant) {
        let head = (self.began.take()).map_or(Duration::ZERO, |began| received - began);
        let watch = progress.watch();
        watch.add(Phase::Accept, std::mem::take(&mut self.accept));
        watch.add(Phase::Tls, std::mem::take(&mut self.tls));
        watch.add(Phase::Head, head);
    }
}

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
    _place: Option<Place<IpAddr>>,
) {
    let now = Instant::now();
    let Ok(mut client) = Client::new(&shard, stream, now) else {
        return; // gone before it said anything
    };
    client.arrival.accept = accepted.map_or(Duration::ZERO, |accepted| now - accepted);
    converse(shard, client, now).await;
}

/// Secures a connection, then serves its client. A handshake gets as long as a request's head.
pub(crate) async fn serve_secured(
    shard: Rc<Shard>,
    stream: TcpStream,
    door: Rc<DoorId>,
    accepted: Option<Instant>,
    _place: Option<Place<IpAddr>>,
) {
    if shard.draining.get() {
        return;
    }
    let generation = shard.current();
    let entrance = generation.service.entrance(&door.name);
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
            let Ok(mut client) = Client::new(&shard, stream, now) else {
                return;
            };
            if let Some(accepted) = accepted {
                client.arrival.accept = begun - accepted;
                client.arrival.tls = now - begun;
            }
            if let Err(withdrawn) = shard.know(&client, &door, trust.as_deref()) {
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
        Box::pin(serving::serve(shard, stream, front, caller)).await;
    }
}

/// Serves the one request of a stream, which is in its pipe as a whole or on its way there.
pub(crate) async fn serve_once(shard: Rc<Shard>, mut client: Client) {
    if !matches!(client.connection.requests.next_head().await, Ok(true)) {
        return; // its stream was reset
    }
    if exchange::serve(&shard, &mut client).await == After::Abort {
        client.connection.reset();
    }
}

impl Client {
    /// The client of a stream, whose other end is in this process.
    pub(crate) fn of_stream(connection: TcpServer, peer: Peer, arrival: Arrival) -> Self {
        Self {
            connection,
            watch: Watch::new(Instant::now()),
            peer: peer.text,
            address: peer.address,
            trusted: peer.trusted,
            judged_by: peer.judged_by,
            secured: peer.secured,
            standing: peer.standing,
            shown: Some(peer.shown),
            scratch: Scratch::default(),
            arrival,
            lane: Some(peer.lane),
        }
    }

    /// Who it is, for all streams of its connection.
    fn peer(&self) -> Peer {
        Peer {
            text: self.peer.clone(),
            address: self.address,
            trusted: self.trusted,
            judged_by: self.judged_by,
            secured: self.secured,
            shown: self.connection.peer_certificates().into(),
            standing: self.standing.clone(),
            lane: self.lane.clone().unwrap_or_default(),
        }
    }

    /// What counts as one client with it, where connections of an address are limited.
    pub(crate) fn household(&self) -> IpAddr {
        household(self.address)
    }

    /// Where copies of its requests wait.
    pub(crate) fn lane(&mut self) -> &Rc<Lane> {
        self.lane.get_or_insert_default()
    }

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

    fn new(shard: &Shard, stream: Stream, now: Instant) -> io::Result<Box<Self>> {
        let address = stream.peer_addr()?.ip().to_canonical();
        let generation = shard.current();
        let service = &generation.service;
        let secured = matches!(stream, Stream::Tls(_));
        let connection = TcpServer::from_stream(stream, service.limits.request);
        let standing = match secured {
            true => Standing::of(&connection.peer_certificates(), service).map(Rc::new),
            false => None,
        };
        Ok(Box::new(Self {
            secured,
            standing,
            shown: None,
            connection,
            watch: Watch::new(now + service.timeouts.request_head),
            peer: address.to_string(),
            address,
            trusted: service.trusts(address),
            judged_by: generation.number,
            scratch: Scratch::default(),
            arrival: Arrival::default(),
            lane: None,
        }))
    }

    /// Sees the client as `generation` does, by which its next request is served.
    pub(crate) fn under(&mut self, generation: &Generation) {
        if self.judged_by != generation.number {
            self.judged_by = generation.number;
            self.trusted = generation.service.trusts(self.address);
            if self.secured {
                let service = &generation.service;
                let standing = match &self.shown {
                    Some(shown) => Standing::of(shown, service),
                    None => Standing::of(&self.connection.peer_certificates(), service),
                };
                self.standing = standing.map(Rc::new);
            }
        }
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
        let answer = current.service.voice.say(answer);
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
            true => out.extend_from_slice(&http2::NO_ROOM),
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
