//! A client: its connection, who it is, and what belongs to its exchange under way.
//!
//! How connections are served is [`crate::server::connection`]'s.

use crate::config::HalfClose;
use crate::listening::connection_limiter::client_prefix;
use crate::reloading::generation::Generation;
use crate::routing::service::Service;
use crate::shard::client_context::ClientContext;
use crate::shard::mirror::Lane;
use crate::shard::scratch::LentScratch;
use plimsoll_http::tls::CertificateDer;
use plimsoll_http::{Stream, TcpServer, Watch};
use plimsoll_records::{Phase, Stopwatch};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

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
    /// Consequences of its certificate, one for all streams of a connection. A client that nobody asks for one has none, and costs nothing.
    pub(crate) context: Option<Rc<ClientContext>>,
    /// Certificates that it has shown, if this is one of its streams: else its connection knows.
    shown: Option<Rc<[CertificateDer<'static>]>>,
    pub(crate) scratch: LentScratch,
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
    context: Option<Rc<ClientContext>>,
    lane: Rc<Lane>,
}

impl Peer {
    /// Sees it as `generation` does.
    pub(crate) fn under(&mut self, generation: &Generation) {
        if self.judged_by != generation.number {
            self.judged_by = generation.number;
            self.trusted = generation.service.trusts(self.address);
            self.context = ClientContext::of(&self.shown, &generation.service).map(Rc::new);
        }
    }
}

/// When a request came, if that is measured.
#[derive(Debug, Default)]
pub(crate) struct Arrival {
    /// Time of its connection before it, unless another request was before it.
    pub(crate) accept: Duration,
    pub(crate) tls: Duration,
    /// Its first byte.
    pub(crate) began: Option<Instant>,
}

impl Arrival {
    /// Tells `watch` how long it took until the request's head was there, at `received`.
    pub(crate) fn count(&mut self, watch: &Stopwatch, received: Instant) {
        let head = (self.began.take()).map_or(Duration::ZERO, |began| received - began);
        watch.add(Phase::Accept, std::mem::take(&mut self.accept));
        watch.add(Phase::Tls, std::mem::take(&mut self.tls));
        watch.add(Phase::Head, head);
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
            context: peer.context,
            shown: Some(peer.shown),
            scratch: LentScratch::NONE,
            arrival,
            lane: Some(peer.lane),
        }
    }

    /// Who it is, for all streams of its connection.
    pub(crate) fn peer(&self) -> Peer {
        Peer {
            text: self.peer.clone(),
            address: self.address,
            trusted: self.trusted,
            judged_by: self.judged_by,
            secured: self.secured,
            shown: self.connection.peer_certificates().into(),
            context: self.context.clone(),
            lane: self.lane.clone().unwrap_or_default(),
        }
    }

    /// Treatment of it when nothing more comes from it. A stream of HTTP/2 is in memory, and ends there when it was reset, or when its response
    /// has been read whole.
    pub(crate) fn half_close(&self, service: &Service) -> HalfClose {
        match self.shown {
            Some(_) => HalfClose::Abort,
            None => service.half_close,
        }
    }

    /// The network that counts as one client with it, where connections of an address are limited.
    pub(crate) fn client_prefix(&self) -> IpAddr {
        client_prefix(self.address)
    }

    /// Where copies of its requests wait.
    pub(crate) fn lane(&mut self) -> &Rc<Lane> {
        self.lane.get_or_insert_default()
    }

    /// The client at `address` of a connection that was made just now, as `generation` sees it.
    pub(crate) fn new(
        generation: &Generation,
        stream: Stream,
        address: IpAddr,
        now: Instant,
    ) -> Box<Self> {
        let address = address.to_canonical();
        let service = &generation.service;
        let secured = matches!(stream, Stream::Tls(_));
        let connection = TcpServer::from_stream(stream, service.limits.request);
        let context = match secured {
            true => ClientContext::of(&connection.peer_certificates(), service).map(Rc::new),
            false => None,
        };
        Box::new(Self {
            secured,
            context,
            shown: None,
            connection,
            watch: Watch::new(now + service.timeouts.request_head),
            peer: address.to_string(),
            address,
            trusted: service.trusts(address),
            judged_by: generation.number,
            scratch: LentScratch::NONE,
            arrival: Arrival::default(),
            lane: None,
        })
    }

    /// Sees the client as `generation` does, by which its next request is served.
    pub(crate) fn under(&mut self, generation: &Generation) {
        if self.judged_by != generation.number {
            self.judged_by = generation.number;
            self.trusted = generation.service.trusts(self.address);
            if self.secured {
                let service = &generation.service;
                let context = match &self.shown {
                    Some(shown) => ClientContext::of(shown, service),
                    None => ClientContext::of(&self.connection.peer_certificates(), service),
                };
                self.context = context.map(Rc::new);
            }
        }
    }
}
