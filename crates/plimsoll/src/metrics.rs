//! Metrics of a run in progress for the outside: an endpoint that Prometheus scrapes, and metrics pushed by OTLP.
//!
//! Both read the same running totals and change nothing of the run: a reader that is slow, or absent, holds up nobody. Off unless
//! asked for.

mod address;
mod otlp;
mod server;

use crate::exit::Failure;
use crate::out;
use otlp::Push;
use plimsoll_http::otlp::{Endpoint, Signal};
use plimsoll_report::live::Totals;
use server::Server;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Metrics to offer, and where.
#[derive(Debug, clap::Args)]
pub struct Watchers {
    /// Serve metrics for Prometheus while it runs: `PORT` on loopback, or `ADDRESS:PORT`.
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    metrics: Option<SocketAddr>,
    /// Push metrics by OTLP over HTTP while it runs, such as to `http://127.0.0.1:4318`.
    #[arg(long, value_name = "URL", value_parser = |text: &str| Endpoint::parse(text, Signal::Metrics))]
    otlp: Option<Endpoint>,
}

/// A run's offers to the outside.
#[derive(Debug)]
pub struct Outside {
    totals: Mutex<Totals>,
    server: Option<Server>,
    push: Option<Push>,
}

impl Outside {
    /// Binds what is to be served, and says where.
    ///
    /// # Errors
    /// [`Failure::Environment`] when an address is taken.
    pub fn open(args: &Watchers, experiment: &str) -> Result<Self, Failure> {
        let server = args.metrics.map(Server::bind).transpose()?;
        if let Some(server) = &server {
            out::note(&format!("metrics: {}", server.url()));
        }
        let push = args.otlp.clone().map(|to| Push::new(to, experiment));
        Ok(Self {
            totals: Mutex::default(),
            server,
            push,
        })
    }

    /// Where the run adds up what it counts; `None` when nobody asked.
    pub fn totals(&self) -> Option<&Mutex<Totals>> {
        (self.server.is_some() || self.push.is_some()).then_some(&self.totals)
    }

    /// Runs `inner` and serves meanwhile; at its end the last totals are pushed.
    pub async fn beside<T>(&self, inner: impl Future<Output = T>) -> T {
        let serve = async {
            match &self.server {
                Some(server) => server.serve(&self.totals).await,
                None => std::future::pending().await,
            }
        };
        let push = async {
            match &self.push {
                Some(push) => push.every_interval(&self.totals).await,
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            result = inner => result,
            never = serve => match never {},
            never = push => match never {},
        };
        if let Some(push) = &self.push {
            push.last(&self.totals).await;
        }
        result
    }
}

/// The totals, whoever else looked at them before.
fn read<T>(totals: &Mutex<Totals>, look: impl FnOnce(&Totals) -> T) -> T {
    look(&totals.lock().unwrap_or_else(PoisonError::into_inner))
}
