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
    /// The last address' refusal; [`io::ErrorKind::TimedOut`] when `limit` passes first.
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
    let mut left = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    for address in addresses {
        let now = Instant::now();
        let until = now + (deadline - now) / left.max(1);
        left = left.saturating_sub(1);
        match timeout_at(until, connect_stream(address, None)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = io::Error::other(error),
            Err(_) => failure = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Socket, Type};
    use tokio::net::TcpListener;

    /// A listener with more connections than its backlog holds answers no further one.
    async fn silent() -> io::Result<(Socket, Vec<TcpStream>, SocketAddr)> {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
        listener.listen(0)?;
        let address = listener
            .local_addr()?
            .as_socket()
            .ok_or(io::ErrorKind::Other)?;
        let filling = Duration::from_millis(100);
        let mut waiting = Vec::new();
        while let Ok(stream) =
            timeout_at(Instant::now() + filling, connect_stream(address, None)).await
        {
            waiting.push(stream.map_err(io::Error::other)?);
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
    async fn no_address_that_answers_is_too_late() {
        let (_listener, _waiting, silent) = silent().await.unwrap();
        let deadline = Instant::now() + Duration::from_millis(20);
        let failure = connect_to_first(vec![silent], deadline).await.unwrap_err();
        assert_eq!(failure.kind(), io::ErrorKind::TimedOut);
    }
}
