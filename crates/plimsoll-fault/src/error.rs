//! Why something that was asked for is not done.

use std::io;
use std::net::SocketAddr;

/// A refusal by the API, in Toxiproxy's words and with its status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The status of the answer.
    pub status: u16,
    /// Why.
    pub message: String,
}

impl ApiError {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub fn bad_body(why: impl std::fmt::Display) -> Self {
        Self::new(400, format!("bad request body: {why}"))
    }

    pub fn missing(field: impl std::fmt::Display) -> Self {
        Self::new(400, format!("missing required field: {field}"))
    }

    pub fn invalid_stream() -> Self {
        let message = "stream was invalid, can be either upstream or downstream";
        Self::new(400, message)
    }

    pub fn invalid_type() -> Self {
        Self::new(400, "invalid toxic type")
    }

    pub fn no_proxy() -> Self {
        Self::new(404, "proxy not found")
    }

    pub fn no_toxic() -> Self {
        Self::new(404, "toxic not found")
    }

    pub fn proxy_exists() -> Self {
        Self::new(409, "proxy already exists")
    }

    pub fn toxic_exists() -> Self {
        Self::new(409, "toxic already exists")
    }

    /// A restriction of ours that Toxiproxy does not have.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// The system does not let us listen there, in the words of Go.
    pub fn bind(listen: &str, error: &io::Error) -> Self {
        let text = error.to_string();
        let words = text
            .split_once(" (os error")
            .map_or(&*text, |(words, _)| words);
        let words = words.to_lowercase();
        Self::listen(listen, format_args!("bind: {words}"))
    }

    /// The address is none.
    pub fn listen(listen: &str, why: impl std::fmt::Display) -> Self {
        Self::new(500, format!("listen tcp {listen}: {why}"))
    }
}

/// Why there is no fault proxy.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(String),
    /// Nobody can listen there.
    #[error("listening on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system lacks something that serving needs.
    #[error("serving: {0}")]
    Serve(#[from] io::Error),
}
