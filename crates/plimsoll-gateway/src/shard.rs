//! State that the connections of one shard share, and its clients. Accepting them is [`crate::server::acceptor`]'s.

pub(crate) mod client;
pub(crate) mod client_context;
mod held;
pub(crate) mod mirror;
pub(crate) mod scratch;

use crate::answering::answer::Answer;
use crate::clients::identity::Identity;
use crate::clients::trust::{Shown, Trust, Withdrawn};
use crate::config::Timeouts;
use crate::listening::connection_limiter::{ConnectionLimiter, ConnectionPermit, client_prefix};
use crate::listening::connection_registry::ConnectionRegistry;
use crate::listening::handover::Sockets;
use crate::listening::listener_id::ListenerId;
use crate::listening::own_connections::OwnConnections;
use crate::metrics::{ShardMetrics, TooMany};
use crate::reloading::generation::Generation;
use crate::routing::service::Service;
use crate::shard::client::Client;
use crate::shard::mirror::Mirrors;
use crate::upstream::Placement;
pub(crate) use held::Held;
use plimsoll_base::counters::Counter;
use plimsoll_http::Drain;
use plimsoll_http::Row;
use plimsoll_http::server::{ConnectionSlot, OpenConnections};
use plimsoll_records::Ending;
use plimsoll_records::RecordSender;
use plimsoll_records::tracing::Tracer;
use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// State that the connections of one shard share. Only its own thread touches it.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Generation by which new requests are served.
    pub(crate) current: RefCell<Rc<Generation>>,
    /// Generations before it that exchanges may still end by.
    pub(crate) earlier: RefCell<Vec<Weak<Generation>>>,
    pub(crate) placement: Placement,
    /// Client connections open now, over all shards.
    pub(crate) open: Arc<OpenConnections>,
    pub(crate) limiters: ConnectionLimiters,
    pub(crate) metrics: Arc<ShardMetrics>,
    /// Counters that outlive the process.
    pub(crate) counters: Row,
    pub(crate) analytics: Option<RefCell<RecordSender>>,
    pub(crate) tracer: Option<Tracer>,
    /// Where its spans go.
    pub(crate) spans: Option<RefCell<RecordSender>>,
    /// The gateway was told to stop, and takes requests for a while.
    pub(crate) leaving: Cell<bool>,
    /// The gateway stops: connections end after their current exchange, and answers say so.
    pub(crate) parting: Cell<bool>,
    /// It stops now: connections without an exchange end at once.
    pub(crate) drain: Drain,
    /// Wakes requests that wait for another generation.
    pub(crate) changed: Notify,
    /// Those requests.
    pub(crate) held: Held,
    /// Copies of requests, for where their clients' data moves to.
    pub(crate) mirrors: Mirrors,
    /// Who has batches under way: an address or a network for each.
    pub(crate) batches: RefCell<Vec<IpAddr>>,
    /// Every stream of HTTP/2 that is served has one more of it.
    pub(crate) streams: Rc<()>,
    /// Client connections, and what their clients have shown.
    pub(crate) registry: RefCell<ConnectionRegistry>,
    pub(crate) sockets: Arc<Sockets>,
}

/// Connections of each client, over all shards.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionLimiters {
    addresses: Arc<ConnectionLimiter<IpAddr>>,
    /// Those that the gateway makes to itself.
    own: OwnConnections,
    identities: Arc<ConnectionLimiter<Identity>>,
}

/// A connection's share of the limits, until it ends.
#[derive(Debug)]
pub(crate) struct LimitShare {
    _of_all: ConnectionSlot,
    /// Where connections of an address are limited.
    _of_address: Option<ConnectionPermit<IpAddr>>,
}

/// Places among a client's connections for what it has under way without one of its own.
#[derive(Debug)]
pub(crate) struct FurtherPlaces {
    addresses: Arc<ConnectionLimiter<IpAddr>>,
    client: IpAddr,
    /// `None`: they are not limited.
    most: Option<u32>,
}

impl FurtherPlaces {
    /// One more, until it is dropped; none is needed where they are not limited.
    ///
    /// # Errors
    /// The client has as many connections as it may have.
    pub(crate) fn enter(&self) -> Result<Option<ConnectionPermit<IpAddr>>, TooMany> {
        let Some(most) = self.most else {
            return Ok(None);
        };
        let place = self.addresses.enter(self.client, most);
        place.map(Some).ok_or(TooMany::OfAddress)
    }
}

impl Shard {
    /// Generation by which a new request is served.
    pub(crate) fn current(&self) -> Rc<Generation> {
        Rc::clone(&self.current.borrow())
    }

