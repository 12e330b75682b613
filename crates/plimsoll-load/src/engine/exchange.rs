//! One exchange on an open HTTP/1.1 connection: the request out, the answer in, both at once.

use super::reason;
use super::transport::Form;
use crate::clock::{Clock, Nanos};
use plimsoll_base::outcome::Outcome;
use plimsoll_base::reason::Reason;
use plimsoll_http::connection::ResponseReader;
use plimsoll_http::{ReadError, TcpClient};
use std::cell::{Cell, OnceCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use tokio::io::AsyncRead;

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// Head and body, in the form of HTTP/1.1.
    pub(super) bytes: &'a [u8],
    /// Whether the answer has no body, whatever its fields say.
    pub(super) is_head: bool,
    /// Where the form of HTTP/2 is kept, if these bytes are sent more than once.
    pub(super) http2: Option<&'a OnceCell<Form>>,
}

/// An answer's body, as much of it as is wanted.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Its first bytes.
    pub(super) bytes: Vec<u8>,
    /// How many at most.
    pub(super) limit: usize,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    /// Bytes of the answer's body, kept or not.
    pub(super) body_bytes: u64,
    /// When the first byte of the answer came; `None` when none came, or all came with it.
    pub(super) first_byte: Option<Nanos>,
    /// The deadline that passed, if it ended so.
    pub(super) deadline: Option<Nanos>,
}

impl Ending {
    /// An exchange that ended without anything of an answer.
    pub(super) fn without_answer(reason: Reason) -> Self {
        Self {
            outcome: Outcome::Unanswered(reason),
            body_bytes: 0,
            first_byte: None,
            deadline: None,
        }
    }

    /// An exchange whose deadline passed.
    pub(super) fn overdue(reason: Reason, deadline: Nanos) -> Self {
        Self {
            deadline: Some(deadline),
            ..Self::without_answer(reason)
        }
    }
}

/// How far an exchange on an open connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// The request goes out.
    Request,
    /// It is out, and nothing of the answer is here.
    FirstByte,
    /// Something of the answer's head is here.
    Head,
    /// The answer's head is here.
    Body,
}

/// How far an exchange has come, for who waits for it with a deadline or has to say why it failed.
#[derive(Debug)]
pub(super) struct Progress {
    point: Cell<Point>,
    first_byte: Cell<Option<Nanos>>,
    /// Whether the connection was made for this exchange.
    pub(super) fresh: bool,
}

impl Progress {
    /// An exchange about to begin, on a connection that was made for it or not.
    pub(super) fn new(fresh: bool) -> Self {
        Self {
            point: Cell::new(Point::Request),
            first_byte: Cell::new(None),
            fresh,
        }
    }

    /// It has come at least so far.
    pub(super) fn reached(&self, point: Point) {
        if point > self.point.get() {
            self.point.set(point);
        }
    }

    /// How far it has come.
    pub(super) fn point(&self) -> Point {
        self.point.get()
    }

    /// When it came, unless everything came with it.
    pub(super) fn first_byte(&self) -> Option<Nanos> {
        self.first_byte.get()
    }

    /// Awaits the rest of an answer whose first byte just came. Only if that has to wait is the clock read.
    pub(super) async fn rest<T>(&self, clock: Clock, rest: impl Future<Output = T>) -> T {
        let mut rest = pin!(rest);
        poll_fn(|context| {
            let polled = rest.as_mut().poll(context);
            if polled.is_pending() && self.first_byte.get().is_none() {
                self.first_byte.set(Some(clock.now()));
            }
            polled
        })
        .await
    }
}

/// Sends a request and reads its answer to the end. The answer may come before the request is out; the connection is of no
/// further use then, nor after any outcome but an answer.
pub(super) async fn exchange(
    connection: &mut TcpClient,
    request: Request<'_>,
    kept: Option<&mut Kept>,
    progress: &Progress,
    clock: Clock,
) -> Ending {
    let TcpClient { responses, output } = connection;
    output.buffer().extend_from_slice(request.bytes);
    responses.expect(request.is_head);
    let mut body_bytes = 0;
    let received = {
        let mut sending = pin!(output.flush());
        let mut sent = false;
        let mut receiving = pin!(async {
            responses.first_byte().await?;
            progress.reached(Point::Head);
            let rest = receive(responses, &mut body_bytes, kept, progress);
            progress.rest(clock, rest).await
        });
        poll_fn(|context| {
            // An error of sending shows on reading too: as the answer that the server gave before it closed, or as a reset.
            if !sent && sending.as_mut().poll(context).is_ready() {
                sent = true;
                progress.reached(Point::FirstByte);
            }
            receiving.as_mut().poll(context)
        })
        .await
    };
    let outcome = match received {
        // Where the answer really ends nobody knows, and what follows could pass for the next one.
        Ok(()) if connection.responses.has_buffered() => Outcome::Unanswered(Reason::Surplus),
        Ok(()) => Outcome::Answered(connection.responses.head().status()),
        Err(error) => Outcome::Unanswered(reason::of_reading(&error, progress)),
    };
    Ending {
        outcome,
        body_bytes,
        first_byte: progress.first_byte(),
        deadline: None,
    }
}

async fn receive<R: AsyncRead + Unpin>(
    responses: &mut ResponseReader<R>,
    body_bytes: &mut u64,
    mut kept: Option<&mut Kept>,
    progress: &Progress,
) -> Result<(), ReadError> {
    responses.next_head().await?;
    while matches!(responses.head().status(), 100 | 102..200) {
        responses.next_head().await?;
    }
    progress.reached(Point::Body);
    while let Some(data) = responses.next_data().await? {
        *body_bytes += data.len() as u64;
        if let Some(kept) = &mut kept {
            kept.take(data);
        }
    }
    Ok(())
}

impl Kept {
    /// Nothing yet, and so many bytes at most.
    pub(super) fn up_to(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    /// The same for another answer.
    pub(super) fn emptied(&mut self) -> &mut Self {
        self.bytes.clear();
        self
    }

    /// Takes a piece of the body, as far as there is room.
    pub(super) fn take(&mut self, data: &[u8]) {
        let room = self.limit.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&data[..data.len().min(room)]);
    }
}
