//! A client's connection of HTTP/2: each of its streams is an exchange in a task of its own.
//!
//! What a client can make it hold is bounded: by the number of exchanges, which those of streams that it has reset count towards until they are
//! over; by how many streams it may cut off ([`resets`]); by how many frames may carry nothing ([`frames`]); by the windows of what
//! it sends; and, in the crate `h2`, by the frames of a header block, by data frames of next to nothing, and by how many streams may be reset
//! unseen or by mistakes of its own.

mod frames;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzz_harness;
mod resets;
mod stream;

pub(crate) use stream::Caller;

use crate::http2::{CONNECTION_WINDOW, SEND_BUFFER, STREAM_WINDOW};
use crate::shard::Shard;
use bytes::Bytes;
use frames::{Budget, Counted};
use h2::Reason;
use h2::server::{Builder, Connection};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::{SharedStream, Stream};
use resets::{Ending, Resets};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Streams that the client has reset before they were looked at; one more ends the connection.
const UNSEEN_RESETS: usize = 20;
/// Streams of a connection that may be reset for mistakes in what the client sends, or refused because there are too many; one more ends it.
const MISTAKES: usize = 1024;
/// Exchanges under way for each stream that may be open: one that is answered, or reset, takes a moment to end.
const MOST_EXCHANGES: usize = 2;
/// How long a client that was told to leave has for it once nothing is under way.
const LEAVE: Duration = Duration::from_secs(2);

/// Serves a connection until its end, whichever side that comes from. `front` is what of it has been read already.
pub(crate) async fn serve(shard: Rc<Shard>, stream: Stream, front: Vec<u8>, caller: Caller) {
    // Not kept: a connection outlives generations, its exchanges are each served by their own.
    let service = Arc::clone(&shard.current().service);
    let Some(limits) = service.http2 else {
        return;
    };
    let head_bytes = u32::try_from(service.limits.request.head_bytes).unwrap_or(u32::MAX);
    let patience = service.timeouts.request_head;
    drop(service);
    let budget = Rc::new(RefCell::new(Budget::new(Instant::now())));
    let stream = Counted::new(SharedStream::new(stream, front), Rc::clone(&budget));
    let handshake = Builder::new()
        .max_concurrent_streams(limits.streams)
        .max_pending_accept_reset_streams(UNSEEN_RESETS)
        .max_local_error_reset_streams(Some(MISTAKES))
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_header_list_size(head_bytes)
        .handshake::<_, Bytes>(stream);
    match tokio::time::timeout(patience, handshake).await {
        Ok(Ok(connection)) => {
            let streams = Streams {
                exchanges: JoinSet::new(),
                cut_off: Rc::default(),
                most: MOST_EXCHANGES * limits.streams as usize,
                resets: Resets::new(limits.resets, Instant::now()),
                budget,
                caller,
            };
            converse(connection, shard, streams).await;
        }
        // Whatever it is, it does not speak HTTP/2.
        Ok(Err(_)) => {
            shard.metrics.ended.malformed.add(1);
        }
        Err(_) => {
            shard.metrics.ended.slow_head.add(1);
        }
    }
}

/// What happened next on a connection.
enum Event {
    /// A stream has begun.
    Begun,
    /// More frames came that carry nothing than may.
    Noise,
    Answered(Result<Ending, JoinError>),
    Drain,
    Quiet,
    Over,
    /// The client sends heads, or what it must not, without end.
    Flood,
}

/// The streams of a connection.
struct Streams {
    exchanges: JoinSet<Ending>,
    /// Streams that the client has cut off since they were counted last; their exchanges may go on for a while.
    cut_off: Rc<Cell<u32>>,
    /// How many exchanges there may be.
    most: usize,
    resets: Resets,
    /// What the client has left of frames that carry nothing.
    budget: Rc<RefCell<Budget>>,
    caller: Caller,
}

impl Streams {
    /// Whether the client has cut off too many of them, or sent too much that carries nothing.
    fn are_a_flood(&mut self) -> bool {
        let cut_off = self.cut_off.take();
        (cut_off > 0 && !self.resets.cut_off(cut_off, Instant::now()))
            || self.budget.borrow().is_spent()
    }
}

