//! How the lab reaches a component: as everybody here does, or from inside its host of a network.

use super::network::Network;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::RwLock;

/// How long a connection inside a network may take.
const WITHIN: Duration = Duration::from_secs(2);

/// A network that the topology and faults share.
pub(crate) type SharedNetwork = Arc<RwLock<Network>>;

/// A way to components.
#[derive(Clone)]
pub(crate) enum Way {
    /// From where the lab is.
    Direct,
    /// From this host of a network.
    From(SharedNetwork, String),
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::From(_, host) => host,
        })
    }
}

impl Way {
    /// Opens a connection.
    ///
    /// # Errors
    /// The connection's.
    pub(crate) async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        match self {
            Self::Direct => TcpStream::connect((host, port)).await,
            Self::From(network, from) => {
                let ip: Result<IpAddr, _> = host.parse();
                let ip = ip.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
                let to = SocketAddr::new(ip, port);
                network.read().await.connect(from, to, WITHIN).await
            }
        }
    }

    /// The process whose namespaces a child here has to join, if it has to.
    ///
    /// # Errors
    /// [`io::ErrorKind::HostUnreachable`] for a host without power: nothing is to run outside of it in its place.
    pub(crate) async fn holder(&self) -> io::Result<Option<u32>> {
        match self {
            Self::Direct => Ok(None),
            Self::From(network, host) => match network.read().await.holder(host) {
                Some(holder) => Ok(Some(holder)),
                None => Err(io::ErrorKind::HostUnreachable.into()),
            },
        }
    }
}
