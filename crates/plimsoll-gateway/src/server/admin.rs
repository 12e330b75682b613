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
use plimsoll_http::pages::{self, Page, Terms};
use plimsoll_http::{Drain, Listener, RequestHead, ShardListener};
use plimsoll_records::Counts;
use plimsoll_secrets::Figures;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// Admin connections at a time; further ones wait to be accepted.
const CONNECTIONS: usize = 32;
/// An admin client sends no body.
const TERMS: Terms = Terms {
    patience: Duration::from_secs(30),
    body_bytes: 0,
};

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

    /// Serves until it is `over`, and then those clients that it has taken and not answered. Ends early when the listener fails.
    pub(crate) async fn serve(
        &self,
        listener: ShardListener,
        over: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let drain = Rc::new(Drain::default());
        let answer = |client| self.answer(client, Rc::clone(&drain));
        pages::serve_until(listener, CONNECTIONS, over, &drain, answer).await
    }

    fn answer(&self, client: TcpStream, drain: Rc<Drain>) -> impl Future<Output = ()> + 'static {
        let (guard, sources) = (self.guard.clone(), Arc::clone(&self.sources));
        async move {
            let answer = async move |head: &RequestHead, _: &[u8]| match guard.check(head) {
                Some(refusal) => refusal,
                None => page(head, &sources).await,
            };
            pages::serve(client, TERMS, &drain, answer).await;
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
    Page::new(
        status,
        "application/json",
        serde_json::json!({ "error": message, "status": status }).to_string() + "\n",
    )
}