/// Serves streams until the connection is over.
async fn converse(
    mut connection: Connection<Counted<SharedStream>, Bytes>,
    shard: Rc<Shard>,
    mut streams: Streams,
) {
    let drained = shard.drain.notified();
    let mut drained = pin!(drained);
    let mut leaving = false;
    let mut quiet_until = Instant::now() + shard.timeouts().idle;
    loop {
        // Nobody is told to stop again who began too late to hear it.
        let event = match shard.draining.get() && !leaving {
            true => Event::Drain,
            false => {
                let (began, quiet) = (drained.as_mut(), quiet_until);
                next(&mut connection, &mut streams, &shard, began, leaving, quiet).await
            }
        };
        if streams.are_a_flood() {
            shard.metrics.ended.flood.add(1);
            calm(&mut connection).await;
            break;
        }
        match event {
            Event::Begun | Event::Noise => {}
            Event::Answered(ended) => {
                // One exchange's defect is not the others' end; the panic has told where it happened.
                shard.metrics.panicked.add(u64::from(ended.is_err()));
                let ending = ended.unwrap_or(Ending::CutOff);
                streams.resets.ended(ending, Instant::now());
                let patience = if leaving {
                    LEAVE
                } else {
                    shard.timeouts().idle
                };
                quiet_until = Instant::now() + patience;
            }
            Event::Quiet if leaving => return,
            Event::Drain | Event::Quiet => {
                shard
                    .metrics
                    .ended
                    .idle
                    .add(u64::from(!shard.draining.get()));
                leaving = true;
                quiet_until = Instant::now() + LEAVE;
                connection.graceful_shutdown();
            }
            Event::Flood => {
                shard.metrics.ended.flood.add(1);
                break;
            }
            Event::Over => break,
        }
    }
    // What is under way finds its stream gone; it is seen through, for it is counted.
    drop(connection);
    while streams.exchanges.join_next().await.is_some() {}
}

/// Tells the client why its connection ends, if it reads that.
async fn calm(connection: &mut Connection<Counted<SharedStream>, Bytes>) {
    connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
    let closed = poll_fn(|context| connection.poll_closed(context));
    tokio::time::timeout(LEAVE, closed)
        .await
        .ignored("it does not");
}

async fn next(
    connection: &mut Connection<Counted<SharedStream>, Bytes>,
    streams: &mut Streams,
    shard: &Rc<Shard>,
    drained: Pin<&mut impl Future<Output = ()>>,
    leaving: bool,
    quiet_until: Instant,
) -> Event {
    let Streams {
        exchanges,
        cut_off,
        most,
        budget,
        caller,
        ..
    } = streams;
    // Whoever reads finds that out, and reads no further.
    let spent = poll_fn(|_| match budget.borrow().is_spent() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    let quiet = exchanges.is_empty();
    tokio::select! {
        biased;
        Some(ended) = exchanges.join_next() => Event::Answered(ended),
        accepted = connection.accept() => match accepted {
            Some(Ok((_, mut respond))) if exchanges.len() >= *most => {
                shard.metrics.streams_refused.add(1);
                respond.send_reset(Reason::REFUSED_STREAM);
                Event::Begun
            }
            Some(Ok((request, respond))) => {
                let (shard, caller) = (Rc::clone(shard), caller.next(shard));
                let (open, cut_off) = (Rc::clone(&shard.streams), Rc::clone(cut_off));
                exchanges.spawn_local(async move {
                    let ending = stream::serve(shard, caller, request, respond, &cut_off).await;
                    drop(open);
                    ending
                });
                Event::Begun
            }
            Some(Err(error)) if is_flood(&error) => Event::Flood,
            // Streams that are under way end with it.
            Some(Err(_)) | None => Event::Over,
        },
        () = spent => Event::Noise,
        () = drained, if !leaving => Event::Drain,
        () = tokio::time::sleep_until(quiet_until), if quiet => Event::Quiet,
    }
}

/// Whether this side has ended the connection because of how the client behaves, and not for a mistake in what it sent.
fn is_flood(error: &h2::Error) -> bool {
    error.is_library() && error.reason() == Some(Reason::ENHANCE_YOUR_CALM)
}
