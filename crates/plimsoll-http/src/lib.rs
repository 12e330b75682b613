//! HTTP/1.1 for both ends: a codec without I/O, and the connections, pools, listeners and shards on top of it.
//!
//! The generator, the mock and the gateway share this crate, so its parts are ordered by how much they do:
//! [`decode`] turns bytes into events and [`encode`] writes heads and chunks, neither touching a socket;
//! [`connection`] drives them over any stream; `connect`, [`listen`], [`stream`], [`tls`], [`pool`] and [`shard`] are Tokio's side;
//! [`http2`] is what a server of HTTP/2 takes from here; [`deadline`] and [`patience`] bound how long a peer is waited for, [`descriptors`] how many there may be;
//! [`otlp`] is one request to a collector; [`url`] says where something is and [`hop`] what of a message goes no further than its connection;
//! [`counters_file`] is what both servers leave behind of their counting; [`meters`] and [`exposition`] what they show of it while they run; [`pages`] and [`authority`] serve endpoints for operators.
//! [`server`] is a server's connections up to the request and from the answer on.
//! The meaning of a message (routes, stubs, retries) is left to the crates above.

pub mod authority;
mod buffer;
pub mod call;
pub mod connect;
pub mod connection;
pub mod counters_file;
pub mod deadline;
pub mod decode;
pub mod descriptors;
pub mod encode;
pub mod error;
pub mod exposition;
pub mod fields;
pub mod head;
pub mod hop;
pub mod http2;
pub mod limits;
pub mod listen;
pub mod meters;
pub mod otlp;
pub mod pages;
pub mod patience;
pub mod pool;
pub mod server;
pub mod shard;
pub mod stream;
pub mod tls;
pub mod url;

pub use call::{Answer, Call, call};
pub use connect::{ConnectError, connect, connect_stream, lacking};
pub use connection::{
    ClientConnection, MessageReader, Output, RequestReader, ResponseReader, ServerConnection,
    TcpClient, TcpServer, pipe,
};
pub use counters_file::{CountersFile, Row};
pub use deadline::{Elapsed, Watch};
pub use descriptors::connections_possible;
pub use error::{ProtocolError, ReadError};
pub use fields::Fields;
pub use head::{Framing, RequestHead, ResponseHead, Version};
pub use hop::ConnectionOptions;
pub use limits::Limits;
pub use listen::{Listener, accept, accept_or_tell};
pub use patience::{Pace, Patience};
pub use pool::{IdleConnections, Pool, PoolLimits};
pub use shard::run_shards;
pub use stream::{SharedStream, Stream};
pub use url::Url;
