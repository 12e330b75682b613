//! A connection: the client's, the one to its server, and both directions between them.
//!
//! It is one future, polled by hand, so that an idle connection is small and a change of toxics can wake it wherever it is.

mod dial;
mod exchange;
mod lane;
mod shared;
mod step;

pub use exchange::{Exchange, Goes};
pub use shared::{Opening, Shared};

use crate::account::Turns;
use crate::direction::Direction;
use crate::passage::{Content, Item};
use bytes::Bytes;
use dial::Server;
use lane::Lane;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::stream::reset_on_close;
use plimsoll_http::timer::Delay;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use step::{Moved, Peer, Step, discard};
use tokio::io::AsyncWrite as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Pieces that one connection moves before others have their turn.
const TURN: usize = 16;
/// How long a receiver has, after a toxic has cut its connection, to take what was sent to it.
const LINGER: Duration = Duration::from_secs(2);

/// The server's side.
enum Far {
    /// It is connected to when the delay of toxics is over.
    Delayed,
    /// It is being connected to.
    Connecting(Pin<Box<dyn Future<Output = io::Result<TcpStream>>>>),
    /// It is there.
    Open(TcpStream),
    /// It could not be reached, and a toxic decides when the client is told.
    Absent,
}

impl fmt::Debug for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delayed => "delayed",
            Self::Connecting(_) => "connecting",
            Self::Open(_) => "open",
            Self::Absent => "absent",
        })
    }
}

/// Answers to a client that asked for its server by name.
#[derive(Debug, Clone, Copy)]
pub struct Greeting {
    /// When its server is there; empty where the server itself answers.
    pub reached: &'static [u8],
    /// When it is not.
    pub unreachable: &'static [u8],
}

/// A connection; it completes when it has ended.
#[derive(Debug)]
pub struct Connection {
    shared: Rc<Shared>,
    number: u64,
    accepted: Instant,
    is_registered: bool,
    /// Which toxics its lanes lead through.
    version: u64,
    client: TcpStream,
    far: Far,
    lanes: [Lane; 2],
    turns: Turns,
    greeting: Option<Greeting>,
    /// The one exchange that it is for.
    exchange: Option<Box<Exchange>>,
    /// It is being told that its server cannot be reached, and ends with that.
    is_told: bool,
    delay: Option<(Instant, Delay)>,
    /// It has been cut: the receiver of this direction still takes what was sent to it, until then.
    lingers: Option<(Direction, Instant)>,
}

impl Connection {
    /// A connection of this client, which was accepted just now.
    pub fn new(shared: Rc<Shared>, number: u64, client: TcpStream) -> Self {
        let now = Instant::now();
        let toxics = shared.toxics();
        let key = shared.key(number);
        let lanes = Direction::BOTH.map(|direction| Lane::new(direction, &toxics, key, now));
        shared.account.connections.add(1);
        shared.account.open.add(1);
        Self {
            version: shared.version(),
            shared,
            number,
            accepted: now,
            is_registered: false,
            client,
            far: Far::Delayed,
            lanes,
            turns: Turns::default(),
            greeting: None,
            exchange: None,
            is_told: false,
            delay: None,
            lingers: None,
        }
    }

    /// Like it, for a client that asked for its server by name, of whose bytes `first` go there already.
    pub fn greeted(
        mut self,
        greeting: Greeting,
        first: Bytes,
        exchange: Option<Box<Exchange>>,
    ) -> Self {
        self.greeting = Some(greeting);
        self.exchange = exchange;
        if !first.is_empty() {
            self.lanes[Direction::Upstream as usize].push(Item {
                arrived: self.accepted,
                content: Content::Data(first),
            });
        }
        self
    }

