//! A virtual user's way to the target: opens what an exchange needs, carries the exchange out, and closes what cannot carry another.
//!
//! An iteration goes through [`Transport::open`], [`Transport::exchange`] and [`Transport::settle`] for each of its exchanges, and through
//! [`Transport::iteration_over`] at its end. What is sent, and what the answer is worth, is left to the iteration.

use super::exchange::{Ending, Kept, Request, exchange};
use super::form::Form;
use super::network::connection::Connection;
use super::network::dial::{Dialling, dial};
use super::network::http2::{self, Session, SharedPlace};
use super::network::shared;
use super::progress::{Point, Progress};
use super::reason;
use super::shard_state::ShardState;
use crate::clock::Nanos;
use crate::plan::ConnectionPolicy;
use crate::results::recorder::{Dialled, Side};
use crate::scenario::Head;
use h2::client::SendRequest;
use plimsoll_base::outcome::Outcome;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_http::Stream;
use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;

/// One virtual user's way to the target.
#[derive(Debug)]
pub(super) struct Transport {
    /// Its place in the shard.
    slot: usize,
    /// Its number among all.
    number: usize,
    link: Link,
    /// Whether the connection was made for the exchange under way.
    fresh: bool,
}

/// An open connection of a user.
#[derive(Debug)]
enum Link {
    /// Nothing, or nothing of its own.
    None,
    /// A connection for HTTP/1.1, with the right to use it if it is a shared one.
    Http1(Connection, Option<shared::Permit>),
    /// A stream of a connection for HTTP/2.
    Http2(Box<Http2>),
}

/// A stream of a connection for HTTP/2.
#[derive(Debug)]
struct Http2 {
    /// Kept, because it is closed when nobody has it.
    session: Rc<Session>,
    sender: SendRequest<bytes::Bytes>,
    head: Option<http::response::Parts>,
}

/// There is a connection that can carry an exchange.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened {
    /// Since when: now, if it was open already.
    pub(super) at: Nanos,
    /// How long it took to make; `None` if it was open already.
    pub(super) connect: Option<Nanos>,
}

impl Transport {
    /// The way of the user in place `slot` of its shard, with this number among all; nothing is open yet.
    pub(super) fn new(slot: usize, number: usize) -> Self {
        Self {
            slot,
            number,
            link: Link::None,
            fresh: false,
        }
    }

    /// Sees to it that there is a connection for an exchange that began `now`.
    ///
    /// # Errors
    /// How the exchange ended for want of one.
    pub(super) async fn open(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        now: Nanos,
        until: Nanos,
    ) -> Result<Opened, Ending> {
        if let Link::Http1(connection, _) = &self.link
            && connection.client.is_idle()
        {
            self.fresh = false;
            return Ok(Opened::already(now));
        }
        // In a box, because it is large and seldom needed, and there are many users.
        let opened = Box::pin(self.open_anew(shard_state, side, now, until)).await;
        if let Err(ending) = opened
            && ending.deadline.is_none()
        {
            // A failure may come without any waiting; others get their turn all the same.
            tokio::task::yield_now().await;
        }
        self.fresh = opened.is_ok_and(|opened| opened.connect.is_some());
        opened
    }

    /// Sends a request on the open connection and reads the answer, whose body goes into `kept` if that is given.
    pub(super) async fn exchange(
        &mut self,
        shard_state: &ShardState,
        request: Request<'_>,
        until: Nanos,
        kept: Option<&mut Kept>,
    ) -> Ending {
        let progress = Progress::new(self.fresh);
        let first = shard_state
            .network
            .first_byte_timeout
            .map_or(until, |timeout| {
                until.min(shard_state.clock.now() + timeout)
            });
        let user = (shard_state, self.slot);
        match &mut self.link {
            Link::None => unreachable!("invariant: opened before sending"),
            Link::Http1(connection, _) => {
                connection.begin();
                let client = &mut connection.client;
                let clock = shard_state.clock;
                let exchanged = pin!(exchange(client, request, kept, &progress, clock));
                within(user, &progress, first, until, exchanged).await
            }
            Link::Http2(link) => {
                let Some(form) = form(shard_state, request) else {
                    return Ending::without_answer(Reason::BadRequest);
                };
                let Http2 {
                    sender,
                    head,
                    session,
                } = &mut **link;
                let exchanged =
                    http2::exchange(sender, form, kept, &progress, shard_state.clock, head);
                // In a box, because it is large, and most loads are HTTP/1.1.
                let mut exchanged = Box::pin(exchanged);
                let ending = within(user, &progress, first, until, exchanged.as_mut()).await;
                session.explain(ending)
            }
        }
    }

