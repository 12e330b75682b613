//! Connections that the gateway makes to itself: they are no client's, and do not count as connections of its own address.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::{TcpSocket, TcpStream};

/// The local addresses of those that are open, over all shards.
///
/// The lock is held for one look-up, when a connection begins and when it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnConnections(Arc<Mutex<HashSet<SocketAddr>>>);

/// A connection's entry, until it is dropped.
#[derive(Debug)]
pub(crate) struct Entry {
    all: OwnConnections,
    address: SocketAddr,
}

impl OwnConnections {
    /// Connects to an address of the gateway. It is known before the other end is there to ask.
    ///
    /// # Errors
    /// The system's.
    pub(crate) async fn connect(&self, gateway: SocketAddr) -> io::Result<(TcpStream, Entry)> {
        let socket = match gateway {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        // Whoever connects to an address of this host does so from there.
        let mut source = gateway;
        source.set_port(0);
        socket.bind(source)?;
        let entry = self.enter(socket.local_addr()?);
        let stream = socket.connect(gateway).await?;
        stream.set_nodelay(true)?;
        Ok((stream, entry))
    }

    /// Whether a client of this address is the gateway itself.
    pub(crate) fn has(&self, client: SocketAddr) -> bool {
        self.addresses().contains(&canonical(client))
    }

    fn enter(&self, local: SocketAddr) -> Entry {
        let address = canonical(local);
        self.addresses().insert(address);
        Entry {
            all: self.clone(),
            address,
        }
    }

    fn addresses(&self) -> MutexGuard<'_, HashSet<SocketAddr>> {
        // Nothing below can leave the set half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.all.addresses().remove(&self.address);
    }
}

/// As both ends see it: without the scope of a link, and an address of IPv4 as such.
fn canonical(address: SocketAddr) -> SocketAddr {
    (address.ip().to_canonical(), address.port()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_connection_is_known_at_its_other_end_as_long_as_it_has_its_entry() {
        for listens in ["127.0.0.1:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(listens).await else {
                continue; // a host without IPv6
            };
            let port = listener.local_addr().unwrap().port();
            for address in ["127.0.0.1", "::ffff:127.0.0.1"] {
                let own = OwnConnections::default();
                let gateway = SocketAddr::new(address.parse().unwrap(), port);
                let (_stream, entry) = own.connect(gateway).await.unwrap();
                let (_accepted, client) = listener.accept().await.unwrap();
                assert!(own.has(client), "{client}");
                let mut other = client;
                other.set_port(port);
                assert!(!own.has(other));
                drop(entry);
                assert!(!own.has(client));
            }
        }
    }
}
