//! A client's connection of HTTP/2: each of its streams is an exchange in a task of its own.
//!
//! What a client can make it hold is bounded: by the number of exchanges, which those of streams that it has reset count towards until they are
//! over; by the windows of what it sends; and, in the crate `h2`, by the frames of a header block and by how many streams may be reset.

use super::stream;
use crate::client::Peer;
use crate::shard::Shard;
use bytes::Bytes;
use h2::Reason;
use h2::server::{Builder, Connection};
use plimsoll_http::{SharedStream, Stream};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Streams that the client has reset before they were looked at; one more ends the connection.
const UNSEEN_RESETS: usize = 20;
/// Exchanges under way for each stream that may be open: one that is answered, or reset, takes a moment to end.
const MOST_EXCHANGES: usize = 2;
/// How long a client that was told to leave has for it once nothing is under way.
const LEAVE: Duration = Duration::from_secs(2);

/// Serves a connection until its end, whichever side that comes from. `front` is what of it has been read already.
pub(crate) async fn serve(shard: Rc<Shard>, stream: Stream, front: Vec<u8>, peer: Peer) {
    // Not kept: a connection outlives generations, its exchanges are each served by their own.
    let service = Arc::clone(&shard.current().service);
    let Some(limits) = service.http2 else {
        return;
    };
    let head_bytes = u32::try_from(service.limits.request.head_bytes).unwrap_or(u32::MAX);
    let patience = service.timeouts.request_head;
    drop(service);
    let handshake = Builder::new()
        .max_concurrent_streams(limits.streams)
        .max_pending_accept_reset_streams(UNSEEN_RESETS)
        .initial_window_size(super::STREAM_WINDOW)
        .initial_connection_window_size(super::CONNECTION_WINDOW)
        .max_send_buffer_size(super::SEND_BUFFER)
        .max_header_list_size(head_bytes)
        .handshake::<_, Bytes>(SharedStream::new(stream, front));
    match tokio::time::timeout(patience, handshake).await {
        Ok(Ok(connection)) => {
            let most = MOST_EXCHANGES * limits.streams as usize;
            converse(connection, shard, peer, most).await;
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
    Answered(Result<(), JoinError>),
    Drain,
    Quiet,
    Over,
}

/// Serves streams until the connection is over.
async fn converse(
    mut connection: Connection<SharedStream, Bytes>,
    shard: Rc<Shard>,
    peer: Peer,
    most: usize,
) {
    let drained = shard.drain.notified();
    let mut drained = pin!(drained);
    let mut exchanges = JoinSet::new();
    let mut leaving = false;
    let mut quiet_until = Instant::now() + shard.timeouts().idle;
    loop {
        // Nobody is told to stop again who began too late to hear it.
        let event = match shard.draining.get() && !leaving {
            true => Event::Drain,
            false => {
                let (began, quiet) = (drained.as_mut(), quiet_until);
                let streams = (&mut exchanges, most);
                next(
                    &mut connection,
                    streams,
                    &shard,
                    &peer,
                    began,
                    leaving,
                    quiet,
                )
                .await
            }
        };
        match event {
            Event::Begun => {}
            Event::Answered(ended) => {
                // One exchange's defect is not the others' end; the panic has told where it happened.
                shard.metrics.panicked.add(u64::from(ended.is_err()));
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
            Event::Over => break,
        }
    }
    // What is under way finds its stream gone; it is seen through, for it is counted.
    while exchanges.join_next().await.is_some() {}
}

async fn next(
    connection: &mut Connection<SharedStream, Bytes>,
    (exchanges, most): (&mut JoinSet<()>, usize),
    shard: &Rc<Shard>,
    peer: &Peer,
    drained: Pin<&mut impl Future<Output = ()>>,
    leaving: bool,
    quiet_until: Instant,
) -> Event {
    let quiet = exchanges.is_empty();
    tokio::select! {
        biased;
        Some(ended) = exchanges.join_next() => Event::Answered(ended),
        accepted = connection.accept() => match accepted {
            Some(Ok((_, mut respond))) if exchanges.len() >= most => {
                shard.metrics.streams_refused.add(1);
                respond.send_reset(Reason::REFUSED_STREAM);
                Event::Begun
            }
            Some(Ok((request, respond))) => {
                let exchange = stream::serve(Rc::clone(shard), peer.clone(), request, respond);
                let open = Rc::clone(&shard.streams);
                exchanges.spawn_local(async move {
                    exchange.await;
                    drop(open);
                });
                Event::Begun
            }
            // Streams that are under way end with it.
            Some(Err(_)) | None => Event::Over,
        },
        () = drained, if !leaving => Event::Drain,
        () = tokio::time::sleep_until(quiet_until), if quiet => Event::Quiet,
    }
}
