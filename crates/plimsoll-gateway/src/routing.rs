//! Routing: which route a request takes, and the head with which it goes to its upstream.

pub(crate) mod outgoing;
pub(crate) mod router;
pub(crate) mod service;
