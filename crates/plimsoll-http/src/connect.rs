//! Connecting: one address, one deadline, and whose fault it was when it fails.

use crate::connection::TcpClient;
use crate::limits::Limits;
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The deadline passed first.
    #[error("connecting timed out")]
    TimedOut,
    /// The target, or the way to it, said no.
    #[error("connection refused: {0}")]
    Refused(#[source] io::Error),
    /// This host has no free port, descriptor or memory for it: our fault, not the target's.
    #[error("no port or descriptor left to connect with: {0}")]
    Exhausted(#[source] io::Error),
}

/// Connects to `addr` within `timeout`, with Nagle's algorithm off.
///
/// # Errors
/// [`ConnectError`], which tells the target's refusal from this host's exhaustion.
pub async fn connect(
    addr: SocketAddr,
    timeout: Duration,
    limits: Limits,
) -> Result<TcpClient, ConnectError> {
    let stream = tokio::time::timeout(timeout, connect_stream(addr, None))
        .await
        .map_err(|_| ConnectError::TimedOut)??;
    Ok(TcpClient::from_stream(stream, limits))
}

/// Connects to `addr`, with Nagle's algorithm off, from the address `source` if one is given. Deadlines are the caller's.
///
/// # Errors
/// [`ConnectError`]; an address that is not this host's own is [`ConnectError::Exhausted`].
pub async fn connect_stream(
    addr: SocketAddr,
    source: Option<IpAddr>,
) -> Result<TcpStream, ConnectError> {
    let stream = match source {
        None => TcpStream::connect(addr).await.map_err(classify)?,
        Some(source) => {
            let socket = match addr {
                SocketAddr::V4(_) => TcpSocket::new_v4(),
                SocketAddr::V6(_) => TcpSocket::new_v6(),
            };
            let socket = socket.map_err(classify)?;
            socket.bind((source, 0).into()).map_err(classify)?;
            socket.connect(addr).await.map_err(classify)?
        }
    };
    stream.set_nodelay(true).map_err(classify)?;
    Ok(stream)
}

fn classify(error: io::Error) -> ConnectError {
    let own = [
        Errno::ADDRNOTAVAIL,
        Errno::ADDRINUSE,
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOBUFS,
        Errno::NOMEM,
    ];
    match Errno::from_io_error(&error) {
        Some(Errno::TIMEDOUT) => ConnectError::TimedOut,
        Some(errno) if own.contains(&errno) => ConnectError::Exhausted(error),
        _ => ConnectError::Refused(error),
    }
}
