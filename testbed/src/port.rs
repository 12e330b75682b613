//! Ports of loopback: for a program that has to be told its own, where nobody listens, and between two sockets.

use crate::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use tokio::net::{TcpSocket, TcpStream};

/// An address that was free a moment ago. Somebody else may be faster: try another when the program does not start.
///
/// # Errors
/// [`Error::Io`]: there is none.
pub fn free() -> Result<SocketAddr, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(Error::when("finding a free port"))
}

/// A host of the loopback's network that hardly anybody else uses, so that a port that was left there is not taken by somebody else: it has
/// the number of this process, but for its highest bits, and the 255th call has the first one's.
pub fn own_host() -> Ipv4Addr {
    static GIVEN: AtomicU8 = AtomicU8::new(0);
    let [.., high, low] = std::process::id().to_be_bytes();
    // Neither 0 nor 255, which would be the network's own address or all of it.
    Ipv4Addr::new(127, 128 | high, low, 1 + GIVEN.fetch_add(1, Relaxed) % 254)
}

/// Two sockets that are connected: the one that did so, and the one that was accepted.
///
/// # Errors
/// [`Error::Io`]: the system's.
pub async fn connected() -> Result<(TcpStream, TcpStream), Error> {
    let connected = async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let near = TcpStream::connect(listener.local_addr()?);
        let (near, far) = tokio::join!(near, listener.accept());
        Ok((near?, far?.0))
    };
    connected
        .await
        .map_err(Error::when("connecting two sockets"))
}

/// A port at which connections are refused, and which nobody else gets while this lives: it is bound and does not listen.
#[derive(Debug)]
pub struct Refusing {
    /// Where.
    pub address: SocketAddr,
    _held: TcpSocket,
}

impl Refusing {
    /// One of loopback.
    ///
    /// # Errors
    /// [`Error::Io`]: there is none.
    pub fn hold() -> Result<Self, Error> {
        let hold = || {
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            Ok((socket.local_addr()?, socket))
        };
        let (address, held) = hold().map_err(Error::when("holding a port"))?;
        Ok(Self {
            address,
            _held: held,
        })
    }
}
