//! How long making a connection took.

use crate::clock::Nanos;

/// Times of the parts of making a connection, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialled {
    /// The name lookup; `None` if there was none.
    pub(crate) lookup: Option<Nanos>,
    /// TCP.
    pub(crate) connect: Nanos,
    /// The TLS handshake; `None` if the connection is clear.
    pub(crate) tls: Option<Nanos>,
}

impl Dialled {
    /// All of it.
    pub(crate) fn total(self) -> Nanos {
        self.lookup.unwrap_or(0) + self.connect + self.tls.unwrap_or(0)
    }
}
