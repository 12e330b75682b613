//! One shard of a running mock: accepts connections, serves each in a task of its own, ends them when told to stop.

pub(crate) mod connection;
pub(crate) mod exchange;
pub(crate) mod http2;
pub(crate) mod shard;
pub(crate) mod static_files;
pub(crate) mod webhooks;

use crate::serve::shard::{Shard, Shared};
use plimsoll_base::counters::Counter;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::server::{Entered, ListenerSet, ListenerSpec};
use plimsoll_http::shard::propagate_panic;
use plimsoll_http::tls::ServerTls;
use plimsoll_http::{Listener, Row};
use plimsoll_wiremock::response::answer::{Answer, Extent, Form, Persistence};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The time that a line of the latency log is about.
const LATENCY_INTERVAL: Duration = Duration::from_secs(1);

/// A listener of the mock, for all shards.
#[derive(Debug)]
pub(crate) struct MockListener {
    pub(crate) listener: Listener,
    /// Secures its connections.
    pub(crate) tls: Option<ServerTls>,
}

/// Serves until `stop` says so, then lets requests under way end within the grace period. A failure stops every shard.
pub(crate) async fn run(
    shared: Arc<Shared>,
    index: usize,
    counters: Row,
    listeners: &[MockListener],
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let result = Shard::start(Arc::clone(&shared), index, counters, listeners, stop).await;
    if result.is_err() {
        shared.ending.send_replace(true);
    }
    result
}

impl Shard {
    async fn start(
        shared: Arc<Shared>,
        index: usize,
        counters: Row,
        listeners: &[MockListener],
        stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let mut open = ListenerSet::new(shared.metrics.exhausted(index));
        let own = listeners.iter().enumerate().map(|(id, mock)| {
            let listener = Some(mock.listener.try_clone()?);
            Ok(ListenerSpec { id, listener })
        });
        open.reconcile(own.collect::<io::Result<_>>()?)?;
        let shard = Rc::new(Self::new(shared, index, counters)?);
        tokio::select! {
            result = Rc::clone(&shard).serve(listeners, open, stop) => result,
            never = shard.timer.run() => match never {},
            result = shard.outgoing.tidy() => result,
            result = shard.write_latencies() => result,
        }
    }

    /// Writes the times of other servers every second, on one of the shards; never ends otherwise.
    async fn write_latencies(&self) -> io::Result<()> {
        let log = self.shared.latency.as_ref().filter(|_| self.index == 0);
        let Some(log) = log else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(LATENCY_INTERVAL).await;
            let (log, now) = (Arc::clone(log), Instant::now());
            let written = tokio::task::spawn_blocking(move || log.write(now)).await;
            written.map_err(io::Error::other)??;
        }
    }

    async fn serve(
        self: Rc<Self>,
        listeners: &[MockListener],
        mut open: ListenerSet<usize>,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let mut ending = self.shared.ending.subscribe();
        // A sender that is gone will never say stop: that is the end, too.
        let mut stopped = pin!(stop.wait_for(|stop| *stop));
        let mut told_to_end = pin!(ending.wait_for(|ending| *ending));
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = open.accept() => self.admit(&mut connections, accepted?, listeners),
                Some(ended) = connections.join_next() => propagate_panic(ended),
                _ = &mut stopped => break,
                _ = &mut told_to_end => break,
            }
        }
        drop(open);
        self.drain.begin();
        let drained = async {
            while let Some(ended) = connections.join_next().await {
                propagate_panic(ended);
            }
            self.webhooks.finish().await;
        };
        // What has not ended by then is dropped with the set.
        if tokio::time::timeout(self.shared.grace, drained)
            .await
            .is_err()
        {
            connections.abort_all();
        }
        Ok(())
    }

    /// Takes a client in, or turns it away if there are too many.
    fn admit(
        self: &Rc<Self>,
        connections: &mut JoinSet<()>,
        entered: Entered<usize>,
        listeners: &[MockListener],
    ) {
        let Entered {
            stream,
            peer,
            listener,
        } = entered;
        let tls = listeners[*listener].tls.as_ref();
        let Some(slot) = self.shared.connections.enter(self.shared.room) else {
            self.counters.add(Counter::TurnedAway, 1);
            // Who wants TLS could not read it.
            if tls.is_none() {
                turn_away(&stream);
            }
            return;
        };
        self.counters.add(Counter::Accepted, 1);
        let shard = Rc::clone(self);
        match tls {
            None => connections.spawn_local(connection::serve(stream, peer.ip(), shard, slot)),
            Some(tls) => {
                let tls = tls.clone();
                connections.spawn_local(connection::serve_secured(
                    stream,
                    peer.ip(),
                    tls,
                    shard,
                    slot,
                ))
            }
        };
    }
}

/// Tells a client at once that there is no room. A socket this young takes a few bytes without waiting.
fn turn_away(stream: &TcpStream) {
    let mut out = Vec::new();
    let form = Form {
        persistence: Persistence::Close,
        extent: Extent::Whole,
    };
    Answer::text(503, "too many connections\n").append_to(&mut out, form);
    stream
        .try_write(&out)
        .ignored("then the client sees the connection end, which says the same");
}
