//! Moves a body from one connection to another, never holding more than one read and one write of it.
//!
//! Bytes that have arrived together leave together: pieces are collected until the source has no more at hand or enough is
//! queued, and large ones are written from where they were read, or not even read where nobody looks at them. While the sink takes
//! nothing no more is read than may be queued, so a slow reader slows the producer.

mod flow;
mod speed;

pub(super) use self::flow::{Coding, Flow};

use self::speed::Speed;
use super::party::Party;
use crate::messages::fields::{Kind, kind};
use crate::routing::outgoing::withheld::Withheld;
use plimsoll_http::decode::Head;
use plimsoll_http::{Bare, Fields, MessageReader, Output, ReadError, SpliceError, encode};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// Queued bytes beyond which nothing more is read.
const QUEUED_BYTES: usize = 64 * 1024;
/// A piece of as many bytes is written from where it was read. Copying fewer costs less than a write of their own.
const WORTH_A_WRITE: usize = 16 * 1024;

/// Why a body did not arrive whole.
#[derive(Debug)]
pub(super) enum PumpError {
    /// The source failed or ended too early.
    Source(ReadError),
    /// The sink takes no more.
    Sink,
}

/// Moves the rest of `source`'s message to `sink`, behind what is queued there already, and flushes it.
pub(super) async fn pump<R: AsyncRead + Bare + Unpin, W: AsyncWrite + Bare + Unpin>(
    source: &mut MessageReader<R, impl Head>,
    sink: &mut Output<W>,
    flow: &Flow<'_>,
) -> Result<(), PumpError> {
    let mut speed = Speed::default();
    loop {
        let spliced = match speed.most() {
            Some(most) if !flow.is_looked_at() => splice_piece(source, sink, flow, most).await?,
            _ => None,
        };
        let (moved, is_spliced) = if let Some(count) = spliced {
            (count, true)
        } else {
            let data = {
                let mut next = pin!(source.next_data());
                let at_hand = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await;
                match at_hand {
                    Poll::Ready(data) => data,
                    Poll::Pending => {
                        flush(sink, flow).await?;
                        wait(flow, next).await
                    }
                }
            };
            let Some(data) = data.map_err(PumpError::Source)? else {
                break;
            };
            let count = data.len();
            if count >= WORTH_A_WRITE {
                let end = begin(sink, flow, data);
                let written = sink.write_behind([data, end]).await;
                written.map_err(|_| PumpError::Sink)?;
            } else {
                pass(sink, flow, data);
            }
            (count, false)
        };
        speed.moved(moved, sink.queued(), is_spliced);
        let is_full = sink.queued() >= QUEUED_BYTES;
        if is_full {
            flush(sink, flow).await?;
        }
        if is_full || moved >= WORTH_A_WRITE {
            // A body that flows fast takes turns with other exchanges, and is not silent for waiting for nobody but them.
            flow.progress.moved(Instant::now());
            tokio::task::yield_now().await;
        }
    }
    if flow.coding == Coding::Chunked {
        last_chunk(sink.buffer(), source.trailers(), flow.withheld);
    }
    flush(sink, flow).await
}

/// Moves a piece that is not read, and says how many bytes it has; none where that is not possible.
async fn splice_piece<R: Bare, W: Bare>(
    source: &mut MessageReader<R, impl Head>,
    sink: &mut Output<W>,
    flow: &Flow<'_>,
    most: usize,
) -> Result<Option<usize>, PumpError> {
    let at_hand = poll_fn(|cx| Poll::Ready(source.poll_splice(cx, sink, most))).await;
    let spliced = match at_hand {
        Poll::Ready(spliced) => spliced,
        // Nothing is queued that would have to be written before.
        Poll::Pending => wait(flow, poll_fn(|cx| source.poll_splice(cx, sink, most))).await,
    };
    let spliced = spliced.map_err(|error| match error {
        SpliceError::Source(error) => PumpError::Source(error),
        SpliceError::Sink(_) => PumpError::Sink,
    })?;
    flow.count(spliced.unwrap_or(0));
    Ok(spliced)
}

/// Queues a piece of the body for `sink`.
pub(super) fn pass<W: AsyncWrite + Unpin>(sink: &mut Output<W>, flow: &Flow<'_>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let end = begin(sink, flow, data);
    for bytes in [data, end] {
        sink.buffer().extend_from_slice(bytes);
    }
}

/// Takes note of a piece of the body, which is not empty, and queues what goes before it. Returns what goes behind it.
fn begin<W: AsyncWrite + Unpin>(
    sink: &mut Output<W>,
    flow: &Flow<'_>,
    data: &[u8],
) -> &'static [u8] {
    flow.count(data.len());
    flow.progress.passed(flow.source, data);
    if let Some(copy) = flow.copy {
        copy.add(data);
    }
    match flow.coding {
        Coding::Identity => b"",
        Coding::Chunked => {
            encode::chunk_size(sink.buffer(), data.len());
            encode::CHUNK_END
        }
    }
}

