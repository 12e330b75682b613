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
use plimsoll_http::pages::{self, Page};
use plimsoll_http::{Listener, RequestHead, accept};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

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
                    let (guard, sources) = (self.guard.clone(), Arc::clone(&self.sources));
                    clients.spawn_local(pages::serve(accepted?, IDLE, move |head| {
                        guard.check(head).unwrap_or_else(|| page(head, &sources))
                    }));
                }
                Some(_) = clients.join_next() => {}
            }
        }
    }
}

/// The endpoints.
fn page(head: &RequestHead, sources: &Sources) -> Page {
    match (head.method(), head.path()) {
        ("GET" | "HEAD", "/metrics") => metrics::page(sources),
        ("GET" | "HEAD", "/healthz") => health::page(sources),
        (_, "/metrics" | "/healthz") => refusal(405, "only GET and HEAD"),
        _ => refusal(404, "the admin listener has /metrics and /healthz"),
    }
}

fn refusal(status: u16, message: &str) -> Page {
    Page {
        status,
        content_type: "application/json",
        body: serde_json::json!({ "error": message, "status": status }).to_string() + "\n",
    }
}
