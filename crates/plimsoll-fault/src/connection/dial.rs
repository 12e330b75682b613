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

    /// Connects to the first of its addresses that answers.
    ///
    /// # Errors
    /// The last address' refusal; [`io::ErrorKind::TimedOut`] when `limit` passes first.
    pub async fn connect(&self, limit: Duration) -> io::Result<TcpStream> {
        let connecting = async {
            let mut failure = io::ErrorKind::AddrNotAvailable.into();
            for address in self.addresses().await? {
                match connect_stream(address, None).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => failure = io::Error::other(error),
                }
            }
            Err(failure)
        };
        let deadline = Instant::now() + limit;
        match timeout_at(deadline, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
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
