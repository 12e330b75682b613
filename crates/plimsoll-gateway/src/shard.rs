//! One shard: accepts clients, owns their tasks, takes over what a reload brings, and sees its clients through when the gateway stops.

use crate::analytics::Feed;
use crate::answer::{Answer, Delivery};
use crate::client::{self, Client};
use crate::clock::until;
use crate::config::Timeouts;
use crate::crowd::{Crowd, Place, household};
use crate::doors::{Door, DoorId, Doors};
use crate::ending::Ending;
use crate::exchange::hold::Held;
use crate::exchange::mirror::Mirrors;
use crate::generation::{Blueprint, Generation};
use crate::handover::Sockets;
use crate::identity::Identity;
use crate::metrics::{ShardMetrics, TooMany};
use crate::own_connections::OwnConnections;
use crate::reload::{Change, Message, Unfinished};
use crate::roll::{Roll, Showing};
use crate::service::Service;
use crate::tracing::Tracer;
use crate::trust::{Shown, Trust, Withdrawn};
use crate::upstream::Placement;
use plimsoll_base::counters::Counter;
use plimsoll_http::Row;
use std::cell::{Cell, RefCell};
use std::io;
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often records are handed over and old connections closed, whatever the traffic.
const TICK: Duration = Duration::from_millis(200);
/// How long connections without an exchange stay open when another process serves what comes anew.
const PARTING: Duration = Duration::from_secs(5);

/// What the connections of one shard share. Only its own thread touches it.
#[derive(Debug)]
pub(crate) struct Shard {
    /// What requests are served by that come now.
    current: RefCell<Rc<Generation>>,
    /// Generations before it that exchanges may still end by.
    earlier: RefCell<Vec<Weak<Generation>>>,
    placement: Placement,
    /// Client connections open now, over all shards. Changed once per connection, never per request.
    open: Arc<AtomicU32>,
    crowds: Crowds,
    pub(crate) metrics: Arc<ShardMetrics>,
    /// What outlives the process.
    pub(crate) counters: Row,
    pub(crate) analytics: Option<RefCell<Feed>>,
    pub(crate) tracer: Option<Tracer>,
    /// Where its spans go.
    pub(crate) spans: Option<RefCell<Feed>>,
    /// The gateway was told to stop, and takes requests for a while.
    pub(crate) leaving: Cell<bool>,
    /// The gateway stops: connections end after their current exchange, and answers say so.
    pub(crate) parting: Cell<bool>,
    /// It stops now: connections without an exchange end at once.
    pub(crate) draining: Cell<bool>,
    /// Wakes connections that wait for a request when draining begins.
    pub(crate) drain: Notify,
    /// Wakes requests that wait for another generation.
    pub(crate) changed: Notify,
    /// Those requests.
    pub(crate) held: Held,
    /// Copies of requests, for where their clients' data moves to.
    pub(crate) mirrors: Mirrors,
    /// Who has batches under way: an address or a network for each.
    pub(crate) batches: RefCell<Vec<IpAddr>>,
    /// Every stream of HTTP/2 that is served has one more of it.
    pub(crate) streams: Rc<()>,
    /// Client connections, and what their clients have shown.
    roll: RefCell<Roll>,
    sockets: Arc<Sockets>,
}

/// Connections of each client, over all shards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowds {
    addresses: Arc<Crowd<IpAddr>>,
    /// Those that the gateway makes to itself.
    own: OwnConnections,
    identities: Arc<Crowd<Identity>>,
}

/// Places among a client's connections for what it has under way without one of its own.
#[derive(Debug)]
pub(crate) struct FurtherPlaces {
    addresses: Arc<Crowd<IpAddr>>,
    client: IpAddr,
    /// `None`: they are not limited.
    most: Option<u32>,
}

impl FurtherPlaces {
    /// One more, until it is dropped; none is needed where they are not limited.
    ///
    /// # Errors
    /// The client has as many connections as it may have.
    pub(crate) fn enter(&self) -> Result<Option<Place<IpAddr>>, TooMany> {
        let Some(most) = self.most else {
            return Ok(None);
        };
        let place = self.addresses.enter(self.client, most);
        place.map(Some).ok_or(TooMany::OfAddress)
    }
}

