//! Why a gateway did not start or could not go on.

use plimsoll_base::document::Problems;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// An error of [`crate::run`].
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// A listener's address is taken or not ours.
    #[error("listener `{name}` cannot listen on {address}: {source}")]
    Listen {
        /// The listener.
        name: String,
        /// Its address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// An endpoint's host name has no address.
    #[error("endpoint `{endpoint}` of upstream `{upstream}` cannot be resolved: {reason}")]
    Resolve {
        /// The upstream.
        upstream: String,
        /// Host and port.
        endpoint: String,
        /// The resolver's error.
        reason: String,
    },
    /// Secrets were not heard in time, or not at all.
    #[error("{0}")]
    Secrets(Problems),
    /// A file, a spool or a thread of analytics cannot be had.
    #[error("analytics cannot start: {0}")]
    Analytics(#[source] io::Error),
    /// The counters file cannot be made.
    #[error("the counters file {} cannot be made: {source}", path.display())]
    Counters {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A thread, a runtime or a listener failed.
    #[error("fatal error: {0}")]
    Io(#[from] io::Error),
}
