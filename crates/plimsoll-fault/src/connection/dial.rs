//! The way to a server: its addresses, and a connection to one of them within a deadline.

use plimsoll_http::connect_stream;
use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// How long addresses of a name are used before it is looked up again.
const FRESH: Duration = Duration::from_secs(1);

/// An address has so long at least, as far as the others leave it (Go's `partialDeadline` in `net/dial.go` has the same time).
const LEAST: Duration = Duration::from_secs(2);

/// A server by name or address, as `host:port`.
#[derive(Debug)]
pub struct Server {
    name: String,
    found: RefCell<Option<(Instant, Vec<SocketAddr>)>>,
}

impl Server {
    /// The server of this name.
    pub fn new(name: String) -> Self {
        // As Go dials a port without a host.
        let name = match name.starts_with(':') {
            true => format!("localhost{name}"),
            false => name,
        };
        Self {
            name,
            found: RefCell::default(),
        }
    }

    /// Connects to the first of its addresses that answers. They share the time that is left: one that is silent does not use up that of the next.
    ///
    /// # Errors
    /// That of the last address; [`io::ErrorKind::TimedOut`] where that is silent, and when `limit` passes.
    pub async fn connect(&self, limit: Duration) -> io::Result<TcpStream> {
        let deadline = Instant::now() + limit;
        let found = timeout_at(deadline, self.addresses()).await;
        let addresses = found.map_err(|_| io::ErrorKind::TimedOut)??;
        connect_to_first(addresses, deadline).await
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = self.name.parse() {
            return Ok(vec![address]);
        }
        if let Some((at, addresses)) = &*self.found.borrow()
            && at.elapsed() < FRESH
        {
            return Ok(addresses.clone());
        }
        let mut addresses: Vec<_> = tokio::net::lookup_host(&self.name).await?.collect();
        // As Go dials: IPv4 first where a name has both kinds and nobody knows better.
        addresses.sort_by_key(SocketAddr::is_ipv6);
        *self.found.borrow_mut() = Some((Instant::now(), addresses.clone()));
        Ok(addresses)
    }
}

/// Connects to the first of these that answers before the deadline.
async fn connect_to_first(addresses: Vec<SocketAddr>, deadline: Instant) -> io::Result<TcpStream> {
    let mut failure = io::ErrorKind::AddrNotAvailable.into();
    for (left, address) in (1..=addresses.len()).rev().zip(addresses) {
        let now = Instant::now();
        let until = now + share(deadline - now, left);
        match timeout_at(until, connect_stream(address, None)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = io::Error::other(error),
            Err(_) => failure = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(failure)
}

/// The time for one of so many addresses that are left: as much as for each of the others, or [`LEAST`] where that is more, for a first packet
/// may be lost and is sent again after a second; but no more than half of it while there are others.
fn share(left: Duration, addresses: usize) -> Duration {
    let addresses = u32::try_from(addresses).unwrap_or(u32::MAX).max(1);
    (left / addresses).max(LEAST.min(left / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Socket, Type};
    use tokio::net::TcpListener;

    #[test]
    fn addresses_share_the_time_that_is_left() {
        let ms = Duration::from_millis;
        assert_eq!(share(ms(10_000), 1), ms(10_000));
        assert_eq!(share(ms(10_000), 2), ms(5_000));
        assert_eq!(share(ms(10_000), 10), ms(2_000));
        assert_eq!(share(ms(1_000), 1), ms(1_000));
        assert_eq!(share(ms(1_000), 2), ms(500));
        assert_eq!(share(ms(1_000), 10), ms(500));
    }

    /// A listener with more connections than its backlog holds answers no further one.
    async fn silent() -> io::Result<(Socket, Vec<TcpStream>, SocketAddr)> {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
        listener.listen(0)?;
        let address = listener.local_addr()?.as_socket();
        let address = address.ok_or(io::ErrorKind::Other)?;
        let (mut waiting, mut silent) = (Vec::new(), 0);
        // One that is late may be this machine's doing.
        while silent < 3 {
            let until = Instant::now() + Duration::from_millis(50);
            match timeout_at(until, connect_stream(address, None)).await {
                Ok(stream) => waiting.push(stream.map_err(io::Error::other)?),
                Err(_) => silent += 1,
            }
        }
        Ok((listener, waiting, address))
    }

    #[tokio::test]
    async fn a_silent_address_does_not_use_up_the_time_of_the_next() {
        let (_listener, _waiting, silent) = silent().await.unwrap();
        let live = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addresses = vec![silent, live.local_addr().unwrap()];
        let deadline = Instant::now() + Duration::from_secs(1);
        let connected = connect_to_first(addresses, deadline).await.unwrap();
        assert_eq!(connected.peer_addr().unwrap(), live.local_addr().unwrap());
    }

    #[tokio::test]
    async fn silence_until_the_deadline_is_said_as_that() {
        let (_listener, _waiting, silent) = silent().await.unwrap();
        let deadline = Instant::now() + Duration::from_millis(40);
        let failure = connect_to_first(vec![silent, silent], deadline).await;
        assert_eq!(failure.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