/// What a shard takes with it when it starts.
pub(crate) struct Share {
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) placement: Placement,
    pub(crate) open: Arc<AtomicU32>,
    pub(crate) crowds: Crowds,
    pub(crate) metrics: Arc<ShardMetrics>,
    pub(crate) counters: Row,
    pub(crate) feed: Option<Feed>,
    /// Where spans go, if there are any.
    pub(crate) spans: Option<Feed>,
    /// Let go of as soon as the shard has its own descriptors, so that the ports close with the last shard's.
    pub(crate) doors: Vec<Door>,
    /// What reloads bring.
    pub(crate) changes: mpsc::Receiver<Message>,
    /// To be let go of when it drains; and whether another process has them.
    pub(crate) sockets: Arc<Sockets>,
}

impl Shard {
    /// The shard that a share makes; what it listens on is left out.
    pub(crate) fn new(share: Share) -> (Self, Vec<Door>, mpsc::Receiver<Message>) {
        let first = Generation::new(share.blueprint, &share.placement, None);
        let shard = Self {
            current: RefCell::new(Rc::new(first)),
            earlier: RefCell::default(),
            placement: share.placement,
            open: share.open,
            crowds: share.crowds,
            metrics: share.metrics,
            counters: share.counters,
            analytics: share.feed.map(RefCell::new),
            tracer: (share.spans.as_ref()).map(|_| Tracer::new(share.placement.shard)),
            spans: share.spans.map(RefCell::new),
            leaving: Cell::new(false),
            batches: RefCell::default(),
            parting: Cell::new(false),
            draining: Cell::new(false),
            drain: Notify::new(),
            changed: Notify::new(),
            held: Held::default(),
            mirrors: Mirrors::default(),
            streams: Rc::default(),
            roll: RefCell::default(),
            sockets: share.sockets,
        };
        (shard, share.doors, share.changes)
    }

    /// What a request is served by that comes now.
    pub(crate) fn current(&self) -> Rc<Generation> {
        Rc::clone(&self.current.borrow())
    }

    /// How long things may take that begin now.
    pub(crate) fn timeouts(&self) -> Timeouts {
        self.current.borrow().service.timeouts
    }

