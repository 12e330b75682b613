//! A connection of HTTP/2: each of its streams is an exchange in a task of its own, and ends with it.
//!
//! How connections and their floods are bounded is [`plimsoll_http::server::http2`]'s. Requests are counted when their head is there and
//! answers when they are handed to the connection, which has frames of other streams to send as well: there the mock's own time ends.

mod sending;
mod stream;

use crate::serve::shard::Shard;
use plimsoll_base::counters::Counter;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::server::http2::{Event, HandshakeError, Settings, Streams};
use plimsoll_http::shard::propagate_panic;
use plimsoll_http::{SharedStream, Stream};
use plimsoll_wiremock::request::Channel;
use plimsoll_wiremock::response::delivery::Ending;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use tokio::sync::Notify;

/// Streams that a client may have open at a time; as Jetty, and so WireMock, has it.
const STREAMS: u32 = 128;
/// Streams that a client may cut off at once, and for each second that passes: a load whose requests are given up in time does so all
/// the while, and is not to be counted as a flood.
const RESETS: u32 = 1_000;

/// State that the streams of a connection share.
#[derive(Debug)]
struct StreamState {
    shard: Rc<Shard>,
    channel: Channel,
    /// How the connection ends because a stub wants it so.
    broken: RefCell<Option<Broken>>,
    breaks: Notify,
}

/// How a connection ends because a stub wants it so.
#[derive(Debug)]
struct Broken {
    /// Bytes sent before.
    bytes: Vec<u8>,
    ending: Ending,
}

impl StreamState {
    fn break_off(&self, broken: Broken) {
        self.broken.replace(Some(broken));
        self.breaks.notify_one();
    }
}

/// Serves a connection until its end, whichever side that comes from. `front` has been read of it already.
pub(crate) async fn serve(stream: Stream, front: Vec<u8>, channel: Channel, shard: Rc<Shard>) {
    let io = SharedStream::new(stream, front);
    let settings = Settings {
        streams: STREAMS,
        resets: RESETS,
        resets_per_second: RESETS,
        head_bytes: shard.shared.limits.head_bytes,
    };
    let timeouts = shard.shared.timeouts;
    let streams = Streams::accept(io.clone(), settings, timeouts.head, timeouts.idle).await;
    let streams = match streams {
        Ok(streams) => streams,
        Err(HandshakeError::NotHttp2) => return,
        Err(HandshakeError::Late) => return shard.counters.add(Counter::TimedOut, 1),
    };
    let state = Rc::new(StreamState {
        shard,
        channel,
        broken: RefCell::default(),
        breaks: Notify::new(),
    });
    let Some(broken) = converse(streams, &state).await else {
        return;
    };
    match broken.ending {
        Ending::Reset => io.reset(),
        Ending::Close => {
            io.end_with(&broken.bytes)
                .await
                .ignored("the client is gone, which is what the stub wants of it");
        }
    }
}

/// Serves streams until the connection is over; how a stub wants it to end, if one does.
async fn converse(mut streams: Streams, state: &Rc<StreamState>) -> Option<Broken> {
    let shard = &state.shard;
    let mut drain = pin!(shard.drain.begins());
    let idle = || shard.shared.timeouts.idle;
    loop {
        let event = tokio::select! {
            biased;
            // Before anything that the connection would still send of the stream that breaks it off.
            () = state.breaks.notified() => return state.broken.take(),
            event = streams.next(idle, drain.as_mut()) => event,
        };
        match event {
            Event::Request(request, respond) => {
                let (state, cut_off) = (Rc::clone(state), streams.cut_off());
                streams.spawn(stream::serve(request, respond, state, cut_off));
            }
            Event::Ended(ended) => propagate_panic(ended),
            Event::Refused | Event::Leaving => {}
            Event::Flood => {
                shard.counters.add(Counter::Malformed, 1);
                return None;
            }
            Event::Over => return None,
        }
    }
}
