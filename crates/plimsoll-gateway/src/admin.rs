//! The admin listener: `/metrics`, `/healthz`. One endpoint a file; who may ask is decided in [`guard`].
//!
//! Served by the first shard. Loopback only, by the configuration's rule.

mod guard;
mod health;
mod metrics;

use crate::analytics::Written;
use crate::config::GatewayConfig;
use crate::metrics::ShardMetrics;
use guard::Guard;
use plimsoll_http::{Framing, Limits, Listener, RequestHead, TcpServer, Watch, accept, encode};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Admin connections at a time; further ones wait to be accepted.
const CONNECTIONS: usize = 32;
/// How long an admin client may take over a request or be idle.
const IDLE: Duration = Duration::from_secs(30);

/// The bound admin socket.
pub(crate) struct AdminListener(pub(crate) Listener);

/// Everything that admin endpoints look at.
#[derive(Debug)]
pub(crate) struct Admin {
    guard: Guard,
    sources: Arc<Sources>,
}

/// What is counted, and what counters refer to by index.
#[derive(Debug)]
struct Sources {
    routes: Vec<String>,
    upstreams: Vec<String>,
    shards: Vec<Arc<ShardMetrics>>,
    analytics: Option<Arc<Written>>,
    stop: watch::Receiver<bool>,
}

/// What an endpoint answers.
struct Page {
    status: u16,
    content_type: &'static str,
    body: String,
}

impl Admin {
    /// The admin side of `config`, if it has one.
    pub(crate) fn new(
        config: &GatewayConfig,
        shards: Vec<Arc<ShardMetrics>>,
        analytics: Option<Arc<Written>>,
        stop: watch::Receiver<bool>,
    ) -> Option<Self> {
        let admin = config.admin.as_ref()?;
        Some(Self {
            guard: Guard::new(&admin.hosts),
            sources: Arc::new(Sources {
                routes: config
                    .routes
                    .iter()
                    .map(|route| route.path.clone())
                    .collect(),
                upstreams: config.upstreams.iter().map(|u| u.name.clone()).collect(),
                shards,
                analytics,
                stop,
            }),
        })
    }

    /// Serves until the listener fails; to be dropped when the gateway has stopped.
    pub(crate) async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        let mut clients = JoinSet::new();
        loop {
            tokio::select! {
                accepted = accept(&listener), if clients.len() < CONNECTIONS => {
                    let client = serve_client(self.guard.clone(), Arc::clone(&self.sources), accepted?);
                    clients.spawn_local(client);
                }
                Some(_) = clients.join_next() => {}
            }
        }
    }
}

async fn serve_client(guard: Guard, sources: Arc<Sources>, stream: TcpStream) {
    let limits = Limits {
        body_bytes: 0,
        ..Limits::default()
    };
    let mut connection = TcpServer::from_stream(stream, limits);
    let mut watch = Watch::new(Instant::now() + IDLE);
    loop {
        let deadline = Instant::now() + IDLE;
        let request = watch.until(|| deadline, connection.requests.next_head());
        let Ok(Ok(true)) = request.await else { return };
        let head = connection.requests.head();
        let page = guard.check(head).unwrap_or_else(|| page(head, &sources));
        let keep = head.keep_alive() && head.framing() == Framing::None;
        let to_head = head.method() == "HEAD";
        let out = connection.output.buffer();
        encode::status_line(out, page.status, None);
        encode::field(out, "Content-Type", page.content_type);
        encode::field(out, "Cache-Control", "no-store");
        encode::content_length(out, page.body.len() as u64);
        if !keep {
            encode::field(out, "Connection", "close");
        }
        encode::end_head(out);
        if !to_head {
            out.extend_from_slice(page.body.as_bytes());
        }
        let flushed = watch.until(|| deadline, connection.output.flush()).await;
        if !keep || !matches!(flushed, Ok(Ok(()))) {
            return;
        }
    }
}

/// The endpoints.
fn page(head: &RequestHead, sources: &Sources) -> Page {
    match (head.method(), head.path()) {
        ("GET" | "HEAD", "/metrics") => metrics::page(sources),
        ("GET" | "HEAD", "/healthz") => health::page(sources),
        (_, "/metrics" | "/healthz") => Page::error(405, "only GET and HEAD"),
        _ => Page::error(404, "the admin listener has /metrics and /healthz"),
    }
}

impl Page {
    fn error(status: u16, message: &str) -> Self {
        Self {
            status,
            content_type: "application/json",
            body: serde_json::json!({ "error": message, "status": status }).to_string() + "\n",
        }
    }
}
