//! The admin listener: `/metrics`, `/healthz`, `/ready`, `/reload`. One endpoint a file; who may ask is decided in [`guard`].
//!
//! Served by the first shard. Loopback only, by the configuration's rule.

mod guard;
mod health;
mod metrics;
mod ready;
mod reload;

use crate::config::GatewayConfig;
use crate::keys::KeyStore;
use crate::metrics::ShardMetrics;
use crate::reloading::generation::Blueprint;
use crate::reloading::reload::Asked;
use guard::Guard;
use plimsoll_http::pages::{self, Page};
use plimsoll_http::{Listener, RequestHead, accept};
use plimsoll_records::Counts;
use plimsoll_secrets::Figures;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
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

/// Sources of the pages: counters, and the reloader.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) shards: Vec<Arc<ShardMetrics>>,
    /// The generation that requests are served by: its names, and each shard's counters by them.
    pub(crate) generation: watch::Receiver<Arc<Blueprint>>,
    /// Outcomes of the records of each sink, and of spans.
    pub(crate) analytics: Vec<(&'static str, Arc<Counts>)>,
    /// Of Tyk's files.
    pub(crate) keys: Option<Arc<KeyStore>>,
    /// Of secrets that are kept.
    pub(crate) secrets: Arc<Figures>,
    /// Who reads the configuration anew, if anybody does.
    pub(crate) reloader: Option<mpsc::Sender<Asked>>,
    pub(crate) stop: watch::Receiver<bool>,
}

impl Admin {
    /// The admin side of `config`, if it has one.
    pub(crate) fn new(config: &GatewayConfig, sources: Sources) -> Option<Self> {
        let admin = config.admin.as_ref()?;
        Some(Self {
            guard: Guard::new(&admin.hosts),
            sources: Arc::new(sources),
        })
    }

    /// Serves until the listener fails; to be dropped when the gateway has stopped.
    pub(crate) async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        let mut clients = JoinSet::new();
        loop {
            tokio::select! {
                accepted = accept(&listener), if clients.len() < CONNECTIONS => {
                    let (guard, sources) = (self.guard.clone(), Arc::clone(&self.sources));
                    clients.spawn_local(pages::serve(accepted?, IDLE, async move |head: &RequestHead| {
                        match guard.check(head) {
                            Some(refusal) => refusal,
                            None => page(head, &sources).await,
                        }
                    }));
                }
                Some(_) = clients.join_next() => {}
            }
        }
    }
}

/// The endpoints.
async fn page(head: &RequestHead, sources: &Sources) -> Page {
    match (head.method(), head.path()) {
        ("GET" | "HEAD", "/metrics") => metrics::page(sources),
        ("GET" | "HEAD", "/healthz") => health::page(sources),
        ("GET" | "HEAD", "/ready") => ready::page(sources),
        ("POST", "/reload") => reload::page(sources).await,
        (_, "/metrics" | "/healthz" | "/ready") => refusal(405, "only GET and HEAD"),
        (_, "/reload") => refusal(405, "only POST"),
        _ => refusal(
            404,
            "the admin listener has /metrics, /healthz, /ready and /reload",
        ),
    }
}

fn refusal(status: u16, message: &str) -> Page {
    Page {
        status,
        content_type: "application/json",
        body: serde_json::json!({ "error": message, "status": status }).to_string() + "\n",
    }
}
