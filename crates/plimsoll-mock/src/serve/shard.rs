//! State of serving: of all shards of a mock, and of one of them.
//!
//! A shard's work is left to [`crate::serve`].

use crate::admin::guard::Guard;
use crate::admin::{self, Admin};
use crate::builtins::{self, Endpoints};
use crate::config::Timeouts;
use crate::kept_body::{BodyRoom, Wish};
use crate::mappings::recording::at_once::AtOnce;
use crate::mappings::stubs::Stubs;
use crate::outgoing::{Client, Outgoing};
use crate::records::journal::Journal;
use crate::records::latency_log::LatencyLog;
use crate::records::metrics::Metrics;
use crate::serve::webhooks::{Firing, Tally, WebhookSender};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::server::OpenConnections;
use plimsoll_http::timer::DelayTimer;
use plimsoll_http::{Drain, Limits, Row};
use plimsoll_wiremock::reader::body_files::BodyFiles;
use plimsoll_wiremock::response::delay::DelayPrecision;
use plimsoll_wiremock::stub::differences::Differences;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// Body files that are read at a time, over all shards: each takes as much memory as it is long.
pub(crate) const FILES_READ: usize = 4;

/// State that all shards of a mock share.
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
    pub(crate) webhooks: Arc<Tally>,
    /// Writer of mappings of requests that are sent on, if they are to be written at once.
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
    /// Connections open now, over all shards.
    pub(crate) connections: Arc<OpenConnections>,
    pub(crate) timeouts: Timeouts,
    /// Where requests' bodies are held, over all shards.
    pub(crate) bodies: Arc<BodyRoom>,
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

/// One shard.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Which of the shards this is, from 0.
    pub(crate) index: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) counters: Row,
    pub(crate) timer: DelayTimer,
    /// Sends requests to other servers.
    pub(crate) outgoing: Rc<Client>,
    pub(crate) webhooks: Firing,
    /// Begins when the mock stops: answers say that their connection closes.
    pub(crate) drain: Drain,
}

impl Shared {
    /// The randomness of one delay.
    pub(crate) fn draw(&self) -> Draw {
        let index = self.next_draw.fetch_add(1, Ordering::Relaxed);
        Draw::new(self.seed, Stream::Delays, index)
    }

    /// Who wants the body of a request for this path.
    pub(crate) fn wish(&self, path: &str) -> Wish {
        let needed = builtins::wants_body(path)
            || admin::is_admin(path)
            || self.stubs.current().wants_bodies();
        match (needed, self.journal.is_on()) {
            (true, _) => Wish::Needed,
            (false, true) => Wish::Journal,
            (false, false) => Wish::Nobody,
        }
    }
}

impl Shard {
    /// A shard that serves nobody yet.
    pub(crate) fn new(shared: Arc<Shared>, index: usize, counters: Row) -> io::Result<Self> {
        let outgoing = Rc::new(Client::new(Arc::clone(&shared.outgoing)));
        Ok(Self {
            index,
            webhooks: Firing::new(WebhookSender {
                shard: index,
                client: Rc::clone(&outgoing),
                journal: Arc::clone(&shared.journal),
                tally: Arc::clone(&shared.webhooks),
                bodies: Arc::clone(&shared.bodies),
            }),
            outgoing,
            shared,
            counters,
            timer: DelayTimer::new()?,
            drain: Drain::default(),
        })
    }
}
