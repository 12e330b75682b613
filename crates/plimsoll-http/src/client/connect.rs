//! Connecting: one address, one deadline, and whose fault it was when it fails.

use crate::codec::limits::Limits;
use crate::connection::TcpClient;
use plimsoll_base::reason::Reason;
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

impl ConnectError {
    /// Why an exchange that needed this connection was not answered.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::TimedOut => Reason::SystemTcp,
            Self::Exhausted(error) => lacking(error).unwrap_or(Reason::Ports),
            Self::Refused(error) => match Errno::from_io_error(error) {
                Some(Errno::CONNREFUSED) => Reason::ConnectionRefused,
                Some(Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN | Errno::HOSTDOWN) => {
                    Reason::Unreachable
                }
                Some(Errno::ACCESS | Errno::PERM) => Reason::Forbidden,
                _ => Reason::NotConnected,
            },
        }
    }
}

/// The resource of this host that was used up, if that is why connecting failed.
#[must_use]
pub fn lacking(error: &io::Error) -> Option<Reason> {
    match Errno::from_io_error(error)? {
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Some(Reason::Ports),
        Errno::MFILE | Errno::NFILE => Some(Reason::Descriptors),
        Errno::NOBUFS | Errno::NOMEM => Some(Reason::Memory),
        _ => None,
    }
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
    if Errno::from_io_error(&error) == Some(Errno::TIMEDOUT) {
        return ConnectError::TimedOut;
    }
    match lacking(&error) {
        Some(_) => ConnectError::Exhausted(error),
        None => ConnectError::Refused(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_fault_a_failure_is_and_why() {
        let check = |errno: Errno, expected| {
            let error = io::Error::from_raw_os_error(errno.raw_os_error());
            assert_eq!(classify(error).reason(), expected, "{errno:?}");
        };
        check(Errno::CONNREFUSED, Reason::ConnectionRefused);
        check(Errno::HOSTUNREACH, Reason::Unreachable);
        check(Errno::PERM, Reason::Forbidden);
        check(Errno::CONNRESET, Reason::NotConnected);
        check(Errno::TIMEDOUT, Reason::SystemTcp);
        check(Errno::ADDRNOTAVAIL, Reason::Ports);
        check(Errno::NFILE, Reason::Descriptors);
        check(Errno::NOBUFS, Reason::Memory);
    }
}
