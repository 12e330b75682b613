//! HTTP/1.1 for both ends: a codec without I/O, and the connections, pools, listeners and shards on top of it.
//!
//! The generator, the mock and the gateway share this crate. The meaning of a message (routes, stubs, retries) is left to them.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | a server's connections up to the request and from the answer on | [`server`] |
//! | connections that are made: dialled, pooled, used once; endpoints for operators; HTTP/2 as far as both ends share it | `client`, `operations`, [`http2`] |
//! | the codec driven over the halves of a stream | [`connection`] |
//! | bytes to messages and back, neither touching a socket | `codec` |
//! | listeners, streams with or without TLS and pipes between them, shards, descriptors | `transport` |
//! | how long a peer is waited for, whose turn it is when many are late together, exact timers; shutdown; the time of day; where something is, and what covers a path; counters that outlive their server | [`clock`], [`deadline`], [`timer`], [`patience`], [`url`], [`prefix`], [`counters_file`], [`Drain`] |

mod client;
pub mod clock;
mod codec;
pub mod connection;
pub mod counters_file;
pub mod deadline;
mod drain;
pub mod http2;
mod operations;
pub mod patience;
pub mod prefix;
pub mod server;
pub mod timer;
mod transport;
mod turn;
pub mod url;

pub use client::{call, connect, otlp, pool};
pub use codec::{decode, encode, error, fields, head, hop, limits};
pub use operations::{authority, exposition, meters, pages};
pub use transport::{descriptors, listen, shard, splice, stream, tls};

pub use client::call::{Answer, Call, call};
pub use client::connect::{ConnectError, connect, connect_stream, lacking};
pub use client::pool::{IdleConnections, Pool, PoolLimits};
pub use codec::error::{ProtocolError, ReadError};
pub use codec::fields::Fields;
pub use codec::head::{Framing, RequestHead, ResponseHead, Version};
pub use codec::hop::ConnectionOptions;
pub use codec::limits::Limits;
pub use connection::{
    ClientConnection, MessageReader, Output, RequestReader, ResponseReader, ServerConnection,
    SpliceError, TcpClient, TcpServer, pipe,
};
pub use counters_file::{CountersFile, Row};
pub use deadline::{Due, Elapsed, Watch};
pub use drain::{Drain, DrainBegins};
pub use patience::{Pace, Patience};
pub use transport::descriptors::connections_possible;
pub use transport::listen::{Listener, ShardListener};
pub use transport::shard::run_shards;
pub use transport::stream::{Bare, SharedStream, Stream};
pub use url::Url;
