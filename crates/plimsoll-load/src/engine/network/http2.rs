//! HTTP/2: connections on which several users of a shard each have a stream.
//!
//! A connection is made when the first of its users needs it, and again when the server has closed it or said that it will. Streams that are
//! under way when it says so end as they may. Data is taken off the flow-control windows as soon as it is read, so what a connection holds is
//! bounded by its windows.

mod overheard;

use crate::clock::Clock;
use crate::engine::exchange::{Ending, Kept};
use crate::engine::form::Form;
use crate::engine::progress::{Point, Progress};
use crate::engine::reason;
use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, SendRequest};
use http::response::Parts;
use overheard::Overheard;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::outcome::Outcome;
use plimsoll_base::reason::Reason;
use plimsoll_http::Stream;
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// Bytes that a server may send on a stream before any of them was read.
const STREAM_WINDOW: u32 = 256 * 1024;
/// Bytes that it may send on a connection.
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// How many streams are opened before the server has said how many it takes (RFC 9113, section 6.5.2): the connection's first may go at
/// once; a further one that the server then refuses would be our fault and counted as its.
const STREAMS_AT_FIRST: usize = 1;

/// Where a connection is, or will be, for the users who share it.
#[derive(Debug, Default)]
pub(in crate::engine) struct SharedPlace {
    session: RefCell<Option<Rc<Session>>>,
    /// Held by the user who makes the connection, while the others wait. Tokio's, because it is held across the dialling.
    dialling: Mutex<()>,
}

/// An open connection; it is closed when nobody uses it any more and its place has another.
#[derive(Debug)]
pub(in crate::engine) struct Session {
    sender: SendRequest<Bytes>,
    /// How many more exchanges it may carry.
    left: Cell<u32>,
    /// Reads and writes for all streams.
    _driver: JoinSet<()>,
    /// The reason of TLS as it failed: of that the library keeps the words only.
    failure: Rc<Cell<Option<Reason>>>,
}

impl SharedPlace {
    /// The connection, if there is one.
    pub(in crate::engine) fn session(&self) -> Option<Rc<Session>> {
        self.session.borrow().clone()
    }

    /// Puts a connection in place.
    pub(in crate::engine) fn settle(&self, session: &Rc<Session>) {
        self.session.replace(Some(Rc::clone(session)));
    }

    /// Gives a connection up for new streams; `false` if that has been done already.
    pub(in crate::engine) fn leave(&self, session: &Rc<Session>) -> bool {
        let mut place = self.session.borrow_mut();
        let is_there = place
            .as_ref()
            .is_some_and(|there| Rc::ptr_eq(there, session));
        if is_there {
            *place = None;
        }
        is_there
    }

    /// Waits until nobody else makes the connection.
    pub(in crate::engine) async fn dialling(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.dialling.lock().await
    }
}

impl Session {
    /// Begins to speak HTTP/2 on a stream, for so many exchanges at most.
    ///
    /// # Errors
    /// Why the exchange that it was for was not answered.
    pub(in crate::engine) async fn begin(
        stream: Stream,
        exchanges: u32,
    ) -> Result<Rc<Self>, Reason> {
        let failure = Rc::new(Cell::new(None));
        let stream = Overheard::new(stream, Rc::clone(&failure));
        let (sender, connection) = Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(STREAMS_AT_FIRST)
            .handshake::<_, Bytes>(stream)
            .await
            .map_err(|error| {
                let said = failure.get();
                said.unwrap_or_else(|| reason(&error, &Progress::new(true)))
            })?;
        let mut driver = JoinSet::new();
        driver.spawn_local(async move {
            connection
                .await
                .ignored("every stream that was under way says so itself");
        });
        Ok(Rc::new(Self {
            sender,
            left: Cell::new(exchanges),
            _driver: driver,
            failure,
        }))
    }

    /// A handle for one exchange; `None` when the connection takes no further one.
    pub(in crate::engine) async fn sender(&self) -> Option<SendRequest<Bytes>> {
        if self.left.get() == 0 {
            return None;
        }
        self.sender.clone().ready().await.ok()
    }

    /// An exchange is about to begin on it; `false` if it is the last one.
    pub(in crate::engine) fn begin_exchange(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left > 0
    }

    /// How an exchange on it ended, with what TLS said, if it failed for that.
    pub(in crate::engine) fn explain(&self, ending: Ending) -> Ending {
        match (ending.outcome, self.failure.get()) {
            (Outcome::Unanswered(_), Some(reason)) if ending.deadline.is_none() => Ending {
                outcome: Outcome::Unanswered(reason),
                ..ending
            },
            _ => ending,
        }
    }
}

/// Sends a request and reads its answer to the end; its head is left in `head`.
pub(in crate::engine) async fn exchange(
    sender: &mut SendRequest<Bytes>,
    form: Form,
    kept: Option<&mut Kept>,
    progress: &Progress,
    clock: Clock,
    head: &mut Option<Parts>,
) -> Ending {
    let mut body_bytes = 0;
    let outcome = async {
        let ends = form.body.is_empty();
        let (response, mut sending) = sender.send_request(form.head, ends)?;
        if !ends {
            // The windows are waited for inside; the body is shared with all its other sendings, so that costs no memory.
            sending.send_data(form.body, true)?;
        }
        progress.reached(Point::FirstByte);
        let (parts, body) = response.await?.into_parts();
        progress.reached(Point::Body);
        let status = parts.status.as_u16();
        *head = Some(parts);
        progress
            .rest(clock, pin!(receive(body, kept, &mut body_bytes)))
            .await?;
        Ok::<_, h2::Error>(Outcome::Answered(status))
    };
    Ending {
        outcome: outcome
            .await
            .unwrap_or_else(|error| Outcome::Unanswered(reason(&error, progress))),
        body_bytes,
        first_byte: progress.first_byte(),
        deadline: None,
    }
}

async fn receive(
    mut body: RecvStream,
    mut kept: Option<&mut Kept>,
    body_bytes: &mut u64,
) -> Result<(), h2::Error> {
    while let Some(data) = body.data().await {
        let data = data?;
        *body_bytes += data.len() as u64;
        if let Some(kept) = &mut kept {
            kept.take(&data);
        }
        body.flow_control().release_capacity(data.len())?;
    }
    Ok(())
}

/// Why an exchange was not answered that ended so.
fn reason(error: &h2::Error, progress: &Progress) -> Reason {
    if let Some(error) = error.get_io() {
        return match error.kind() {
            io::ErrorKind::BrokenPipe => reason::closed(progress),
            _ => reason::of_transport(error, progress),
        };
    }
    if !error.is_remote() {
        return Reason::BadHttp2;
    }
    match error.reason() {
        Some(h2::Reason::REFUSED_STREAM) => Reason::Stream,
        Some(h2::Reason::NO_ERROR) if error.is_go_away() => Reason::GoAway,
        _ if error.is_go_away() => Reason::GoAwayError,
        _ => Reason::ResetStream,
    }
}