/// Takes at least `enough` bytes of `source`'s body, or all of it. They have not passed yet.
pub(super) async fn peek(
    source: &mut MessageReader<impl AsyncRead + Unpin, impl Head>,
    flow: &Flow<'_>,
    enough: usize,
) -> Result<Vec<u8>, PumpError> {
    let mut taken = Vec::new();
    while taken.len() < enough {
        let data = wait(flow, source.next_data()).await;
        let Some(data) = data.map_err(PumpError::Source)? else {
            break;
        };
        taken.extend_from_slice(data);
    }
    Ok(taken)
}

/// Whether the rest of `source`'s body has arrived already and is of no more than what may be queued; it is dropped.
pub(super) async fn is_at_hand(
    source: &mut MessageReader<impl AsyncRead + Unpin, impl Head>,
) -> bool {
    let mut dropped = 0;
    while dropped < QUEUED_BYTES {
        let mut next = pin!(source.next_data());
        match poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
            Poll::Ready(Ok(Some(data))) => dropped += data.len(),
            Poll::Ready(Ok(None)) => return true,
            Poll::Ready(Err(_)) | Poll::Pending => return false,
        }
    }
    false
}

/// Ends a chunked body. Trailers that could pass for fields of the head are left out, and so are those that no head may have.
fn last_chunk(out: &mut Vec<u8>, trailers: &Fields, withheld: Withheld<'_>) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers
        .iter()
        .filter(|(name, _)| kind(name) == Kind::EndToEnd && !withheld.holds(name))
    {
        encode::field(out, name, value);
    }
    out.extend_from_slice(b"\r\n");
}

/// Awaits the source.
async fn wait<T>(flow: &Flow<'_>, next: impl Future<Output = T>) -> T {
    flow.credit(flow.source, flow.bytes.get());
    flow.wait_for(flow.source, next).await
}

