//! Connections: the codec driven over a pair of stream halves.
//!
//! Both kinds are two public halves, a reader and an [`Output`], that can be borrowed apart: a proxy relays a response while the
//! request is still coming in. Deadlines are the caller's: every method may be cancelled, and only a cancelled `flush` may be resumed.

mod output;
mod pipe;
mod reader;
mod tcp;

pub use output::Output;
pub use pipe::pipe;
pub use reader::{MessageReader, RequestReader, ResponseReader, SpliceError};
pub use tcp::{TcpClient, TcpServer};

use crate::codec::limits::Limits;

/// The server's end of a connection.
#[derive(Debug)]
pub struct ServerConnection<R, W> {
    /// Where requests come from.
    pub requests: RequestReader<R>,
    /// Where responses go.
    pub output: Output<W>,
}

impl<R, W> ServerConnection<R, W> {
    /// A server connection over two halves of a stream.
    pub fn new(read: R, write: W, limits: Limits) -> Self {
        Self {
            requests: RequestReader::new(read, limits),
            output: Output::new(write),
        }
    }
}

/// The client's end of a connection.
#[derive(Debug)]
pub struct ClientConnection<R, W> {
    /// Where responses come from.
    pub responses: ResponseReader<R>,
    /// Where requests go.
    pub output: Output<W>,
}

impl<R, W> ClientConnection<R, W> {
    /// A client connection over two halves of a stream.
    pub fn new(read: R, write: W, limits: Limits) -> Self {
        Self {
            responses: ResponseReader::new(read, limits),
            output: Output::new(write),
        }
    }
}
