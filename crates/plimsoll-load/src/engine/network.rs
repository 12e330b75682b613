//! The way from the users of one shard to the target: where it is, how to get there, and the connections that are for all.

pub(super) mod connection;
pub(super) mod dial;
pub(super) mod http2;
pub(super) mod shared;

use crate::clock::{Nanos, nanos};
use crate::plan::{ConnectionPolicy, Connections, Plan, Protocol, Resolve};
use crate::security::Security;
use http::uri::Scheme;
use http2::SharedPlace;
use plimsoll_http::tls::Connector;
use plimsoll_http::{ConnectError, connect_stream};
use shared::Shared;
use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use tokio::net::TcpStream;

/// Network state of the users of one shard.
#[derive(Debug)]
pub(super) struct Network {
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
    places: Vec<Rc<SharedPlace>>,
    streams: usize,
    /// The scheme that requests of HTTP/2 name, and redirects have to name.
    pub(super) scheme: Scheme,
}

impl Network {
    /// The network of a shard with these users, which has so many of the connections if they are shared.
    pub(super) fn new(plan: &Plan, security: &Security, users: &[usize], shared: usize) -> Self {
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
    pub(super) fn place(&self, slot: usize) -> Option<&Rc<SharedPlace>> {
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

    /// Connects the user with this number to its address. Of a name that is looked up while the load runs, an address that refuses leads to
    /// the next one; addresses from before the load were tried then, and what one of them refuses since is a failure.
    pub(super) async fn connect(&self, number: usize) -> Result<TcpStream, ConnectError> {
        let mut number = number;
        let mut others = match self.resolve {
            Some(_) => self.addresses.borrow().len().saturating_sub(1),
            None => 0,
        };
        loop {
            let (address, source) = self.route(number);
            match connect_stream(address, source).await {
                Err(ConnectError::Refused(_)) if others > 0 => {
                    others -= 1;
                    number = number.wrapping_add(1);
                }
                ended => return ended,
            }
        }
    }

    /// Where the next connection of the user with this number goes, and from which address it comes.
    fn route(&self, number: usize) -> (SocketAddr, Option<IpAddr>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;
    use tokio::net::{TcpListener, TcpSocket};

    /// The network of a plan with these addresses; its name, if it is looked up at all, need not be yet.
    fn network(addresses: [SocketAddr; 2], resolve: Option<Resolve>) -> Network {
        let nothing = json!({ "secs": 0, "nanos": 0 });
        let connections = Connections {
            resolve,
            ..Connections::default()
        };
        let plan = json!({
            "seed": 1, "shards": 1, "target": { "authority": "localhost", "addresses": addresses },
            "steps": [], "scenarios": [], "warmup": nothing, "duration": nothing,
            "connections": connections, "pacing": "precise", "timeout": nothing,
        });
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let security = Security::new(&plan.connections, 2).unwrap();
        Network::new(&plan, &security, &[0, 1], 0)
    }

    #[tokio::test]
    async fn an_address_that_refuses_leads_to_the_next_of_a_name_that_is_looked_up() {
        // It has a port and never listens.
        let closed = TcpSocket::new_v4().unwrap();
        closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        let addresses = [closed.local_addr().unwrap(), open];
        let looked_up = network(
            addresses,
            Some(Resolve {
                host: "localhost".to_owned(),
                port: open.port(),
                every: Duration::ZERO,
            }),
        );
        for user in [0, 1] {
            let stream = looked_up.connect(user).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), open);
        }
        let known = network(addresses, None);
        assert!(matches!(
            known.connect(0).await,
            Err(ConnectError::Refused(_))
        ));
        known.connect(1).await.unwrap();
        drop(listener);
        for user in [0, 1] {
            let ended = looked_up.connect(user).await;
            assert!(matches!(ended, Err(ConnectError::Refused(_))), "{ended:?}");
        }
    }
}
