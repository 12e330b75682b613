//! A connection of HTTP/2: each of its streams is an exchange in a task of its own, and ends with it.
//!
//! What a client can make it hold is bounded: by the number of streams, by the windows of what it sends, and by the buffer of what it does
//! not take. Requests are counted when their head is there and answers when they are handed to the connection, which has frames of other
//! streams to send as well: that is where the mock's own time ends.

mod sending;
mod stream;

use crate::shard::Shard;
use bytes::Bytes;
use h2::server::{Builder, Connection};
use plimsoll_base::counters::Counter;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::{SharedStream, Stream};
use plimsoll_wiremock::delivery::Ending;
use plimsoll_wiremock::request::Channel;
use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Streams that a client may have open at a time; as Jetty, and so WireMock, has it.
const STREAMS: u32 = 128;
/// Bytes of a body that may come before any of it was read.
const STREAM_WINDOW: u32 = 64 * 1024;
/// The same for all bodies of a connection.
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Bytes of an answer that wait for their client to take them.
const SEND_BUFFER: usize = 64 * 1024;
/// How long a client that was told to leave has for it once nothing is under way.
const LEAVE: Duration = Duration::from_secs(2);

/// What the streams of a connection share.
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
    /// What is sent before.
    bytes: Vec<u8>,
    ending: Ending,
}

impl StreamState {
    fn break_off(&self, broken: Broken) {
        self.broken.replace(Some(broken));
        self.breaks.notify_one();
    }
}

/// Serves a connection until its end, whichever side that comes from. `front` is what of it has been read already.
pub(crate) async fn serve(stream: Stream, front: Vec<u8>, channel: Channel, shard: Rc<Shard>) {
    let io = SharedStream::new(stream, front);
    let head_bytes = u32::try_from(shard.shared.limits.head_bytes).unwrap_or(u32::MAX);
    let handshake = Builder::new()
        .max_concurrent_streams(STREAMS)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_header_list_size(head_bytes)
        .handshake::<_, Bytes>(io.clone());
    let mut connection = match tokio::time::timeout(shard.shared.timeouts.head, handshake).await {
        Ok(Ok(connection)) => connection,
        // Whatever it is, it does not speak HTTP/2.
        Ok(Err(_)) => return,
        Err(_) => return shard.counters.add(Counter::TimedOut, 1),
    };
    let stage = Rc::new(StreamState {
        shard,
        channel,
        broken: RefCell::default(),
        breaks: Notify::new(),
    });
    let broken = converse(&mut connection, &stage).await;
    drop(connection);
    let Some(broken) = broken else { return };
    match broken.ending {
        Ending::Reset => io.reset(),
        Ending::Close => {
            io.end_with(&broken.bytes)
                .await
                .ignored("the client is gone, which is what the stub wants of it");
        }
    }
}

/// What happened next on a connection.
enum Event {
    /// A stream has begun.
    Begun,
    Answered(Result<(), JoinError>),
    Broken,
    Stop,
    Quiet,
    Over,
}

/// Serves streams until the connection is over; how a stub wants it to end, if one does.
async fn converse(
    connection: &mut Connection<SharedStream, Bytes>,
    stage: &Rc<StreamState>,
) -> Option<Broken> {
    let shard = &stage.shard;
    let mut stop = pin!(shard.stop.notified());
    let mut exchanges = JoinSet::new();
    let mut quiet_until = Instant::now() + shard.shared.timeouts.idle;
    // Nobody is told to stop again who began too late to hear it.
    let mut leaving = shard.stopping.get();
    if leaving {
        quiet_until = Instant::now() + LEAVE;
        connection.graceful_shutdown();
    }
    loop {
        match next(
            connection,
            &mut exchanges,
            stage,
            stop.as_mut(),
            leaving,
            quiet_until,
        )
        .await
        {
            Event::Begun => {}
            Event::Answered(ended) => {
                if let Err(error) = ended
                    && error.is_panic()
                {
                    std::panic::resume_unwind(error.into_panic());
                }
                let patience = if leaving {
                    LEAVE
                } else {
                    shard.shared.timeouts.idle
                };
                quiet_until = Instant::now() + patience;
            }
            Event::Broken => return stage.broken.take(),
            Event::Quiet if leaving => return None,
            Event::Stop | Event::Quiet => {
                leaving = true;
                quiet_until = Instant::now() + LEAVE;
                connection.graceful_shutdown();
            }
            Event::Over => return None,
        }
    }
}

async fn next(
    connection: &mut Connection<SharedStream, Bytes>,
    exchanges: &mut JoinSet<()>,
    stage: &Rc<StreamState>,
    stop: Pin<&mut impl Future<Output = ()>>,
    leaving: bool,
    quiet_until: Instant,
) -> Event {
    let quiet = exchanges.is_empty();
    tokio::select! {
        biased;
        () = stage.breaks.notified() => Event::Broken,
        Some(ended) = exchanges.join_next() => Event::Answered(ended),
        accepted = connection.accept() => match accepted {
            Some(Ok((request, respond))) => {
                exchanges.spawn_local(stream::serve(request, respond, Rc::clone(stage)));
                Event::Begun
            }
            // Streams that are under way end with it.
            Some(Err(_)) | None => Event::Over,
        },
        () = stop, if !leaving => Event::Stop,
        () = tokio::time::sleep_until(quiet_until), if quiet => Event::Quiet,
    }
}
