//! One shard: accepts clients, owns their tasks, takes over what a reload brings, and sees its clients through when the gateway stops.

use crate::analytics::Feed;
use crate::answer::{Answer, Delivery};
use crate::client;
use crate::config::Timeouts;
use crate::doors::{Door, Doors};
use crate::generation::{Blueprint, Generation};
use crate::metrics::ShardMetrics;
use crate::reload::Change;
use crate::upstream::Placement;
use plimsoll_base::counters::Counter;
use plimsoll_http::Row;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often records are handed over and old connections closed, whatever the traffic.
const TICK: Duration = Duration::from_millis(200);

/// What the connections of one shard share. Only its own thread touches it.
#[derive(Debug)]
pub(crate) struct Shard {
    /// What requests are served by that come now.
    current: RefCell<Rc<Generation>>,
    placement: Placement,
    /// Client connections open now, over all shards. Changed once per connection, never per request.
    open: Arc<AtomicU32>,
    pub(crate) metrics: Arc<ShardMetrics>,
    /// What outlives the process.
    pub(crate) counters: Row,
    pub(crate) analytics: Option<RefCell<Feed>>,
    /// The gateway stops: connections end after their current exchange.
    pub(crate) draining: Cell<bool>,
    /// Wakes connections that wait for a request when draining begins.
    pub(crate) drain: Notify,
}

/// What a shard takes with it when it starts.
pub(crate) struct Share {
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) placement: Placement,
    pub(crate) open: Arc<AtomicU32>,
    pub(crate) metrics: Arc<ShardMetrics>,
    pub(crate) counters: Row,
    pub(crate) feed: Option<Feed>,
    /// Let go of as soon as the shard has its own descriptors, so that the ports close with the last shard's.
    pub(crate) doors: Vec<Door>,
    /// What reloads bring.
    pub(crate) changes: mpsc::Receiver<Change>,
}

impl Shard {
    /// The shard that a share makes; what it listens on is left out.
    pub(crate) fn new(share: Share) -> (Self, Vec<Door>, mpsc::Receiver<Change>) {
        let first = Generation::new(share.blueprint, &share.placement, None);
        let shard = Self {
            current: RefCell::new(Rc::new(first)),
            placement: share.placement,
            open: share.open,
            metrics: share.metrics,
            counters: share.counters,
            analytics: share.feed.map(RefCell::new),
            draining: Cell::new(false),
            drain: Notify::new(),
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
        mut changes: mpsc::Receiver<Change>,
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
                    Ok((stream, door)) => self.admit(&mut clients, stream, &door.name),
                    Err(error) => result = Err(error),
                },
                Some(ended) = clients.join_next(), if !clients.is_empty() => self.departed(&clients, ended),
                Some(change) = changes.recv() => result = self.change(change, &mut entrances),
                _ = tick.tick() => self.tick(),
                _ = stopped(&mut stop), if leaves.is_none() => {
                    leaves = Some(Instant::now() + self.timeouts().leave);
                }
                () = until(leaves), if leaves.is_some() => break,
            }
        }
        // Whoever waits for a change to be taken over learns that it will not be.
        drop(changes);
        entrances.close().await;
        let cut_off = self.drain(&mut clients).await;
        result.map(|()| cut_off)
    }

    /// Serves by another generation from the next request on, and says so.
    fn change(&self, change: Change, entrances: &mut Doors) -> io::Result<()> {
        let next = Generation::new(change.blueprint, &self.placement, Some(&self.current()));
        self.current.replace(Rc::new(next));
        let result = entrances.become_these(change.doors);
        if change.done.send(()).is_err() {
            // Whoever wanted to know has gone; the change stands.
        }
        result
    }

    /// Takes a client in, or turns it away if there are too many.
    fn admit(self: &Rc<Self>, clients: &mut JoinSet<()>, stream: TcpStream, _door: &str) {
        let limit = self.current.borrow().service.limits.connections;
        if self.open.fetch_add(1, Ordering::Relaxed) >= limit {
            self.open.fetch_sub(1, Ordering::Relaxed);
            self.metrics.connections_refused.add(1);
            self.counters.add(Counter::TurnedAway, 1);
            let answer = Answer::new(503, "too many connections");
            turn_away(&stream, &self.current().service.voice.say(answer));
            return;
        }
        self.counters.add(Counter::Accepted, 1);
        let timed = self.current.borrow().service.timings.any();
        let accepted = timed.then(Instant::now);
        clients.spawn_local(client::serve(Rc::clone(self), stream, accepted));
        self.metrics.connections.set(clients.len() as u64);
    }

    fn departed(&self, clients: &JoinSet<()>, ended: Result<(), JoinError>) {
        // One connection's defect is not the others' end; it is counted, and the panic has told where it happened.
        self.metrics.panicked.add(u64::from(ended.is_err()));
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.metrics.connections.set(clients.len() as u64);
    }

    fn tick(&self) {
        if let Some(feed) = &self.analytics {
            feed.borrow_mut().hand_over();
        }
        let now = Instant::now();
        let current = self.current();
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
        self.draining.set(true);
        self.drain.notify_waiters();
        let grace = self.timeouts().drain;
        let ended = async {
            while let Some(ended) = clients.join_next().await {
                self.departed(clients, ended);
            }
        };
        let cut_off = match tokio::time::timeout(grace, ended).await {
            Ok(()) => 0,
            Err(_) => clients.len(),
        };
        clients.shutdown().await;
        cut_off
    }

    /// Hands over the last records.
    pub(crate) fn finish(self) {
        if let Some(feed) = self.analytics {
            feed.into_inner().finish();
        }
    }
}

/// Ready at this time; never without one.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
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