    fn drive(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.shared.is_cut.get() {
            self.reset();
            return Poll::Ready(());
        }
        for _ in 0..TURN {
            self.follow_changes();
            if let Some((direction, until)) = self.lingers {
                return self.linger(context, direction, until);
            }
            let Ok(mut wake) = self.connect(context) else {
                return Poll::Ready(());
            };
            let mut has_moved = false;
            for direction in Direction::BOTH {
                match self.step(context, direction) {
                    Moved::Nothing(due) => wake = earlier(wake, due),
                    Moved::Something => has_moved = true,
                    Moved::Failed => {
                        has_moved = true;
                        self.lanes[1 - direction as usize].is_reset = true;
                    }
                    Moved::Cut => {
                        has_moved = true;
                        self.cut(context, direction);
                        break;
                    }
                    Moved::Reset => {
                        self.reset();
                        return Poll::Ready(());
                    }
                }
            }
            if self.is_over() {
                return Poll::Ready(());
            }
            if !has_moved && !self.is_due(context, wake) {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn follow_changes(&mut self) {
        if self.version == self.shared.version() {
            return;
        }
        self.version = self.shared.version();
        let toxics = self.shared.toxics();
        let now = Instant::now();
        for lane in &mut self.lanes {
            lane.change(&toxics, self.shared.key(self.number), now);
        }
    }

    /// Sees to the connection to the server: when it has to be looked at next, or that there will be none.
    fn connect(&mut self, context: &mut Context<'_>) -> io::Result<Option<Instant>> {
        loop {
            match &mut self.far {
                Far::Open(_) => return Ok(None),
                Far::Absent => {
                    return match self.is_told || self.holds_clients() {
                        true => Ok(None),
                        false => Err(io::ErrorKind::NotConnected.into()),
                    };
                }
                Far::Delayed => {
                    let delays = self.lanes.iter().map(Lane::connect_delay);
                    let at = self.accepted + delays.sum::<Duration>();
                    if at > Instant::now() {
                        return Ok(Some(at));
                    }
                    let shared = Rc::clone(&self.shared);
                    let port = || self.client.peer_addr().map_or(0, |peer| peer.port());
                    let aside = shared.detour.take(port);
                    self.far = Far::Connecting(Box::pin(async move {
                        match aside {
                            Some(to) => {
                                Server::new(to.to_string())
                                    .connect(shared.connect_timeout)
                                    .await
                            }
                            None => shared.server.connect(shared.connect_timeout).await,
                        }
                    }));
                }
                Far::Connecting(connecting) => match connecting.as_mut().poll(context) {
                    Poll::Pending => return Ok(None),
                    Poll::Ready(connected) => self.connected(connected),
                },
            }
        }
    }

    fn connected(&mut self, connected: io::Result<TcpStream>) {
        let told = match connected {
            Ok(stream) => {
                self.far = Far::Open(stream);
                self.greeting.map(|greeting| greeting.reached)
            }
            Err(_) => {
                self.shared.account.unreachable.add(1);
                self.far = Far::Absent;
                let held = self.holds_clients();
                self.greeting
                    .filter(|_| !held)
                    .map(|greeting| greeting.unreachable)
            }
        };
        if let Some(told) = told.filter(|told| !told.is_empty()) {
            let out = &mut self.lanes[Direction::Downstream as usize].out;
            let now = Instant::now();
            out.push(Item {
                arrived: now,
                content: Content::Data(Bytes::from_static(told)),
            });
            if matches!(self.far, Far::Absent) {
                self.is_told = true;
                out.push(Item {
                    arrived: now,
                    content: Content::Cut,
                });
            }
        }
    }

    fn holds_clients(&self) -> bool {
        self.lanes.iter().any(Lane::holds_clients)
    }

    /// Moves one direction by a piece.
    fn step(&mut self, context: &mut Context<'_>, direction: Direction) -> Moved {
        let far = match &mut self.far {
            Far::Open(stream) => Peer::Here(stream),
            Far::Delayed | Far::Connecting(_) => Peer::Awaited,
            Far::Absent => Peer::Absent,
        };
        let client = Peer::Here(&mut self.client);
        let (sender, receiver) = match direction {
            Direction::Upstream => (client, far),
            Direction::Downstream => (far, client),
        };
        let step = Step {
            direction,
            lane: &mut self.lanes[direction as usize],
            sender,
            receiver,
            account: &self.shared.account,
            turns: &mut self.turns,
            exchange: &mut self.exchange,
        };
        step.take(context)
    }

    /// Whether both directions have ended, or the one that has not leads to nobody.
    fn is_over(&self) -> bool {
        let is_done = |lane: &Lane| lane.finished || (lane.deaf && lane.ended);
        let [upstream, downstream] = &self.lanes;
        is_done(upstream) && is_done(downstream)
            // A client that is gone waits for nobody.
            || matches!(self.far, Far::Absent) && upstream.finished
            || upstream.deaf && downstream.finished
            || downstream.deaf && upstream.finished
    }

    /// Whether the moment has come; if not, the connection is woken then.
    fn is_due(&mut self, context: &mut Context<'_>, wake: Option<Instant>) -> bool {
        let Some(at) = wake else {
            return false;
        };
        let armed = match self.delay.take() {
            Some((armed, delay)) if armed <= at => (armed, delay),
            _ => (at, self.shared.timer.delay(at)),
        };
        let (_, delay) = self.delay.insert(armed);
        let is_ready = Pin::new(delay).poll(context).is_ready();
        if is_ready {
            self.delay = None;
        }
        is_ready
    }

    /// The sender of a direction is let go of at once, its receiver when it has taken what was sent to it.
    fn cut(&mut self, context: &mut Context<'_>, direction: Direction) {
        self.lingers = Some((direction, Instant::now() + LINGER));
        match direction {
            Direction::Downstream => self.far = Far::Absent,
            Direction::Upstream => {
                if let Poll::Ready(told) = Pin::new(&mut self.client).poll_shutdown(context) {
                    told.ignored("a client that is gone need not be told");
                }
            }
        }
    }

    /// Lets the receiver take what was sent to it: bytes of its own that nobody reads would reset the connection and take that along.
    fn linger(
        &mut self,
        context: &mut Context<'_>,
        direction: Direction,
        until: Instant,
    ) -> Poll<()> {
        let receiver = match (direction, &mut self.far) {
            (Direction::Downstream, _) => &mut self.client,
            (Direction::Upstream, Far::Open(stream)) => stream,
            (Direction::Upstream, _) => return Poll::Ready(()),
        };
        let is_shut = Pin::new(&mut *receiver).poll_shutdown(context);
        if matches!(is_shut, Poll::Ready(Err(_))) || discard(context, receiver).is_ready() {
            return Poll::Ready(());
        }
        while self.is_due(context, Some(until)) {
            if Instant::now() >= until {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    /// Makes the end of both connections a reset.
    fn reset(&mut self) {
        self.shared.account.resets.add(1);
        reset_on_close(&self.client);
        if let Far::Open(stream) = &self.far {
            reset_on_close(stream);
        }
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_registered {
            self.is_registered = true;
            self.shared.register(self.number, context.waker());
        }
        self.drive(context)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.account.open.less();
        self.shared.deregister(self.number);
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_small() {
        assert!(
            size_of::<Connection>() <= 512,
            "{}",
            size_of::<Connection>()
        );
    }
}
