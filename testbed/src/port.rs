//! Ports of loopback for programs that have to be told theirs.

use crate::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// An address that was free a moment ago. Somebody else may be faster: try another when the program does not start.
///
/// # Errors
/// [`Error::Io`]: there is none.
pub fn free() -> Result<SocketAddr, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(Error::when("finding a free port"))
}
