//! Identity of a listener in the configuration, by which a reload finds out which of them are open already.

use plimsoll_http::server;
use std::net::SocketAddr;

/// A listener that is to be open.
pub(crate) type ListenerSpec = server::ListenerSpec<ListenerId>;

/// Name and address of a listener: two with the same of both are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ListenerId {
    pub(crate) name: String,
    /// As configured, so that the port may be 0.
    pub(crate) address: SocketAddr,
}
