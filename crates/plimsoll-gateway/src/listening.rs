//! Listening: sockets, who is connected to them, and how many may be.

pub(crate) mod connection_limiter;
pub(crate) mod connection_registry;
pub(crate) mod handover;
pub(crate) mod handshake;
pub(crate) mod listener_id;
pub(crate) mod own_connections;
