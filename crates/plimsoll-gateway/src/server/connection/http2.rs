//! A client's connection of HTTP/2: each of its streams is an exchange of the gateway's. How connections and their floods are bounded is
//! [`plimsoll_http::server::http2`]'s.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzz_harness;
mod stream;

pub(crate) use stream::Caller;

use crate::shard::Shard;
use plimsoll_http::server::http2::{Event, HandshakeError, Settings, Streams};
use plimsoll_http::{SharedStream, Stream};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

/// Streams that a client may cut off for each second that passes, beyond the limit of the configuration.
const RESETS_PER_SECOND: u32 = 10;

/// Serves a connection until its end, whichever side that comes from. `front` has been read of it already.
pub(crate) async fn serve(shard: Rc<Shard>, stream: Stream, front: Vec<u8>, caller: Caller) {
    // Not kept: a connection outlives generations, its exchanges are each served by their own.
    let service = Arc::clone(&shard.current().service);
    let Some(limits) = service.http2 else {
        return;
    };
    let settings = Settings {
        streams: limits.streams,
        resets: limits.resets,
        resets_per_second: RESETS_PER_SECOND,
        head_bytes: service.limits.request.head_bytes,
    };
    let timeouts = service.timeouts;
    drop(service);
    let stream = SharedStream::new(stream, front);
    match Streams::accept(stream, settings, timeouts.request_head, timeouts.idle).await {
        Ok(streams) => converse(streams, shard, caller).await,
        Err(HandshakeError::NotHttp2) => shard.metrics.ended.malformed.add(1),
        Err(HandshakeError::Late) => shard.metrics.ended.slow_head.add(1),
    }
}

/// Serves streams until the connection is over.
async fn converse(mut streams: Streams, shard: Rc<Shard>, mut caller: Caller) {
    let metrics = &shard.metrics;
    let mut drain = pin!(shard.drain.begins());
    let idle = || shard.timeouts().idle;
    // One exchange's defect is not the others' end; the panic has told where it happened.
    let count_panic = |ended: Result<(), _>| metrics.panicked.add(u64::from(ended.is_err()));
    loop {
        match streams.next(idle, drain.as_mut()).await {
            Event::Request(request, respond) => {
                let (shard, caller) = (Rc::clone(&shard), caller.next(&shard));
                let (open, cut_off) = (Rc::clone(&shard.streams), streams.cut_off());
                streams.spawn(async move {
                    let ending = stream::serve(shard, caller, request, respond, &cut_off).await;
                    drop(open);
                    ending
                });
            }
            Event::Refused => metrics.streams_refused.add(1),
            Event::Ended(ended) => count_panic(ended),
            Event::Leaving => {
                let idle = !shard.drain.has_begun();
                metrics.ended.idle.add(u64::from(idle));
            }
            Event::Flood => {
                metrics.ended.flood.add(1);
                break;
            }
            Event::Over => break,
        }
    }
    // Exchanges under way find their streams gone; their ends are awaited, because they are counted.
    streams.close(count_panic).await;
}