    /// How long things may take that begin now.
    pub(crate) fn timeouts(&self) -> Timeouts {
        self.current.borrow().service.timeouts
    }

    /// A new connection's share of the limits; or why there is no room for it.
    pub(crate) fn place(&self, peer: SocketAddr, service: &Service) -> Result<LimitShare, TooMany> {
        let limits = &service.limits;
        let slot = self.open.enter(limits.connections).ok_or(TooMany::All)?;
        let of_address = || {
            let Some(most) = limits.per_address else {
                return Ok(None);
            };
            if self.limiters.own.has(peer) {
                return Ok(None);
            }
            let address = peer.ip().to_canonical();
            if service.trusts(address) {
                return Ok(None);
            }
            let place = self.limiters.addresses.enter(client_prefix(address), most);
            place.map(Some).ok_or(TooMany::OfAddress)
        };
        Ok(LimitShare {
            _of_all: slot,
            _of_address: of_address()?,
        })
    }

    /// The places of what a client has under way beside the request of its connection.
    pub(crate) fn further_places(&self, client: &Client, service: &Service) -> FurtherPlaces {
        FurtherPlaces {
            addresses: Arc::clone(&self.limiters.addresses),
            client: client.client_prefix(),
            most: service.limits.per_address.filter(|_| !client.trusted),
        }
    }

    /// Connections that the gateway makes to itself, over all shards.
    pub(crate) fn own_connections(&self) -> &OwnConnections {
        &self.limiters.own
    }

    /// The client's place within the limit for its identity by its certificate.
    pub(crate) fn place_of_identity(
        &self,
        client: &Client,
    ) -> Result<Option<ConnectionPermit<Identity>>, TooMany> {
        let generation = self.current();
        let service = &generation.service;
        let Some(most) = service.limits.per_identity else {
            return Ok(None);
        };
        let shown = client.connection.peer_certificates();
        let Some(own) = shown.first() else {
            return Ok(None);
        };
        let identity = Identity::of_any(own, &service.identity_order);
        let place = self.limiters.identities.enter(identity, most);
        place.map(Some).ok_or(TooMany::OfIdentity)
    }

    /// Answer to a client for whom there is no room, which counts.
    pub(crate) fn refusal(&self, why: TooMany, service: &Service) -> Answer {
        self.metrics.refused.of(why).add(1);
        self.counters.add(Counter::TurnedAway, 1);
        service.error_format.say(Answer::new(503, why.words()))
    }

    /// Notes what the client of this task has shown, so that it can be judged again. Judges it at once by what it is served by now: a
    /// reload may have come during its handshake, and a resumed session is as old as it is.
    pub(crate) fn know(
        &self,
        client: &Client,
        listener_id: &Rc<ListenerId>,
        before: Option<&Trust>,
    ) -> Result<(), Withdrawn> {
        let chain = client.connection.peer_certificates();
        let shown = match chain.is_empty() {
            true => None,
            // TLS reads no more of a chain than it needs: what could not be found in a list of revoked ones is not let in.
            false => Some(Shown::of(chain).ok_or(Withdrawn::Distrusted)?),
        };
        let now = plimsoll_http::clock::since_epoch();
        self.judge(shown.as_ref(), &listener_id.name, before, now)?;
        self.registry.borrow_mut().show(tokio::task::id(), shown);
        Ok(())
    }

    /// Judges by what is served by now who came through this listener_id, has shown this if anything, and was accepted by `before`.
    pub(crate) fn judge(
        &self,
        shown: Option<&Shown>,
        listener_id: &str,
        before: Option<&Trust>,
        now: Duration,
    ) -> Result<(), Withdrawn> {
        let current = self.current();
        let entrance = current.service.entrance(listener_id);
        let trust = entrance.and_then(|entrance| entrance.tls.as_ref()?.trust.as_deref());
        match (trust, shown) {
            (Some(trust), Some(shown)) => trust.review(shown, before, now),
            // A listener that is closed, or asks for no certificates any more, vouches for nobody.
            (None, Some(_)) => Err(Withdrawn::Distrusted),
            (Some(trust), None) if trust.required => Err(Withdrawn::Distrusted),
            (_, None) => Ok(()),
        }
    }

    /// Why the exchange is cut off that the current task is about.
    pub(crate) fn why_cut_off(&self) -> Ending {
        let why = tokio::task::try_id().and_then(|id| self.registry.borrow().why(id));
        match why {
            _ if std::thread::panicking() => Ending::Defect,
            Some(withdrawn) => withdrawn.into(),
            None if self.drain.has_begun() => Ending::Drained,
            // The stream of HTTP/2 that it came by.
            None => Ending::ClientGone,
        }
    }
}
