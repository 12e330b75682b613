//! A shard at work: accepts clients, owns their tasks, takes over what a reload brings, and sees its clients through when the gateway stops.

use crate::answering::answer::{Answer, Delivery};
use crate::listening::connection_registry::Showing;
use crate::listening::handover::Sockets;
use crate::listening::listener_id::{ListenerId, ListenerSpec};
use crate::metrics::ShardMetrics;
use crate::reloading::generation::{Blueprint, Generation};
use crate::reloading::reload::{Change, Message, Unfinished};
use crate::routing::service::Service;
use crate::server::connection;
use crate::shard::mirror::Mirrors;
use crate::shard::{ConnectionLimiters, Held, Shard};
use crate::upstream::Placement;
use plimsoll_base::counters::Counter;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::Drain;
use plimsoll_http::Row;
use plimsoll_http::clock::until;
use plimsoll_http::server::{Entered, ListenerSet, OpenConnections};
use plimsoll_records::RecordSender;
use plimsoll_records::tracing::Tracer;
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often records are handed over and old connections closed, whatever the traffic.
const TICK: Duration = Duration::from_millis(200);
/// How long connections without an exchange stay open when another process serves what comes anew.
const PARTING: Duration = Duration::from_secs(5);

/// State that a shard takes with it when it starts.
pub(crate) struct Share {
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) placement: Placement,
    pub(crate) open: Arc<OpenConnections>,
    pub(crate) limiters: ConnectionLimiters,
    pub(crate) metrics: Arc<ShardMetrics>,
    pub(crate) counters: Row,
    pub(crate) feed: Option<RecordSender>,
    /// Where spans go, if there are any.
    pub(crate) spans: Option<RecordSender>,
    /// Let go of as soon as the shard has its own descriptors, so that the ports close with the last shard's.
    pub(crate) listeners: Vec<ListenerSpec>,
    /// Changes by reloads.
    pub(crate) changes: mpsc::Receiver<Message>,
    /// To be let go of when it drains; and whether another process has them.
    pub(crate) sockets: Arc<Sockets>,
}

impl Shard {
    /// The shard that a share makes; what it listens on is left out.
    pub(crate) fn new(share: Share) -> (Self, Vec<ListenerSpec>, mpsc::Receiver<Message>) {
        let first = Generation::new(share.blueprint, &share.placement, None);
        let shard = Self {
            current: RefCell::new(Rc::new(first)),
            earlier: RefCell::default(),
            placement: share.placement,
            open: share.open,
            limiters: share.limiters,
            metrics: share.metrics,
            counters: share.counters,
            analytics: share.feed.map(RefCell::new),
            tracer: (share.spans.as_ref()).map(|_| Tracer::new(share.placement.shard)),
            spans: share.spans.map(RefCell::new),
            leaving: Cell::new(false),
            batches: RefCell::default(),
            parting: Cell::new(false),
            drain: Drain::default(),
            changed: Notify::new(),
            held: Held::default(),
            mirrors: Mirrors::default(),
            streams: Rc::default(),
            registry: RefCell::default(),
            sockets: share.sockets,
        };
        (shard, share.listeners, share.changes)
    }

