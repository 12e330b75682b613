//! `plimsoll gateway`: a reverse proxy with policies.

use crate::commands::server;
use crate::exit::{Ending, Failure};
use crate::{out, signals};
use plimsoll_base::document::{Problem, Problems};
use plimsoll_gateway::{Controls, GatewayConfig, GatewayError, Reload, Source};
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

/// Serves until a signal; SIGHUP has it read its configuration anew.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let Args { config, port, .. } = &args;
    let source = reader(config.clone(), *port);
    let mut config = source().map_err(|problems| Failure::Input(problems.to_string()))?;
    if let Some(file) = args.counters {
        config.keep_counters(file);
    }
    let (stop, hangups) = signals::stop_or_reload_on_signal()
        .map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let shards = server::shards(args.shards)?;
    let ready = |bound: Vec<_>| args.server.ready("gateway", &bound);
    let reload = Some(Reload { hangups, source });
    let controls = Controls { stop, reload };
    plimsoll_gateway::run(&config, shards, ready, controls, out::note).map_err(failure)?;
    Ok(Ending::Passed)
}

/// Reads the configuration, as often as it is asked to.
fn reader(path: PathBuf, port: Option<u16>) -> Source {
    Box::new(move || {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Problems::from_iter([Problem::of_file(&file, error.to_string())]))?;
        let mut config = GatewayConfig::parse(&file, &text)?;
        if let Some(port) = port {
            config.set_port(port);
        }
        Ok(config)
    })
}

fn failure(error: GatewayError) -> Failure {
    Failure::Environment(error.to_string())
}
