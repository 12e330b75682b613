//! One exchange on an open HTTP/1.1 connection: the request out, the answer in, both at once.

use super::form::Form;
use super::progress::{Point, Progress};
use super::reason;
use crate::clock::{Clock, Nanos};
use plimsoll_base::outcome::Outcome;
use plimsoll_base::reason::Reason;
use plimsoll_http::TcpClient;
use std::cell::OnceCell;
use std::future::{Future, poll_fn};
use std::pin::pin;

/// A request to be sent.
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

/// Sends a request and reads its answer to the end. The answer may come before the request is out; the connection is of no
/// further use then, nor after any outcome but an answer. The request is taken over at once, and goes out when the future is polled.
pub(super) fn exchange<'a>(
    connection: &'a mut TcpClient,
    request: Request<'_>,
    mut kept: Option<&'a mut Kept>,
    progress: &'a Progress,
    clock: Clock,
) -> impl Future<Output = Ending> + use<'a> {
    connection.output.buffer().extend_from_slice(request.bytes);
    connection.responses.expect(request.is_head);
    async move {
        let TcpClient { responses, output } = &mut *connection;
        let mut body_bytes = 0;
        let received = {
            let mut sending = pin!(output.flush());
            let mut sent = false;
            let mut receiving = pin!(async {
                responses.first_byte().await?;
                progress.reached(Point::Head);
                let rest = pin!(async {
                    responses.next_head().await?;
                    while matches!(responses.head().status(), 100 | 102..200) {
                        responses.next_head().await?;
                    }
                    progress.reached(Point::Body);
                    while let Some(data) = responses.next_data().await? {
                        body_bytes += data.len() as u64;
                        if let Some(kept) = &mut kept {
                            kept.take(data);
                        }
                    }
                    Ok(())
                });
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
}

impl Kept {
    /// Nothing yet, and so many bytes at most.
    pub(super) fn up_to(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    /// This memory, emptied for another answer.
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
