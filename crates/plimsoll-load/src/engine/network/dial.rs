//! Making a connection: name lookup, TCP, TLS, each with its time.

use super::Network;
use crate::clock::{Clock, Nanos};
use crate::results::recorder::Dialled;
use crate::security::H2;
use plimsoll_base::reason::Reason;
use plimsoll_http::tls::Connector;
use plimsoll_http::{Stream, lacking};
use std::cell::Cell;

/// Stage of making a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Dialling {
    Lookup,
    Tcp,
    Tls,
}

impl Dialling {
    /// Why there is no connection, if the deadline of an exchange passes now.
    pub(in crate::engine) fn overdue(self) -> Reason {
        match self {
            Self::Lookup => Reason::TimeoutLookup,
            Self::Tcp => Reason::TimeoutTcp,
            Self::Tls => Reason::TimeoutTls,
        }
    }

    /// Why there is none, if the deadline for connections passes.
    pub(in crate::engine) fn too_long(self) -> Reason {
        match self {
            Self::Lookup => Reason::ConnectTimeoutLookup,
            Self::Tcp => Reason::ConnectTimeoutTcp,
            Self::Tls => Reason::ConnectTimeoutTls,
        }
    }
}

/// Makes a connection for the user with this number, beginning `now`; `dialling` says meanwhile what is under way. Deadlines are the
/// caller's.
///
/// # Errors
/// Why the exchange that it was for was not answered.
pub(in crate::engine) async fn dial(
    network: &Network,
    clock: Clock,
    number: usize,
    connector: Option<&Connector>,
    now: Nanos,
    dialling: &Cell<Dialling>,
) -> Result<(Stream, Dialled), Reason> {
    let mut lookup = None;
    let mut since = now;
    if network.must_resolve(now) {
        dialling.set(Dialling::Lookup);
        let found = network.resolve(now).await;
        found.map_err(|error| lacking(&error).unwrap_or(Reason::Lookup))?;
        let found = clock.now();
        lookup = Some(found - since);
        since = found;
    }
    dialling.set(Dialling::Tcp);
    let tcp = network.connect(number).await;
    let tcp = tcp.map_err(|error| error.reason())?;
    let connected = clock.now();
    let connect = connected - since;
    let Some(connector) = connector else {
        let dialled = Dialled {
            lookup,
            connect,
            tls: None,
        };
        return Ok((Stream::Clear(tcp), dialled));
    };
    dialling.set(Dialling::Tls);
    let secured = connector.secure(tcp).await;
    let secured = secured.map_err(|error| error.reason())?;
    if network.is_http2() && secured.get_ref().1.alpn_protocol() != Some(H2.as_bytes()) {
        return Err(Reason::NoProtocol);
    }
    let dialled = Dialled {
        lookup,
        connect,
        tls: Some(clock.now() - connected),
    };
    Ok((Stream::Tls(Box::new(secured)), dialled))
}