    /// Serves the clients of `doors` until `stop`, then drains. Returns how many exchanges had to be cut off.
    pub(crate) async fn run(
        self: Rc<Self>,
        doors: Vec<Door>,
        mut changes: mpsc::Receiver<Message>,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<usize> {
        let mut clients = JoinSet::new();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut entrances = Doors::new(Arc::clone(&self.metrics));
        let mut result = entrances.become_these(doors);
        // When requests are not taken any more, once that is known.
        let mut leaves: Option<Instant> = None;
        while result.is_ok() {
            tokio::select! {
                accepted = entrances.accept() => match accepted {
                    Ok((stream, door)) => self.admit(&mut clients, stream, door),
                    Err(error) => result = Err(error),
                },
                Some(ended) = clients.join_next_with_id(), if !clients.is_empty() => self.departed(&clients, ended),
                Some(message) = changes.recv() => match message {
                    Message::Change(change) => result = self.change(change, &mut entrances).await,
                    Message::Ask(generation, reply) => if reply.send(self.changing_before(generation)).is_err() {
                        // Whoever asked has gone.
                    },
                },
                _ = tick.tick() => self.tick(),
                _ = stopped(&mut stop), if leaves.is_none() => {
                    // A successor takes whoever comes: nobody needs to be told first.
                    let leave = match self.sockets.have_a_successor() {
                        true => Duration::ZERO,
                        false => self.timeouts().leave,
                    };
                    self.leaving.set(true);
                    leaves = Some(Instant::now() + leave);
                }
                () = until(leaves), if leaves.is_some() => break,
            }
        }
        // Whoever waits for a change to be taken over learns that it will not be.
        drop(changes);
        self.sockets.close();
        for (stream, door) in entrances.close().await {
            self.admit(&mut clients, stream, door);
        }
        let cut_off = self.drain(&mut clients).await;
        result.map(|()| cut_off)
    }

    /// Serves by another generation from the next request on, and says so.
    async fn change(&self, change: Change, entrances: &mut Doors) -> io::Result<()> {
        let before = self.current();
        let next = Generation::new(change.blueprint, &self.placement, Some(&before));
        self.current.replace(Rc::new(next));
        self.remember(&before);
        let result = entrances.become_these(change.doors);
        self.changed.notify_waiters();
        self.review(&before.service).await;
        if change.done.send(()).is_err() {
            // Whoever wanted to know has gone; the change stands.
        }
        result
    }

    /// Keeps track of a generation that exchanges may still end by.
    fn remember(&self, before: &Rc<Generation>) {
        let mut earlier = self.earlier.borrow_mut();
        earlier.retain(|known| known.strong_count() > 0);
        earlier.push(Rc::downgrade(before));
    }

    /// Exchanges under way that may change data and were begun before this generation.
    fn changing_before(&self, generation: u64) -> Vec<Unfinished> {
        let mut earlier = self.earlier.borrow_mut();
        earlier.retain(|known| known.strong_count() > 0);
        let known = earlier.iter().filter_map(Weak::upgrade);
        let known = known.filter(|known| known.number < generation && known.changing() > 0);
        let unfinished = known.filter_map(|known| {
            let sharding = known.service.sharding.as_ref()?;
            Some(Unfinished {
                map: Arc::clone(&sharding.map),
                count: known.changing(),
            })
        });
        unfinished.collect()
    }

    /// Takes a client in, or turns it away if there are too many.
    fn admit(self: &Rc<Self>, clients: &mut JoinSet<()>, stream: TcpStream, door: Rc<DoorId>) {
        let generation = self.current();
        let entrance = generation.service.entrance(&door.name);
        let tls = entrance.and_then(|entrance| entrance.tls.as_ref());
        let place = match self.place(&stream, &generation.service) {
            Ok(place) => place,
            Err(why) => {
                let answer = self.refusal(why, &generation.service);
                // Over TLS nothing can be said yet.
                if tls.is_none() {
                    turn_away(&stream, &answer);
                }
                return;
            }
        };
        self.counters.add(Counter::Accepted, 1);
        let timed = generation.service.timings.any();
        let accepted = timed.then(Instant::now);
        let (task, shown) = match tls {
            None => {
                let served = client::serve(Rc::clone(self), stream.into(), accepted, place);
                (clients.spawn_local(served), Showing::Nothing)
            }
            Some(_) => {
                let door = Rc::clone(&door);
                let secured = client::serve_secured(Rc::clone(self), stream, door, accepted, place);
                (clients.spawn_local(secured), Showing::NotYet)
            }
        };
        self.roll.borrow_mut().enter(task, door, shown);
        self.metrics.connections.set(clients.len() as u64);
    }

    /// What a new connection takes of the limits, until it ends; why there is no room for it.
    fn place(
        &self,
        stream: &TcpStream,
        service: &Service,
    ) -> Result<Option<Place<IpAddr>>, TooMany> {
        let limits = &service.limits;
        let place = || {
            let Some(most) = limits.per_address else {
                return Ok(None);
            };
            // One that is gone already shows itself when it is read from.
            let Ok(peer) = stream.peer_addr() else {
                return Ok(None);
            };
            if self.crowds.own.has(peer) {
                return Ok(None);
            }
            let address = peer.ip().to_canonical();
            if service.trusts(address) {
                return Ok(None);
            }
            let place = self.crowds.addresses.enter(household(address), most);
            place.map(Some).ok_or(TooMany::OfAddress)
        };
        let place = match self.open.fetch_add(1, Ordering::Relaxed) {
            open if open >= limits.connections => Err(TooMany::All),
            _ => place(),
        };
        place.inspect_err(|_| _ = self.open.fetch_sub(1, Ordering::Relaxed))
    }

    /// The places of what a client has under way beside the request of its connection.
    pub(crate) fn further_places(&self, client: &Client, service: &Service) -> FurtherPlaces {
        FurtherPlaces {
            addresses: Arc::clone(&self.crowds.addresses),
            client: client.household(),
            most: service.limits.per_address.filter(|_| !client.trusted),
        }
    }

    /// Connections that the gateway makes to itself, over all shards.
    pub(crate) fn own_connections(&self) -> &OwnConnections {
        &self.crowds.own
    }

    /// The same of the limit for who the client is by its certificate.
    pub(crate) fn place_of_identity(
        &self,
        client: &Client,
    ) -> Result<Option<Place<Identity>>, TooMany> {
        let generation = self.current();
        let service = &generation.service;
        let Some(most) = service.limits.per_identity else {
            return Ok(None);
        };
        let shown = client.connection.peer_certificates();
        let Some(own) = shown.first() else {
            return Ok(None);
        };
        let identity = Identity::of_any(own, &service.identity_order);
        let place = self.crowds.identities.enter(identity, most);
        place.map(Some).ok_or(TooMany::OfIdentity)
    }

    /// What a client is told for whom there is no room, which counts.
    pub(crate) fn refusal(&self, why: TooMany, service: &Service) -> Answer {
        self.metrics.refused.of(why).add(1);
        self.counters.add(Counter::TurnedAway, 1);
        service.voice.say(Answer::new(503, why.words()))
    }

    fn departed(&self, clients: &JoinSet<()>, ended: Result<(Id, ()), JoinError>) {
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        self.roll.borrow_mut().leave(id);
        // One connection's defect is not the others' end; it is counted, and the panic has told where it happened.
        let panicked = ended.is_err_and(|error| error.is_panic());
        self.metrics.panicked.add(u64::from(panicked));
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.metrics.connections.set(clients.len() as u64);
    }

    /// Notes what the client of this task has shown, so that it can be judged again. Judges it at once by what it is served by now: a
    /// reload may have come during its handshake, and a resumed session is as old as it is.
    pub(crate) fn know(
        &self,
        client: &Client,
        door: &Rc<DoorId>,
        before: Option<&Trust>,
    ) -> Result<(), Withdrawn> {
        let chain = client.connection.peer_certificates();
        let shown = match chain.is_empty() {
            true => None,
            // TLS reads no more of a chain than it needs: what could not be found in a list of revoked ones is not let in.
            false => Some(Shown::of(chain).ok_or(Withdrawn::Distrusted)?),
        };
        let now = crate::clock::since_epoch();
        self.judge(shown.as_ref(), &door.name, before, now)?;
        self.roll.borrow_mut().show(tokio::task::id(), shown);
        Ok(())
    }

    /// Judges by what is served by now who came through this door, has shown this if anything, and was accepted by `before`.
    fn judge(
        &self,
        shown: Option<&Shown>,
        door: &str,
        before: Option<&Trust>,
        now: Duration,
    ) -> Result<(), Withdrawn> {
        let current = self.current();
        let entrance = current.service.entrance(door);
        let trust = entrance.and_then(|entrance| entrance.tls.as_ref()?.trust.as_deref());
        match (trust, shown) {
            (Some(trust), Some(shown)) => trust.review(shown, before, now),
            // A listener that is closed, or asks for no certificates any more, vouches for nobody.
            (None, Some(_)) => Err(Withdrawn::Distrusted),
            (Some(trust), None) if trust.required => Err(Withdrawn::Distrusted),
            (_, None) => Ok(()),
        }
    }

    /// Ends the connections whose certificates hold no more, or that have none where one is demanded now, whatever they are doing.
    async fn review(&self, before: &Service) {
        /// Judged between two looks at what else there is to do, where signatures must be verified.
        const AT_ONCE: usize = 32;
        let now = crate::clock::since_epoch();
        let everybody = self.roll.borrow().everybody();
        for (number, (id, door, shown)) in everybody.into_iter().enumerate() {
            let shown = match &shown {
                // Judged when it has.
                Showing::NotYet => continue,
                Showing::Nothing => None,
                Showing::This(shown) => Some(&**shown),
            };
            let entrance = before.entrance(&door.name);
            let before = entrance.and_then(|entrance| entrance.tls.as_ref()?.trust.as_deref());
            if let Err(withdrawn) = self.judge(shown, &door.name, before, now)
                && self.roll.borrow_mut().end(id, withdrawn)
            {
                self.metrics.ended.withdrawn(withdrawn).add(1);
            }
            if number % AT_ONCE == AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Ends the connections whose certificates have expired.
    fn end_expired(&self) {
        let now = crate::clock::since_epoch();
        let expired = self.roll.borrow_mut().end_expired(now);
        self.metrics.ended.expired.add(expired);
    }

    fn tick(&self) {
        self.end_expired();
        self.metrics.held.set(u64::from(self.held.count()));
        self.metrics.mirroring.set(u64::from(self.mirrors.count()));
        for feed in self.analytics.iter().chain(&self.spans) {
            feed.borrow_mut().hand_over();
        }
        let now = Instant::now();
        let current = self.current();
        if let Some(control) = current
            .service
            .control
            .as_ref()
            .filter(|_| self.placement.shard == 0)
        {
            control.keys.sweep(crate::clock::unix_seconds());
        }
        for (upstream, metrics) in current.upstreams.iter().zip(&current.tally.upstreams) {
            upstream.close_expired(now);
            metrics.connections_idle.set(upstream.idle() as u64);
            upstream.start_checks();
            if let Some(health) = upstream.health().filter(|_| self.placement.shard == 0) {
                let out = health.out_of_use(now);
                metrics.ejected.set(out.ejected as u64);
                metrics.down.set(out.down as u64);
                metrics.ejections.set(health.ejections());
                metrics.failed_checks.set(health.failed_checks());
            }
        }
    }

    /// Lets exchanges under way end within the drain timeout and cuts off the rest; returns how many those were.
    async fn drain(&self, clients: &mut JoinSet<()>) -> usize {
        self.parting.set(true);
        let grace = self.timeouts().drain;
        let end = Instant::now() + grace;
        if self.sockets.have_a_successor() {
            // A client that is just sending its next request finds its connection open, and is told then that it ends.
            let parting = Instant::now() + PARTING.min(grace / 2);
            self.see_off(clients, parting).await;
        }
        self.draining.set(true);
        self.drain.notify_waiters();
        self.see_off(clients, end).await;
        let cut_off = clients.len();
        clients.shutdown().await;
        // Streams end with their connection, but each only when its turn comes; what they were is accounted for then.
        while Rc::strong_count(&self.streams) > 1 {
            tokio::task::yield_now().await;
        }
        self.mirrors.finish(end).await;
        cut_off
    }

    /// Waits until all clients have gone, or this time has come.
    async fn see_off(&self, clients: &mut JoinSet<()>, until: Instant) {
        let mut tick = interval(TICK);
        let gone = async {
            loop {
                tokio::select! {
                    ended = clients.join_next_with_id() => match ended {
                        Some(ended) => self.departed(clients, ended),
                        None => break,
                    },
                    // A certificate holds no longer because its client is seen off.
                    _ = tick.tick() => self.end_expired(),
                }
            }
        };
        if tokio::time::timeout_at(until, gone).await.is_err() {
            // Whoever is left is the caller's matter.
        }
    }

    /// Why the exchange is cut off that the current task is about.
    pub(crate) fn why_cut_off(&self) -> Ending {
        let why = tokio::task::try_id().and_then(|id| self.roll.borrow().why(id));
        match why {
            _ if std::thread::panicking() => Ending::Defect,
            Some(withdrawn) => withdrawn.into(),
            None if self.draining.get() => Ending::Drained,
            // The stream of HTTP/2 that it came by.
            None => Ending::ClientGone,
        }
    }

    /// Hands over the last records.
    pub(crate) fn finish(self) {
        for feed in self.analytics.into_iter().chain(self.spans) {
            feed.into_inner().finish();
        }
    }
}

/// Ready when the gateway is told to stop, also by the disappearance of whoever could tell it.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender is gone: nobody can stop us any more, so nobody wants us.
    }
}

/// Tells a client at once that there is no room. A socket this young takes a few bytes without waiting.
fn turn_away(stream: &TcpStream, answer: &Answer) {
    let mut out = Vec::new();
    let delivery = Delivery {
        to_head: false,
        close: true,
        http10: false,
    };
    answer.write(&mut out, delivery);
    if stream.try_write(&out).is_err() {
        // Then the client sees the connection end, which says the same.
    }
}
