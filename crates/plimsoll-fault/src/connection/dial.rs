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

/// An address has so long at least, up to the deadline of all (Go's `partialDeadline` in `net/dial.go`).
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

    /// Connects to the first of its addresses that answers. They share the time that is left, as Go has it: one that is silent does not use up
    /// that of the next.
    ///
    /// # Errors
    /// The last address' refusal; [`io::ErrorKind::TimedOut`] when `limit` passes first.
    pub async fn connect(&self, limit: Duration) -> io::Result<TcpStream> {
        let deadline = Instant::now() + limit;
        let timed_out = |_| io::Error::from(io::ErrorKind::TimedOut);
        let found = timeout_at(deadline, self.addresses()).await;
        let addresses = found.map_err(timed_out)??;
        let mut failure = io::ErrorKind::AddrNotAvailable.into();
        for (left, address) in (1..=addresses.len()).rev().zip(addresses) {
            let until = Instant::now() + share(deadline - Instant::now(), left);
            let connecting = timeout_at(until.min(deadline), connect_stream(address, None));
            match connecting.await.map_err(timed_out) {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = io::Error::other(error),
                Err(error) => failure = error,
            }
        }
        Err(failure)
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

/// The time for one of so many addresses that are left.
fn share(left: Duration, addresses: usize) -> Duration {
    let addresses = u32::try_from(addresses).unwrap_or(u32::MAX);
    (left / addresses.max(1)).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_share_the_time_that_is_left() {
        let seconds = Duration::from_secs;
        assert_eq!(share(seconds(10), 1), seconds(10));
        assert_eq!(share(seconds(10), 2), seconds(5));
        // Hardly anybody answers in less.
        assert_eq!(share(seconds(10), 10), seconds(2));
        assert_eq!(share(seconds(1), 1), seconds(2));
    }
}