/// Writes what is queued, and awaits the sink, anew for each part that it takes, if it does not take it at once.
pub(super) async fn flush<W: AsyncWrite + Unpin>(
    sink: &mut Output<W>,
    flow: &Flow<'_>,
) -> Result<(), PumpError> {
    let taker = match flow.source {
        Party::Client => Party::Upstream,
        Party::Upstream => Party::Client,
    };
    loop {
        let queued = sink.queued() as u64;
        let mut flushed = pin!(sink.flush_some());
        let at_once = poll_fn(|cx| Poll::Ready(flushed.as_mut().poll(cx))).await;
        let is_more = match at_once {
            Poll::Ready(is_more) => is_more,
            Poll::Pending => {
                flow.credit(taker, flow.bytes.get().saturating_sub(queued));
                flow.wait_for(taker, flushed).await
            }
        };
        if !is_more.map_err(|_| PumpError::Sink)? {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Timeouts;
    use crate::exchange::progress::Progress;
    use plimsoll_http::{Limits, ServerConnection, Stream, TcpClient, TcpServer};
    use plimsoll_testbed::port;
    use std::cell::Cell;
    use std::io;
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::Context;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, ReadBuf, duplex};
    use tokio::net::TcpStream;

    const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\n";
    const SECOND: Duration = Duration::from_secs(1);

    fn limits() -> Limits {
        Limits {
            body_bytes: u64::MAX,
            ..Limits::default()
        }
    }

    fn flow(coding: Coding, progress: &Progress) -> Flow<'_> {
        Flow {
            coding,
            source: Party::Client,
            bytes: &progress.bytes_in,
            copy: None,
            withheld: Withheld::default(),
            patience: Cell::new(progress.patience()),
            progress,
        }
    }

    /// Pieces of every size, to a reader that takes them at once and to one that takes a few bytes at a time.
    #[tokio::test]
    async fn a_body_in_large_pieces_arrives_as_it_was() {
        let body: Vec<u8> = (0..=250).cycle().take(300_000).collect();
        for (coding, framing) in [
            (Coding::Chunked, "Transfer-Encoding: chunked"),
            (Coding::Identity, "Content-Length: 300000"),
        ] {
            for room in [1_000, 40_000, 1_000_000] {
                let progress = Progress::new(Instant::now(), &Timeouts::of(60 * SECOND));
                let flow = flow(coding, &progress);
                let sent = [
                    format!("{HEAD}Content-Length: 300000\r\n\r\n").as_bytes(),
                    &body,
                ]
                .concat();
                let (near, far) = duplex(room);
                let ends = ServerConnection::new(&sent[..], near, limits());
                let (mut source, mut sink) = (ends.requests, ends.output);
                let pumping = async {
                    assert!(source.next_head().await.unwrap());
                    let head = format!("{HEAD}{framing}\r\n\r\n");
                    sink.buffer().extend_from_slice(head.as_bytes());
                    pump(&mut source, &mut sink, &flow).await.unwrap();
                };
                let mut arrived = Vec::new();
                let arriving = async {
                    let mut requests =
                        ServerConnection::new(far, tokio::io::sink(), limits()).requests;
                    assert!(requests.next_head().await.unwrap());
                    requests.read_body(&mut arrived).await.unwrap();
                };
                tokio::join!(pumping, arriving);
                assert!(arrived == body, "{coding:?}, {room}");
                assert_eq!(flow.bytes.get(), 300_000);
            }
        }
    }

    /// Counts how often the socket itself is asked for.
    struct Counting<R>(R, Rc<Cell<usize>>);

    impl<R: Bare> Bare for Counting<R> {
        fn socket(&self) -> Option<&TcpStream> {
            self.1.set(self.1.get() + 1);
            self.0.socket()
        }
    }

    impl<R: AsyncRead + Unpin> AsyncRead for Counting<R> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, buffer)
        }
    }

    #[tokio::test]
    async fn a_large_body_is_spliced_unless_its_bytes_change() {
        let body: Vec<u8> = (0..=250).cycle().take(3_000_000).collect();
        for (coding, framing, is_spliced) in [
            (Coding::Identity, "Content-Length: 3000000", true),
            (Coding::Chunked, "Transfer-Encoding: chunked", false),
        ] {
            let (near, middle) = port::connected().await.unwrap();
            let (onward, far) = port::connected().await.unwrap();
            let mut client = TcpClient::from_stream(near, limits());
            let mut onward = TcpClient::from_stream(onward, limits());
            let mut last = TcpServer::from_stream(far, limits());
            let (read, write) = Stream::from(middle).into_split();
            let asked = Rc::new(Cell::new(0));
            let counting = Counting(read, Rc::clone(&asked));
            let mut source = ServerConnection::new(counting, write, limits()).requests;
            let progress = Progress::new(Instant::now(), &Timeouts::of(60 * SECOND));
            let flow = flow(coding, &progress);
            let head = format!("{HEAD}Content-Length: 3000000\r\n\r\n");
            client.output.buffer().extend_from_slice(head.as_bytes());
            client.output.buffer().extend_from_slice(&body);
            let pumping = async {
                assert!(source.next_head().await.unwrap());
                let head = format!("{HEAD}{framing}\r\n\r\n");
                onward.output.buffer().extend_from_slice(head.as_bytes());
                pump(&mut source, &mut onward.output, &flow).await.unwrap();
            };
            let mut arrived = Vec::new();
            let arriving = async {
                assert!(last.requests.next_head().await.unwrap());
                last.requests.read_body(&mut arrived).await.unwrap();
            };
            let (sent, (), ()) = tokio::join!(client.output.flush(), pumping, arriving);
            sent.unwrap();
            assert!(arrived == body, "{coding:?}");
            assert_eq!(asked.get() > 5, is_spliced, "{asked:?}");
            assert_eq!(flow.bytes.get(), 3_000_000);
        }
    }

    /// A queue that takes longer than a silence may be.
    #[tokio::test(start_paused = true)]
    async fn a_reader_that_is_slow_and_steady_is_not_silent() {
        const BYTES: usize = 200_000;
        let timeouts = Timeouts {
            idle: 60 * SECOND,
            ..Timeouts::of(3_600 * SECOND)
        };
        let progress = Progress::new(Instant::now(), &timeouts);
        let flow = Flow {
            source: Party::Upstream,
            ..flow(Coding::Identity, &progress)
        };
        let mut sent = format!("{HEAD}Content-Length: {BYTES}\r\n\r\n").into_bytes();
        sent.resize(sent.len() + BYTES, b'x');
        let (near, mut far) = duplex(1_000);
        let ends = ServerConnection::new(&sent[..], near, limits());
        let (mut source, mut sink) = (ends.requests, ends.output);
        let pumping = async {
            assert!(source.next_head().await.unwrap());
            pump(&mut source, &mut sink, &flow).await.unwrap();
        };
        let reading = async {
            let mut piece = vec![0; 1_500];
            let mut got = 0;
            while got < BYTES {
                tokio::time::sleep(SECOND).await;
                got += far.read(&mut piece).await.unwrap();
                assert!(progress.deadline() > Instant::now(), "after {got} bytes");
            }
        };
        tokio::join!(pumping, reading);
    }

    /// Both ends are always ready, and only the turns of others take time.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_flows_is_not_silent() {
        let start = Instant::now();
        let timeouts = Timeouts {
            idle: 10 * SECOND,
            ..Timeouts::of(3_600 * SECOND)
        };
        let progress = Progress::new(start, &timeouts);
        let flow = flow(Coding::Identity, &progress);
        let mut sent = format!("{HEAD}Content-Length: 3000000\r\n\r\n").into_bytes();
        sent.resize(sent.len() + 3_000_000, b'x');
        let ends = ServerConnection::new(&sent[..], tokio::io::sink(), limits());
        let (mut source, mut sink) = (ends.requests, ends.output);
        let is_done = Cell::new(false);
        let pumping = async {
            assert!(source.next_head().await.unwrap());
            pump(&mut source, &mut sink, &flow).await.unwrap();
            is_done.set(true);
        };
        let others = async {
            while !is_done.get() {
                tokio::time::advance(SECOND).await;
                let left = progress.deadline().duration_since(Instant::now());
                assert!(
                    left >= 8 * SECOND,
                    "{left:?} left after {:?}",
                    start.elapsed()
                );
            }
        };
        tokio::join!(pumping, others);
        assert!(start.elapsed() > 20 * SECOND);
    }
}
