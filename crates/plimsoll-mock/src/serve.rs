//! One shard of a running mock: accepts connections, serves each in a task of its own, ends them when told to stop.

use crate::connection;
use crate::listeners::{ListenerSpec, ShardListener, incoming};
use crate::shard::{Shard, Shared};
use plimsoll_base::counters::Counter;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::Row;
use plimsoll_http::tls::ServerTls;
use plimsoll_wiremock::answer::{Answer, Extent, Form, Persistence};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// The time that a line of the latency log is about.
const LATENCY_INTERVAL: Duration = Duration::from_secs(1);

/// Serves until `stop` says so, then lets requests under way end within the grace period. A failure stops every shard.
pub(crate) async fn run(
    shared: Arc<Shared>,
    index: usize,
    counters: Row,
    specs: &[ListenerSpec],
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let result = Shard::start(Arc::clone(&shared), index, counters, specs, stop).await;
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
        specs: &[ListenerSpec],
        stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let listeners = specs.iter().map(ListenerSpec::for_shard);
        let listeners = listeners.collect::<io::Result<Vec<_>>>()?;
        let shard = Rc::new(Self::new(shared, index, counters)?);
        tokio::select! {
            result = Rc::clone(&shard).serve(listeners, stop) => result,
            result = shard.timer.run() => result,
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
        listeners: Vec<ShardListener>,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let mut ending = self.shared.ending.subscribe();
        let mut connections = JoinSet::new();
        let mut incoming = incoming(&listeners);
        loop {
            tokio::select! {
                entered = incoming.next() => {
                    let (stream, tls) = entered?;
                    self.admit(&mut connections, stream, tls);
                }
                Some(ended) = connections.join_next() => self.on_closed(ended),
                // A sender that is gone will never say stop: that is the end, too.
                _ = stop.wait_for(|stop| *stop) => break,
                _ = ending.wait_for(|ending| *ending) => break,
            }
        }
        drop(incoming);
        drop(listeners);
        self.stopping.set(true);
        self.stop.notify_waiters();
        let drained = async {
            while let Some(ended) = connections.join_next().await {
                self.on_closed(ended);
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
        stream: TcpStream,
        tls: Option<&ServerTls>,
    ) {
        let shared = &self.shared;
        if shared.connections.fetch_add(1, Ordering::Relaxed) >= shared.room {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
            self.counters.add(Counter::TurnedAway, 1);
            // Who wants TLS could not read it.
            if tls.is_none() {
                turn_away(&stream);
            }
            return;
        }
        self.counters.add(Counter::Accepted, 1);
        let shard = Rc::clone(self);
        match tls {
            None => connections.spawn_local(connection::serve(stream, shard)),
            Some(tls) => {
                let tls = tls.clone();
                connections.spawn_local(connection::serve_secured(stream, tls, shard))
            }
        };
    }

    /// A connection's own errors end that connection; a panic is a defect and ends the shard.
    fn on_closed(&self, ended: Result<(), JoinError>) {
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
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
