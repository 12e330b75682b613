//! A client's connection of HTTP/2: each of its streams is an exchange in a task of its own. Frames, windows and header compression are left to
//! the crate `h2`, what a request means to whoever [`Streams`] hands it to.
//!
//! A client can make the server hold a bounded amount: by the number of exchanges, which those of streams that it has reset count
//! towards until they are over; by how many streams it may cut off (`resets`); by how many frames may carry nothing (`frames`); by the
//! windows of bodies; and, in the crate `h2`, by the frames of a header block, by data frames of next to nothing, and by
//! how many streams may be reset unseen or by mistakes of the client's.

mod frames;
mod request;
mod resets;

pub use request::request_head;
pub use resets::Ending;

use crate::drain::DrainBegins;
use crate::http2::{CONNECTION_WINDOW, SEND_BUFFER, STREAM_WINDOW};
use crate::transport::stream::SharedStream;
use crate::turn;
use bytes::Bytes;
use frames::{Budget, Counted};
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::Request;
use plimsoll_base::ignored::Ignored as _;
use resets::Resets;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Streams that the client has reset before they were looked at; one more ends the connection.
const UNSEEN_RESETS: usize = 20;
/// Streams of a connection that may be reset for mistakes of the client, or refused because there are too many; one more ends it.
const MISTAKES: usize = 1024;
/// Exchanges under way for each stream that may be open: that of a stream which is answered, or reset, may go on after it.
const MOST_EXCHANGES: usize = 2;
/// How long a client that was told to leave has for it once nothing is under way.
const LEAVE: Duration = Duration::from_secs(2);

/// Limits of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Streams that may be open at a time.
    pub streams: u32,
    /// Streams that the client may cut off at once, beyond those that time and complete streams allow.
    pub resets: u32,
    /// How many more it may cut off for each second that passes.
    pub resets_per_second: u32,
    /// Bytes of a request's head, uncompressed.
    pub head_bytes: usize,
}

/// Why a connection never became one of HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeError {
    /// The client speaks something else, or left.
    NotHttp2,
    /// Its preface took too long.
    Late,
}

/// The streams of a connection.
#[derive(Debug)]
pub struct Streams {
    connection: Connection<Counted<SharedStream>, Bytes>,
    exchanges: JoinSet<Ending>,
    /// Streams that the client has cut off since they were counted last; their exchanges may go on for a while.
    cut_off: Rc<Cell<u32>>,
    /// Limit of exchanges under way.
    most: usize,
    resets: Resets,
    /// The client's allowance of frames that carry nothing.
    budget: Rc<RefCell<Budget>>,
    /// Whether the client was told that no further streams are served.
    leaving: bool,
    quiet_until: Instant,
}

/// Counts a stream once that its client cuts off.
#[derive(Debug, Default)]
pub struct CutOff {
    counted: Cell<bool>,
    streams: Rc<Cell<u32>>,
}

/// The next thing that happens on a connection.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and most of them are requests"
)]
pub enum Event {
    /// A stream has begun: its exchange is to be [spawned](Streams::spawn).
    Request(Request<RecvStream>, SendResponse<Bytes>),
    /// A stream was refused, because too many exchanges are under way.
    Refused,
    /// An exchange has ended; the error is its panic.
    Ended(Result<(), JoinError>),
    /// The client was told that no further streams are served: the server is going down, or nothing was under way for too long.
    Leaving,
    /// The client sends heads, resets or empty frames without end, and was told so unless it has left; the connection is of no further use.
    Flood,
    /// The connection is over. Streams that are under way end with it.
    Over,
}

impl CutOff {
    /// Counts the stream, unless that was done before.
    pub fn count(&self) {
        if !self.counted.replace(true) {
            self.streams.set(self.streams.get() + 1);
        }
    }

    /// Counts the stream if it was reset, as `poll_reset` of either of its halves says.
    pub fn look(
        &self,
        poll_reset: impl FnOnce(&mut Context<'_>) -> Poll<Result<Reason, h2::Error>>,
    ) {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(Ok(_)) = poll_reset(&mut context) {
            self.count();
        }
    }

    /// How the stream has ended.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match self.counted.get() {
            true => Ending::CutOff,
            false => Ending::Complete,
        }
    }
}