    /// Serves the clients of `listeners` until `stop`, then drains. Returns how many exchanges had to be cut off.
    pub(crate) async fn run(
        self: Rc<Self>,
        listeners: Vec<ListenerSpec>,
        mut changes: mpsc::Receiver<Message>,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<usize> {
        let mut clients = JoinSet::new();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut entrances = ListenerSet::new(Arc::clone(&self.metrics.exhausted));
        let mut result = entrances.reconcile(listeners);
        let mut stopped = pin!(stopped(&mut stop));
        // When requests are not taken any more, once that is known.
        let mut leaves: Option<Instant> = None;
        while result.is_ok() {
            tokio::select! {
                accepted = entrances.accept() => match accepted {
                    Ok(entered) => self.admit(&mut clients, entered),
                    Err(error) => result = Err(error),
                },
                Some(ended) = clients.join_next_with_id(), if !clients.is_empty() => self.on_closed(&clients, ended),
                Some(message) = changes.recv() => match message {
                    Message::Change(change) => result = self.change(change, &mut entrances).await,
                    Message::Ask(generation, reply) => {
                        let changing = self.changing_before(generation);
                        reply.send(changing).ignored("whoever asked has gone");
                    }
                },
                _ = tick.tick() => self.tick(),
                () = &mut stopped, if leaves.is_none() => {
                    // A successor takes whoever comes: nobody needs to be told first.
                    let leave = match self.sockets.have_a_successor() {
                        true => Duration::ZERO,
                        false => self.timeouts().shutdown_delay,
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
        drop(entrances);
        let cut_off = self.drain(&mut clients).await;
        result.map(|()| cut_off)
    }

    /// Serves by another generation from the next request on, and says so.
    async fn change(
        &self,
        change: Change,
        entrances: &mut ListenerSet<ListenerId>,
    ) -> io::Result<()> {
        let before = self.current();
        let next = Generation::new(change.blueprint, &self.placement, Some(&before));
        self.current.replace(Rc::new(next));
        self.remember(&before);
        let result = entrances.reconcile(change.listeners);
        self.changed.notify_waiters();
        self.review(&before.service).await;
        change
            .done
            .send(())
            .ignored("whoever wanted to know has gone; the change stands");
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
    fn admit(self: &Rc<Self>, clients: &mut JoinSet<()>, entered: Entered<ListenerId>) {
        let Entered {
            stream,
            peer,
            listener: listener_id,
        } = entered;
        let generation = self.current();
        let entrance = generation.service.entrance(&listener_id.name);
        let tls = entrance.and_then(|entrance| entrance.tls.as_ref());
        let place = match self.place(peer, &generation.service) {
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
                let served = connection::serve(Rc::clone(self), stream, peer.ip(), accepted, place);
                (clients.spawn_local(served), Showing::Nothing)
            }
            Some(_) => {
                let listener_id = Rc::clone(&listener_id);
                let secured = connection::serve_secured(
                    Rc::clone(self),
                    stream,
                    peer.ip(),
                    listener_id,
                    accepted,
                    place,
                );
                (clients.spawn_local(secured), Showing::NotYet)
            }
        };
        self.registry.borrow_mut().enter(task, listener_id, shown);
        self.metrics.connections.set(clients.len() as u64);
    }

    fn on_closed(&self, clients: &JoinSet<()>, ended: Result<(Id, ()), JoinError>) {
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        self.registry.borrow_mut().leave(id);
        // One connection's defect is not the others' end; it is counted, and the panic has told where it happened.
        let panicked = ended.is_err_and(|error| error.is_panic());
        self.metrics.panicked.add(u64::from(panicked));
        self.metrics.connections.set(clients.len() as u64);
    }

    /// Ends the connections whose certificates hold no more, or that have none where one is demanded now, whatever they are doing.
    async fn review(&self, before: &Service) {
        /// Judged between two looks at what else there is to do, where signatures must be verified.
        const AT_ONCE: usize = 32;
        let now = plimsoll_http::clock::since_epoch();
        let everybody = self.registry.borrow().everybody();
        for (number, (id, listener_id, shown)) in everybody.into_iter().enumerate() {
            let shown = match &shown {
                // Judged when it has.
                Showing::NotYet => continue,
                Showing::Nothing => None,
                Showing::This(shown) => Some(&**shown),
            };
            let entrance = before.entrance(&listener_id.name);
            let before = entrance.and_then(|entrance| entrance.tls.as_ref()?.trust.as_deref());
            if let Err(withdrawn) = self.judge(shown, &listener_id.name, before, now)
                && self.registry.borrow_mut().end(id, withdrawn)
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
        let now = plimsoll_http::clock::since_epoch();
        let expired = self.registry.borrow_mut().end_expired(now);
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
            control.keys.sweep(plimsoll_http::clock::unix_seconds());
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
            self.drain_until(clients, parting).await;
        }
        self.drain.begin();
        self.drain_until(clients, end).await;
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
    async fn drain_until(&self, clients: &mut JoinSet<()>, until: Instant) {
        let mut tick = interval(TICK);
        let gone = async {
            loop {
                tokio::select! {
                    ended = clients.join_next_with_id() => match ended {
                        Some(ended) => self.on_closed(clients, ended),
                        None => break,
                    },
                    // A certificate holds no longer because its client is seen off.
                    _ = tick.tick() => self.end_expired(),
                }
            }
        };
        tokio::time::timeout_at(until, gone)
            .await
            .ignored("whoever is left is the caller's matter");
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
    stop.wait_for(|stop| *stop)
        .await
        .ignored("the sender is gone: nobody can stop us any more, so nobody wants us");
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
    stream
        .try_write(&out)
        .ignored("then the client sees the connection end, which says the same");
}
