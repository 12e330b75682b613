//! A connection that has switched to another protocol: bytes both ways, until both ends have finished or nothing moves any more.
//!
//! Each direction holds one read of what it moves and reads no more before that is written, so a slow reader slows the sender. The end of
//! one direction is passed on and leaves the other open. A switch is final: the client's connection ends with it.

use super::{After, ServedBy};
use crate::metrics::RouteMetrics;
use crate::shard::client::Client;
use plimsoll_http::decode::Head;
use plimsoll_http::{Elapsed, MessageReader, Output, TcpClient};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// How many bytes have moved, which [`super::Progress`] counts.
pub(super) struct Moved<'a> {
    pub(super) from_client: &'a Cell<u64>,
    pub(super) to_client: &'a Cell<u64>,
}

/// Moves bytes until the connection is over. What becomes of the client's is returned, the upstream's ends here.
pub(super) async fn run(
    under: ServedBy<'_>,
    client: &mut Client,
    mut upstream: Box<TcpClient>,
    route: usize,
    moved: &Moved<'_>,
) -> After {
    let ServedBy { shard, generation } = under;
    let metrics = generation.tally.route(Some(route));
    let open = Open::new(metrics);
    let last = Cell::new(Instant::now());
    let ended = {
        let TcpClient { responses, output } = &mut *upstream;
        let connection = &mut client.connection;
        let up = one_way(&mut connection.requests, output, moved.from_client, &last);
        let down = one_way(responses, &mut connection.output, moved.to_client, &last);
        let (up, down) = (pin!(up), pin!(down));
        let limit = generation.service.timeouts.upgraded;
        client
            .watch
            .until(|| last.get() + limit, both(up, down))
            .await
    };
    drop(open);
    match ended {
        Ok(Ok(())) => After::Close,
        Ok(Err(_)) => {
            upstream.reset();
            After::Abort
        }
        Err(Elapsed) => {
            shard.metrics.ended.upgraded_idle.add(1);
            After::Close
        }
    }
}

/// A tunnel that is open, until it is dropped: it may also be cut off.
struct Open<'a>(&'a RouteMetrics);

impl<'a> Open<'a> {
    fn new(metrics: &'a RouteMetrics) -> Self {
        metrics.upgraded.add(1);
        Self(metrics)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.upgraded_ended.add(1);
    }
}

/// Runs both directions to their end, or to the failure of one.
async fn both(
    mut up: Pin<&mut impl Future<Output = io::Result<()>>>,
    mut down: Pin<&mut impl Future<Output = io::Result<()>>>,
) -> io::Result<()> {
    let (mut up_open, mut down_open) = (true, true);
    poll_fn(|cx| {
        if up_open && let Poll::Ready(result) = up.as_mut().poll(cx) {
            up_open = false;
            result?;
        }
        if down_open && let Poll::Ready(result) = down.as_mut().poll(cx) {
            down_open = false;
            result?;
        }
        match up_open || down_open {
            true => Poll::Pending,
            false => Poll::Ready(Ok(())),
        }
    })
    .await
}

/// Moves what comes from `source` to `sink`, its end included.
async fn one_way<R: AsyncRead + Unpin, H: Head, W: AsyncWrite + Unpin>(
    source: &mut MessageReader<R, H>,
    sink: &mut Output<W>,
    bytes: &Cell<u64>,
    last: &Cell<Instant>,
) -> io::Result<()> {
    while let Some(data) = source.next_bytes().await? {
        bytes.set(bytes.get() + data.len() as u64);
        sink.buffer().extend_from_slice(data);
        last.set(Instant::now());
        sink.flush().await?;
        last.set(Instant::now());
    }
    sink.shutdown().await
}
