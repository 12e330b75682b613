//! What the users of one shard share on their way to the target: where it is, how to get there, and the connections that are for all.

use super::http2::Place;
use super::shared::Shared;
use crate::clock::{Nanos, nanos};
use crate::plan::{ConnectionPolicy, Connections, Plan, Protocol, Resolve};
use crate::security::Security;
use http::uri::Scheme;
use plimsoll_http::tls::Connector;
use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// What the users of one shard share.
#[derive(Debug)]
pub(in crate::engine) struct Network {
    addresses: RefCell<Rc<[SocketAddr]>>,
    /// Until when looked-up addresses hold.
    fresh_until: Cell<Nanos>,
    resolve: Option<Resolve>,
    sources: Vec<IpAddr>,
    /// Connections made so far.
    made: Cell<usize>,
    pub(super) policy: ConnectionPolicy,
    /// A connection is closed after so many exchanges.
    pub(super) exchanges: u32,
    pub(super) connect_timeout: Option<Nanos>,
    pub(super) first_byte_timeout: Option<Nanos>,
    /// By place of the user in the shard; empty if connections are clear.
    connectors: Vec<Option<Connector>>,
    pub(super) shared: Option<Shared>,
    /// HTTP/2: the connections, each for as many users as there are streams.
    places: Vec<Rc<Place>>,
    streams: usize,
    /// What requests of HTTP/2 name as theirs.
    pub(super) scheme: Scheme,
}

impl Network {
    /// The network of a shard with these users, which has so many of the connections if they are shared.
    pub(in crate::engine) fn new(
        plan: &Plan,
        security: &Security,
        users: &[usize],
        shared: usize,
    ) -> Self {
        let Connections {
            policy,
            exchanges,
            protocol,
            sources,
            resolve,
            connect_timeout,
            first_byte_timeout,
            tls,
        } = &plan.connections;
        let streams = match *protocol {
            Protocol::Http1 => 0,
            Protocol::Http2 { streams } => usize::try_from(streams).unwrap_or(usize::MAX),
        };
        let places = match streams {
            0 => 0,
            streams => users.len().div_ceil(streams),
        };
        Self {
            addresses: RefCell::new(plan.target.addresses.as_slice().into()),
            fresh_until: Cell::new(0),
            resolve: resolve.clone(),
            sources: sources.clone(),
            made: Cell::new(0),
            policy: *policy,
            exchanges: exchanges.unwrap_or(u32::MAX),
            connect_timeout: connect_timeout.map(nanos),
            first_byte_timeout: first_byte_timeout.map(nanos),
            connectors: users.iter().map(|user| security.connector(*user)).collect(),
            shared: matches!(policy, ConnectionPolicy::Shared(_)).then(|| Shared::new(shared)),
            places: (0..places).map(|_| Rc::default()).collect(),
            streams,
            scheme: match tls {
                Some(_) => Scheme::HTTPS,
                None => Scheme::HTTP,
            },
        }
    }

    /// Who secures the connections of the user in this place of the shard.
    pub(super) fn connector(&self, slot: usize) -> Option<&Connector> {
        self.connectors.get(slot)?.as_ref()
    }

    /// The HTTP/2 connection of the user in this place of the shard; `None` with HTTP/1.1.
    pub(super) fn place(&self, slot: usize) -> Option<&Rc<Place>> {
        self.places.get(slot.checked_div(self.streams)?)
    }

    /// Whether HTTP/2 is spoken.
    pub(super) fn is_http2(&self) -> bool {
        self.streams > 0
    }

    /// Whether names are looked up while the load runs, and the last answer does not hold any more at `now`.
    pub(super) fn must_resolve(&self, now: Nanos) -> bool {
        self.resolve.is_some() && now >= self.fresh_until.get()
    }

    /// Looks the target's name up.
    pub(super) async fn resolve(&self, now: Nanos) -> io::Result<()> {
        let Some(resolve) = &self.resolve else {
            return Ok(());
        };
        let found: Rc<[SocketAddr]> =
            tokio::net::lookup_host((resolve.host.as_str(), resolve.port))
                .await?
                .collect();
        if found.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.addresses.replace(found);
        self.fresh_until.set(now + nanos(resolve.every));
        Ok(())
    }

    /// Where the next connection of the user with this number goes, and from which address it comes.
    pub(super) fn route(&self, number: usize) -> (SocketAddr, Option<IpAddr>) {
        let addresses = self.addresses.borrow();
        let address = addresses[number % addresses.len()];
        let made = self.made.replace(self.made.get().wrapping_add(1));
        let fitting = || {
            let fits = |source: &&IpAddr| source.is_ipv4() == address.is_ipv4();
            self.sources.iter().filter(fits)
        };
        let source = made
            .checked_rem(fitting().count())
            .and_then(|at| fitting().nth(at));
        (address, source.copied())
    }
}