    /// The head of the last answer, from the end of its exchange until it is settled.
    pub(super) fn answer(&self) -> Option<Head<'_>> {
        match &self.link {
            Link::None => None,
            Link::Http1(connection, _) => Some(Head::Http1(connection.client.responses.head())),
            Link::Http2(link) => link.head.as_ref().map(Head::Http2),
        }
    }

    /// Closes the connection, or gives it back, unless it is the user's own and may carry another exchange after one that ended so.
    pub(super) fn settle(&mut self, shard_state: &ShardState, outcome: Outcome) {
        let Link::Http1(connection, permit) = &mut self.link else {
            self.link = Link::None;
            return;
        };
        let policy = shard_state.network.policy;
        let keeps = policy != ConnectionPolicy::PerExchange && connection.may_go_on(outcome);
        connection.client.rest();
        if keeps && permit.is_none() {
            return;
        }
        if let Link::Http1(connection, permit) = std::mem::replace(&mut self.link, Link::None) {
            match &shard_state.network.shared {
                Some(shared) if keeps => shared.give_back(connection),
                _ => shard_state.recorder().disconnected(),
            }
            drop(permit);
        }
    }

    /// Closes the connection if it was this iteration's own.
    pub(super) fn iteration_over(&mut self, shard_state: &ShardState) {
        if shard_state.network.policy == ConnectionPolicy::PerIteration
            && let Link::Http1(..) = std::mem::replace(&mut self.link, Link::None)
        {
            shard_state.recorder().disconnected();
        }
    }

    /// Closes what is the user's own: it retires.
    pub(super) fn close(&mut self, shard_state: &ShardState) {
        if let Link::Http1(..) = std::mem::replace(&mut self.link, Link::None) {
            shard_state.recorder().disconnected();
        }
    }

    /// Opens what is not open.
    async fn open_anew(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        now: Nanos,
        until: Nanos,
    ) -> Result<Opened, Ending> {
        if let Link::Http1(..) = std::mem::replace(&mut self.link, Link::None) {
            replaced(shard_state, side, now);
        }
        if let Some(place) = shard_state.network.place(self.slot) {
            return self.join(shard_state, side, place, now, until).await;
        }
        let (mut permit, mut now, mut opened) = (None, now, Opened::already(now));
        if let Some(shared) = &shard_state.network.shared {
            let waited = shard_state.within(self.slot, until, shared.permit()).await;
            permit = Some(waited.ok_or(Ending::overdue(Reason::TimeoutConnection, until))?);
            now = shard_state.clock.now();
            if now >= until {
                // Who had it before gave it back at the same deadline.
                return Err(Ending::overdue(Reason::TimeoutConnection, until));
            }
            opened = Opened::already(now);
            while let Some(connection) = shared.take() {
                if connection.client.is_idle() {
                    self.link = Link::Http1(connection, permit);
                    return Ok(opened);
                }
                replaced(shard_state, side, now);
            }
        }
        let (stream, dialled) = self.dial(shard_state, side, now, until).await?;
        let connection = Connection::new(stream, shard_state.network.exchanges);
        self.link = Link::Http1(connection, permit);
        opened.at = now + dialled.total();
        opened.connect = Some(dialled.total());
        Ok(opened)
    }

    /// Joins the connection of those with whom it is shared, making it if there is none.
    async fn join(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        place: &Rc<SharedPlace>,
        now: Nanos,
        until: Nanos,
    ) -> Result<Opened, Ending> {
        let overdue = Ending::overdue(Reason::TimeoutConnection, until);
        let mut opened = Opened::already(now);
        let mut dialling = None;
        loop {
            while let Some(session) = place.session() {
                let sender = shard_state.within(self.slot, until, session.sender()).await;
                if let Some(sender) = sender.ok_or(overdue)? {
                    let is_last = !session.begin_exchange();
                    if is_last && place.leave(&session) {
                        shard_state.recorder().disconnected();
                    }
                    let head = None;
                    self.link = Link::Http2(Box::new(Http2 {
                        session,
                        sender,
                        head,
                    }));
                    return Ok(opened);
                }
                if place.leave(&session) {
                    replaced(shard_state, side, shard_state.clock.now());
                }
            }
            if dialling.is_none() {
                let waited = shard_state.within(self.slot, until, place.dialling()).await;
                dialling = Some(waited.ok_or(overdue)?);
                opened.at = shard_state.clock.now();
                continue;
            }
            let (stream, dialled) = self.dial(shard_state, side, opened.at, until).await?;
            opened.at += dialled.total();
            opened.connect = Some(dialled.total());
            let beginning = Session::begin(stream, shard_state.network.exchanges);
            match shard_state.within(self.slot, until, beginning).await {
                Some(Ok(session)) => place.settle(&session),
                failed => {
                    shard_state.recorder().disconnected();
                    let failed = failed.and_then(Result::err).map(Ending::without_answer);
                    let overdue = || Ending::overdue(Reason::TimeoutRequest, until);
                    return Err(failed.unwrap_or_else(overdue));
                }
            }
        }
    }

    /// Makes a connection, and says so.
    async fn dial(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        now: Nanos,
        until: Nanos,
    ) -> Result<(Stream, Dialled), Ending> {
        if now >= until {
            // All of its time went by before it was this user's turn.
            return Err(Ending::overdue(Reason::TimeoutConnection, until));
        }
        let network = &shard_state.network;
        let own = network.connect_timeout.map(|timeout| now + timeout);
        let connector = network.connector(self.slot);
        let under_way = Cell::new(Dialling::Tcp);
        let (number, clock) = (self.number, shard_state.clock);
        let dialling = dial(network, clock, number, connector, now, &under_way);
        let earlier = own.map_or(until, |own| own.min(until));
        let Some(dialled) = shard_state.within(self.slot, earlier, dialling).await else {
            let reason = match own {
                Some(own) if own < until => under_way.get().too_long(),
                _ => under_way.get().overdue(),
            };
            return Err(Ending::overdue(reason, earlier));
        };
        match dialled {
            Ok((stream, dialled)) => {
                let at = now + dialled.total();
                shard_state.record(at).connected(side, dialled);
                Ok((stream, dialled))
            }
            Err(reason) => {
                if reason.class() == OutcomeClass::Exhausted {
                    shard_state.recorder().exhausted(side);
                }
                Err(Ending::without_answer(reason))
            }
        }
    }
}

