//! Connecting: one address, one deadline, and whose fault it was when it fails.

use crate::connection::TcpClient;
use crate::limits::Limits;
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

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
    let stream = tokio::time::timeout(timeout, TcpStream::connect(addr))
        .await
        .map_err(|_| ConnectError::TimedOut)?
        .map_err(classify)?;
    stream.set_nodelay(true).map_err(classify)?;
    Ok(TcpClient::from_stream(stream, limits))
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
