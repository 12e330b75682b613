//! HTTP/2 at both sides. What it carries is put into the form of HTTP/1.1, stream by stream, and from there on treated like everything else:
//! one set of rules for framing, fields and limits, whatever a request came by and goes out by.
//!
//! ```text
//! client ==streams== serving --stream--> [pipe in memory] --> exchange --> [pipe] --carrying--> ==streams== upstream
//! ```
//!
//! Frames, windows and header compression are left to the crate `h2`. A pipe holds [`PIPE_BYTES`] in each direction, and nothing is taken off
//! a window before it has gone through: so a slow end slows the other here, too.

pub(crate) mod carrying;
mod form;
mod frames;
#[cfg(feature = "fuzzing")]
pub(crate) mod rehearsal;
mod resets;
pub(crate) mod serving;
mod stream;

use bytes::Bytes;
use h2::SendStream;
use std::future::poll_fn;

/// What a pipe holds in each direction.
const PIPE_BYTES: usize = 16 * 1024;
/// Bytes of a body that may come on a stream before any of it was read.
const STREAM_WINDOW: u32 = 64 * 1024;
/// The same for all bodies of a connection.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes of a body that wait for the peer of a connection to take them.
const SEND_BUFFER: usize = 64 * 1024;

/// What a client is told for whom there is no room: SETTINGS, which come first, and GOAWAY with ENHANCE_YOUR_CALM (RFC 9113, sections 6.5, 6.8 and 7).
pub(crate) const NO_ROOM: [u8; 26] = [
    0, 0, 0, 4, 0, 0, 0, 0, 0, // SETTINGS, empty
    0, 0, 8, 7, 0, 0, 0, 0, 0, // GOAWAY
    0, 0, 0, 0, 0, 0, 0, 11, // no stream was served
];

/// A stream that is over before what it carries is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Broken;

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
async fn send(stream: &mut SendStream<Bytes>, data: &[u8]) -> Result<(), Broken> {
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
