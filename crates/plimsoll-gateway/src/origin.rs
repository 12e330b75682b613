//! Identity of a gateway from its start to its end, whatever its configuration becomes.

use plimsoll_base::digest::Digest;
use std::time::Duration;
use tokio::time::Instant;

/// Properties that stay through every reload.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) started: Instant,
    /// The start by the time of day.
    pub(crate) since_epoch: Duration,
    pseudonym: String,
}

impl Origin {
    /// A gateway that starts at this moment, which makes its pseudonym its own.
    pub(crate) fn new(started: Instant, since_epoch: Duration) -> Self {
        let identity = since_epoch.as_nanos() ^ (u128::from(std::process::id()) << 64);
        let identity = Digest::of(&identity.to_le_bytes()).to_hex();
        Self {
            started,
            since_epoch,
            pseudonym: format!("plimsoll-{}", &identity[..8]),
        }
    }

    /// Name of this gateway among others.
    pub(crate) fn pseudonym(&self) -> &str {
        &self.pseudonym
    }
}
