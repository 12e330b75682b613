//! One shard of a running mock: accepts connections, serves each in a task of its own, ends them when told to stop.

use crate::admin::Admin;
use crate::admin::guard::Guard;
use crate::answer::{Answer, Extent, Form, Persistence};
use crate::body_files::BodyFiles;
use crate::builtins::Endpoints;
use crate::config::Timeouts;
use crate::connection;
use crate::delay::DelayPrecision;
use crate::delay_timer::DelayTimer;
use crate::differences::Differences;
use crate::journal::Journal;
use crate::latency_log::LatencyLog;
use crate::metrics::Metrics;
use crate::outgoing::{Client, Outgoing};
use crate::recording::at_once::AtOnce;
use crate::stubs::Stubs;
use crate::webhooks::{Firing, Tally};
use plimsoll_base::counters::Counter;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::tls::ServerTls;
use plimsoll_http::{Limits, Listener, Row, accept};
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Body files that are read at a time, over all shards: each takes as much memory as it is long.
pub(crate) const FILES_READ: usize = 4;

/// The time that a line of the latency log is about.
const LATENCY_INTERVAL: Duration = Duration::from_secs(1);

/// What all shards of a mock share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) stubs: Arc<Stubs>,
    pub(crate) endpoints: Arc<Endpoints>,
    /// Those that are served by their paths.
    pub(crate) files: BodyFiles,
    pub(crate) admin: Arc<Admin>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) differences: Differences,
    pub(crate) guard: Guard,
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) webhooks: Tally,
    /// What writes mappings of requests that are sent on, if they are to be written at once.
    pub(crate) recorder: Option<Arc<AtOnce>>,
    /// The times of other servers, if they are to be written.
    pub(crate) latency: Option<Arc<LatencyLog>>,
    pub(crate) limits: Limits,
    pub(crate) gzip: bool,
    /// Whether pages of any origin may read what stubs answer.
    pub(crate) stub_cors: bool,
    pub(crate) http2_in_clear: bool,
    /// How many clients there may be at a time.
    pub(crate) room: u32,
    /// How many there are, over all shards. Changed once per connection, never per request.
    pub(crate) connections: AtomicU32,
    pub(crate) timeouts: Timeouts,
    /// Bytes of requests' bodies that are held in memory, over all shards.
    pub(crate) held: AtomicUsize,
    /// Who may read a body file now.
    pub(crate) reading: Semaphore,
    pub(crate) precision: DelayPrecision,
    pub(crate) grace: Duration,
    pub(crate) seed: u64,
    /// The next index of the delays' random stream: counted over all shards, so that every draw is another one.
    pub(crate) next_draw: AtomicU64,
    /// Set when a shard has failed, or a client asked for the end: the shards end as if told to stop.
    pub(crate) ending: watch::Sender<bool>,
}

/// Where clients come in.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) listener: Listener,
    /// What secures their connections.
    pub(crate) tls: Option<ServerTls>,
}

/// A shard's share of a door.
struct Entrance {
    listener: tokio::net::TcpListener,
    tls: Option<ServerTls>,
}

impl Door {
    /// A handle for one shard, inside whose runtime this is called.
    fn for_shard(&self) -> io::Result<Entrance> {
        Ok(Entrance {
            listener: self.listener.for_shard()?,
            tls: self.tls.clone(),
        })
    }
}

impl Entrance {
    async fn enter(&self) -> io::Result<(TcpStream, Option<&ServerTls>)> {
        Ok((accept(&self.listener).await?, self.tls.as_ref()))
    }
}

/// One shard.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Which of the shards this is, from 0.
    pub(crate) index: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) counters: Row,
    pub(crate) timer: DelayTimer,
    /// Sends requests to other servers.
    pub(crate) outgoing: Client,
    pub(crate) webhooks: Firing,
    /// Set once the mock is stopping: answers say that the connection closes.
    pub(crate) stopping: Cell<bool>,
    /// Wakes connections that wait for a request when the mock is stopping.
    pub(crate) stop: Notify,
}

impl Shared {
    /// The randomness of one delay.
    pub(crate) fn draw(&self) -> Draw {
        let index = self.next_draw.fetch_add(1, Ordering::Relaxed);
        Draw::new(self.seed, Stream::Delays, index)
    }
}

impl Shard {
    /// Serves until `stop` says so, then lets requests under way end within the grace period. A failure stops every shard.
    pub(crate) async fn run(
        shared: Arc<Shared>,
        index: usize,
        counters: Row,
        doors: &[Door],
        stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let result = Self::start(Arc::clone(&shared), index, counters, doors, stop).await;
        if result.is_err() {
            shared.ending.send_replace(true);
        }
        result
    }

    async fn start(
        shared: Arc<Shared>,
        index: usize,
        counters: Row,
        doors: &[Door],
        stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let entrances = doors.iter().map(Door::for_shard);
        let entrances = entrances.collect::<io::Result<Vec<_>>>()?;
        let shard = Rc::new(Self {
            index,
            outgoing: Client::new(Arc::clone(&shared.outgoing)),
            webhooks: Firing::default(),
            shared,
            counters,
            timer: DelayTimer::new()?,
            stopping: Cell::new(false),
            stop: Notify::new(),
        });
        tokio::select! {
            result = Rc::clone(&shard).serve(entrances, stop) => result,
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
        entrances: Vec<Entrance>,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let mut ending = self.shared.ending.subscribe();
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                entered = enter(&entrances) => {
                    let (stream, tls) = entered?;
                    self.admit(&mut connections, stream, tls);
                }
                Some(ended) = connections.join_next() => self.departed(ended),
                // A sender that is gone will never say stop: that is the end, too.
                _ = stop.wait_for(|stop| *stop) => break,
                _ = ending.wait_for(|ending| *ending) => break,
            }
        }
        drop(entrances);
        self.stopping.set(true);
        self.stop.notify_waiters();
        let drained = async {
            while let Some(ended) = connections.join_next().await {
                self.departed(ended);
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
    fn departed(&self, ended: Result<(), JoinError>) {
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

/// Waits for the next client of any entrance.
async fn enter(entrances: &[Entrance]) -> io::Result<(TcpStream, Option<&ServerTls>)> {
    match entrances {
        [only] => only.enter().await,
        [one, other] => tokio::select! {
            entered = one.enter() => entered,
            entered = other.enter() => entered,
        },
        _ => std::future::pending().await,
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
    if stream.try_write(&out).is_err() {
        // Then the client sees the connection end, which says the same.
    }
}
