//! One shard: accepts clients, owns their tasks, and sees them through when the gateway stops.

use crate::analytics::Feed;
use crate::answer::{Answer, Delivery};
use crate::client;
use crate::metrics::ShardMetrics;
use crate::service::Service;
use crate::upstream::Upstream;
use plimsoll_base::counters::Counter;
use plimsoll_http::{Row, accept_or_tell};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often records are handed over and old connections closed, whatever the traffic.
const TICK: Duration = Duration::from_millis(200);

/// What the connections of one shard share. Only its own thread touches it.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Which one it is, from 0.
    pub(crate) index: usize,
    pub(crate) service: Arc<Service>,
    pub(crate) upstreams: Vec<Upstream>,
    pub(crate) metrics: Arc<ShardMetrics>,
    /// What outlives the process.
    pub(crate) counters: Row,
    pub(crate) analytics: Option<RefCell<Feed>>,
    /// The gateway stops: connections end after their current exchange.
    pub(crate) draining: Cell<bool>,
    /// Wakes connections that wait for a request when draining begins.
    pub(crate) drain: Notify,
}

impl Shard {
    /// Serves the clients of `listeners` until `stop`, then drains. Returns how many exchanges had to be cut off.
    pub(crate) async fn run(
        self: Rc<Self>,
        listeners: Vec<TcpListener>,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<usize> {
        let mut clients = JoinSet::new();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut accepting: JoinSet<io::Result<(TcpListener, TcpStream)>> = JoinSet::new();
        for listener in listeners {
            accepting.spawn_local(accept_one(listener, Arc::clone(&self.metrics)));
        }
        let result = loop {
            tokio::select! {
                Some(accepted) = accepting.join_next() => {
                    match accepted.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
                        Ok((listener, stream)) => {
                            accepting.spawn_local(accept_one(listener, Arc::clone(&self.metrics)));
                            self.admit(&mut clients, stream);
                        }
                        Err(error) => break Err(error),
                    }
                }
                Some(ended) = clients.join_next(), if !clients.is_empty() => self.departed(&clients, ended),
                _ = tick.tick() => self.tick(),
                _ = stopped(&mut stop) => break Ok(()),
            }
        };
        accepting.shutdown().await;
        let cut_off = self.drain(&mut clients).await;
        result.map(|()| cut_off)
    }

    /// Takes a client in, or turns it away if there are too many.
    fn admit(self: &Rc<Self>, clients: &mut JoinSet<()>, stream: TcpStream) {
        let limit = self.service.limits.connections;
        if self.service.connections.fetch_add(1, Ordering::Relaxed) >= limit {
            self.service.connections.fetch_sub(1, Ordering::Relaxed);
            self.metrics.connections_refused.add(1);
            self.counters.add(Counter::TurnedAway, 1);
            turn_away(&stream);
            return;
        }
        self.counters.add(Counter::Accepted, 1);
        clients.spawn_local(client::serve(Rc::clone(self), stream));
        self.metrics.connections.set(clients.len() as u64);
    }

    fn departed(&self, clients: &JoinSet<()>, ended: Result<(), JoinError>) {
        // One connection's defect is not the others' end; it is counted, and the panic has told where it happened.
        self.metrics.panicked.add(u64::from(ended.is_err()));
        self.service.connections.fetch_sub(1, Ordering::Relaxed);
        self.metrics.connections.set(clients.len() as u64);
    }

    fn tick(&self) {
        if let Some(feed) = &self.analytics {
            feed.borrow_mut().hand_over();
        }
        let now = Instant::now();
        for (upstream, metrics) in self.upstreams.iter().zip(&self.metrics.upstreams) {
            upstream.close_expired(now);
            metrics.connections_idle.set(upstream.idle() as u64);
            upstream.start_checks();
            if let Some(health) = upstream.health().filter(|_| self.index == 0) {
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
        let grace = self.service.timeouts.drain;
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

async fn accept_one(
    listener: TcpListener,
    metrics: Arc<ShardMetrics>,
) -> io::Result<(TcpListener, TcpStream)> {
    let stream = accept_or_tell(&listener, || metrics.exhausted.add(1)).await?;
    Ok((listener, stream))
}

/// Ready when the gateway is told to stop, also by the disappearance of whoever could tell it.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender is gone: nobody can stop us any more, so nobody wants us.
    }
}

/// Tells a client at once that there is no room. A socket this young takes a few bytes without waiting.
fn turn_away(stream: &TcpStream) {
    let mut out = Vec::new();
    let delivery = Delivery {
        to_head: false,
        close: true,
        http10: false,
    };
    Answer::new(503, "too many connections").write(&mut out, delivery);
    if stream.try_write(&out).is_err() {
        // Then the client sees the connection end, which says the same.
    }
}
