//! Making a connection: name lookup, TCP, TLS, each with its time.

use super::network::Network;
use crate::clock::{Clock, Nanos};
use crate::recorder::Dialled;
use crate::security::H2;
use plimsoll_base::outcome::Outcome;
use plimsoll_http::tls::Connector;
use plimsoll_http::{ConnectError, Stream};

/// Makes a connection for the user with this number, beginning `now`. Deadlines are the caller's.
///
/// # Errors
/// How the exchange that it was for ended.
pub(super) async fn dial(
    network: &Network,
    clock: Clock,
    number: usize,
    connector: Option<&Connector>,
    now: Nanos,
) -> Result<(Stream, Dialled), Outcome> {
    let mut lookup = None;
    let mut since = now;
    if network.must_resolve(now) {
        network.resolve(now).await.map_err(|_| Outcome::Refused)?;
        let found = clock.now();
        lookup = Some(found - since);
        since = found;
    }
    let tcp = network.connect(number).await.map_err(|error| match error {
        ConnectError::TimedOut => Outcome::TimedOut,
        ConnectError::Refused(_) => Outcome::Refused,
        ConnectError::Exhausted(_) => Outcome::Exhausted,
    })?;
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
    let secured = connector
        .secure(tcp)
        .await
        .map_err(|_| Outcome::TlsFailed)?;
    if network.is_http2() && secured.get_ref().1.alpn_protocol() != Some(H2.as_bytes()) {
        return Err(Outcome::TlsFailed);
    }
    let dialled = Dialled {
        lookup,
        connect,
        tls: Some(clock.now() - connected),
    };
    Ok((Stream::Tls(Box::new(secured)), dialled))
}