impl Streams {
    /// Waits up to `limit` for the client's preface. The connection may be without an exchange for `idle` from then on.
    ///
    /// # Errors
    /// [`HandshakeError`]
    pub async fn accept(
        stream: SharedStream,
        settings: Settings,
        limit: Duration,
        idle: Duration,
    ) -> Result<Self, HandshakeError> {
        let budget = Rc::new(RefCell::new(Budget::new(Instant::now())));
        let handshake = Builder::new()
            .max_concurrent_streams(settings.streams)
            .max_pending_accept_reset_streams(UNSEEN_RESETS)
            .max_local_error_reset_streams(Some(MISTAKES))
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buffer_size(SEND_BUFFER)
            .max_header_list_size(u32::try_from(settings.head_bytes).unwrap_or(u32::MAX))
            .handshake::<_, Bytes>(Counted::new(stream, Rc::clone(&budget)));
        let connection = match tokio::time::timeout(limit, handshake).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(_)) => return Err(HandshakeError::NotHttp2),
            Err(_) => {
                turn::comes().await;
                return Err(HandshakeError::Late);
            }
        };
        let now = Instant::now();
        Ok(Self {
            connection,
            exchanges: JoinSet::new(),
            cut_off: Rc::default(),
            most: MOST_EXCHANGES * settings.streams as usize,
            resets: Resets::new(settings.resets, settings.resets_per_second, now),
            budget,
            leaving: false,
            quiet_until: now + idle,
        })
    }

    /// The next event; nothing is lost if it is not waited for to the end. `idle` says for how long nothing may be under way from now on.
    pub async fn next(
        &mut self,
        idle: impl Fn() -> Duration,
        mut drain: Pin<&mut DrainBegins<'_>>,
    ) -> Event {
        loop {
            if self.are_a_flood() {
                self.calm().await;
                return Event::Flood;
            }
            // Asked first: a client that begins streams without end is told as well.
            if !self.leaving && drain.has_begun() {
                return self.leave();
            }
            let budget = &self.budget;
            // Found out by the read that spends it, which wakes nobody.
            let spent = poll_fn(|_| match budget.borrow().is_spent() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            });
            let quiet = self.exchanges.is_empty();
            tokio::select! {
                biased;
                Some(ended) = self.exchanges.join_next() => {
                    let ending = ended.as_ref().map_or(Ending::CutOff, |ending| *ending);
                    let now = Instant::now();
                    self.resets.ended(ending, now);
                    self.quiet_until = now + if self.leaving { LEAVE } else { idle() };
                    return Event::Ended(ended.map(drop));
                }
                accepted = self.connection.accept() => return match accepted {
                    Some(Ok((_, mut respond))) if self.exchanges.len() >= self.most => {
                        respond.send_reset(Reason::REFUSED_STREAM);
                        Event::Refused
                    }
                    Some(Ok((request, respond))) => Event::Request(request, respond),
                    Some(Err(error)) if is_flood(&error) => Event::Flood,
                    Some(Err(_)) | None if self.are_a_flood() => Event::Flood,
                    Some(Err(_)) | None => Event::Over,
                },
                () = spent => {}
                () = drain.as_mut(), if !self.leaving => {}
                () = tokio::time::sleep_until(self.quiet_until), if quiet => {
                    return if self.leaving { Event::Over } else { self.leave() };
                }
            }
        }
    }

    /// Counts the resets of one stream of this connection.
    #[must_use]
    pub fn cut_off(&self) -> CutOff {
        CutOff {
            counted: Cell::new(false),
            streams: Rc::clone(&self.cut_off),
        }
    }

    /// Carries out the exchange of a stream.
    pub fn spawn(&mut self, exchange: impl Future<Output = Ending> + 'static) {
        self.exchanges.spawn_local(exchange);
    }

    /// Closes the connection; exchanges under way find their streams gone, and are awaited: each tells how it ended.
    pub async fn close(self, mut ended: impl FnMut(Result<(), JoinError>)) {
        let Self {
            connection,
            mut exchanges,
            ..
        } = self;
        drop(connection);
        while let Some(exchange) = exchanges.join_next().await {
            ended(exchange.map(drop));
        }
    }

    /// Whether the client has cut off too many streams, or sent too much that carries nothing.
    fn are_a_flood(&mut self) -> bool {
        let cut_off = self.cut_off.take();
        (cut_off > 0 && !self.resets.cut_off(cut_off, Instant::now()))
            || self.budget.borrow().is_spent()
    }

    /// Tells the client that no further streams are served.
    fn leave(&mut self) -> Event {
        self.leaving = true;
        self.quiet_until = Instant::now() + LEAVE;
        self.connection.graceful_shutdown();
        Event::Leaving
    }

    /// Tells the client why its connection ends, if it reads that.
    async fn calm(&mut self) {
        self.connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        let closed = poll_fn(|context| self.connection.poll_closed(context));
        tokio::time::timeout(LEAVE, closed)
            .await
            .ignored("it does not");
    }
}

/// Whether `h2` has ended the connection for how the client behaves, and not for a mistake in what it sent.
fn is_flood(error: &h2::Error) -> bool {
    error.is_library() && error.reason() == Some(Reason::ENHANCE_YOUR_CALM)
}