impl Opened {
    fn already(now: Nanos) -> Self {
        Self {
            at: now,
            connect: None,
        }
    }
}

/// An idle connection turned out to be closed.
fn replaced(shard_state: &ShardState, side: Side, now: Nanos) {
    let mut recorder = shard_state.record(now);
    recorder.disconnected();
    recorder.reconnected(side);
}

/// The HTTP/2 form of a request; `None` when it has none.
fn form(shard_state: &ShardState, request: Request<'_>) -> Option<Form> {
    let make = || Form::new(request.bytes, &shard_state.network.scheme);
    match request.http2 {
        None => make(),
        Some(kept) => match kept.get() {
            Some(form) => Some(form.clone()),
            None => {
                let form = make()?;
                Some(kept.get_or_init(|| form).clone())
            }
        },
    }
}

/// How an exchange ends that has until `first` for the first byte of its answer, and until `until` for the last. It is pinned elsewhere.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps its arguments twice, and every user holds one of these"
)]
fn within<'a, F: Future<Output = Ending>>(
    (shard_state, user): (&'a ShardState, usize),
    progress: &'a Progress,
    first: Nanos,
    until: Nanos,
    mut exchanged: Pin<&'a mut F>,
) -> impl Future<Output = Ending> {
    async move {
        if first < until {
            let ending = shard_state.within(user, first, exchanged.as_mut()).await;
            if let Some(ending) = ending {
                return ending;
            }
            match progress.point() {
                Point::Request => return Ending::overdue(Reason::TimeoutRequest, first),
                Point::FirstByte => return Ending::overdue(Reason::FirstByteTimeout, first),
                Point::Head | Point::Body => {}
            }
        }
        match shard_state.within(user, until, exchanged).await {
            Some(ending) => ending,
            None => Ending::overdue(reason::overdue(progress.point()), until),
        }
    }
}
