//! A connection that speaks HTTP/1.1, and how often it may still be used.

use plimsoll_base::outcome::Outcome;
use plimsoll_http::{Limits, Stream, TcpClient};

/// An open connection.
#[derive(Debug)]
pub(in crate::engine) struct Connection {
    pub(in crate::engine) client: TcpClient,
    /// How many more exchanges it may carry.
    left: u32,
}

impl Connection {
    /// A connection over a fresh stream that may carry so many exchanges.
    pub(in crate::engine) fn new(stream: Stream, exchanges: u32) -> Self {
        Self {
            client: TcpClient::from_stream(stream, limits()),
            left: exchanges,
        }
    }

    /// An exchange is about to begin on it.
    pub(in crate::engine) fn begin(&mut self) {
        self.left -= 1;
    }

    /// Whether it may carry another exchange after one that ended so.
    pub(in crate::engine) fn may_go_on(&self, outcome: Outcome) -> bool {
        self.left > 0
            && matches!(outcome, Outcome::Answered(_))
            && self.client.responses.head().keep_alive()
            && self.client.output.queued() == 0
    }
}

/// Answers are read and thrown away, so their bodies may be of any length.
fn limits() -> Limits {
    Limits {
        body_bytes: u64::MAX,
        ..Limits::default()
    }
}
