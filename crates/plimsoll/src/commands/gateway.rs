//! `plimsoll gateway`: a reverse proxy with policies.

use crate::commands::server;
use crate::exit::{Ending, Failure};
use crate::{out, signals};
use plimsoll_gateway::{GatewayConfig, GatewayError};
use std::path::PathBuf;

/// Forward requests by path, with key authentication, rate limits and analytics.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration (`plimsoll schema gateway` describes it).
    #[arg(long)]
    config: PathBuf,
    /// Port of the first listener, in place of the configured one.
    #[arg(long)]
    port: Option<u16>,
    /// Threads [default: one per CPU that this process may use]
    #[arg(long)]
    shards: Option<usize>,
    /// File in which counters and the gateway's own times survive this process.
    #[arg(long)]
    counters: Option<PathBuf>,
    #[command(flatten)]
    server: server::Args,
}

/// Serves until a signal.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let file = args.config.display().to_string();
    let text = std::fs::read_to_string(&args.config)
        .map_err(|e| Failure::Input(format!("{file}: {e}")))?;
    let mut config = GatewayConfig::parse(&file, &text)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    if let Some(port) = args.port {
        config.set_port(port);
    }
    if let Some(file) = args.counters {
        config.keep_counters(file);
    }
    let stop =
        signals::stop_on_signal().map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let shards = server::shards(args.shards)?;
    let ready = |bound: Vec<_>| args.server.ready("gateway", &bound);
    plimsoll_gateway::run(&config, shards, ready, stop, out::note).map_err(failure)?;
    Ok(Ending::Passed)
}

fn failure(error: GatewayError) -> Failure {
    Failure::Environment(error.to_string())
}
