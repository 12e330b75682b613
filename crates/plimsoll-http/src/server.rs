//! A server's connections up to the request and from the answer on: taking them in, securing them, waiting for requests, draining, ending them.
//!
//! The mock and the gateway stand on it; what a request means and how it is answered is theirs. From the bottom up: `permit` counts connections over all shards, `listener_set` takes clients in, `handshake` secures
//! connections, `http1` waits for heads and ends connections of HTTP/1, [`http2`] serves the streams of a connection of HTTP/2.

mod handshake;
mod http1;
pub mod http2;
mod listener_set;
mod permit;

pub use handshake::{Handshake, secure};
pub use http1::{Begun, Head, Spoken};
pub use listener_set::{Entered, ListenerSet, ListenerSpec};
pub use permit::{ConnectionSlot, OpenConnections};
