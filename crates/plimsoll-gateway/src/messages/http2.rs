//! HTTP/2, as far as both sides share it: that of clients is [`crate::server::connection::http2`], that of upstreams [`crate::upstream`]. What it carries is put into the form of HTTP/1.1, stream by stream, and from there on treated like everything else:
//! one set of rules for framing, fields and limits, whatever a request came by and goes out by.
//!
//! ```text
//! client ==streams== connection --stream--> [pipe in memory] --> exchange --> [pipe] --upstream--> ==streams== upstream
//! ```
//!
//! Frames, windows and header compression are left to the crate `h2`. A pipe holds [`PIPE_BYTES`] in each direction, and nothing is taken off
//! a window before it has gone through: so a slow end slows the other here, too.

pub(crate) mod form;

use bytes::Bytes;
use h2::SendStream;
use std::future::poll_fn;

/// Bytes that a pipe holds in each direction.
pub(crate) const PIPE_BYTES: usize = 16 * 1024;

/// Frames for a client for whom there is no room: SETTINGS, which come first, and GOAWAY with ENHANCE_YOUR_CALM (RFC 9113, sections 6.5, 6.8 and 7).
pub(crate) const NO_ROOM: [u8; 26] = [
    0, 0, 0, 4, 0, 0, 0, 0, 0, // SETTINGS, empty
    0, 0, 8, 7, 0, 0, 0, 0, 0, // GOAWAY
    0, 0, 0, 0, 0, 0, 0, 11, // no stream was served
];

/// A stream that is over before what it carries is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

impl From<h2::Error> for Broken {
    fn from(_: h2::Error) -> Self {
        Self
    }
}

impl From<plimsoll_http::ReadError> for Broken {
    fn from(_: plimsoll_http::ReadError) -> Self {
        Self
    }
}

impl From<std::io::Error> for Broken {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

/// Sends data as the peer makes room for it.
pub(crate) async fn send(stream: &mut SendStream<Bytes>, data: &[u8]) -> Result<(), Broken> {
    let mut data = Bytes::copy_from_slice(data);
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let room = match stream.capacity() {
            0 => match poll_fn(|context| stream.poll_capacity(context)).await {
                Some(room) => room?,
                None => return Err(Broken),
            },
            room => room,
        };
        let part = data.split_to(room.min(data.len()));
        stream.send_data(part, false)?;
    }
    Ok(())
}
