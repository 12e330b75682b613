//! `plimsoll gateway`: a reverse proxy with policies.

use crate::commands::server;
use crate::exit::{Ending, Failure};
use crate::{clock, out, signals};
use plimsoll_base::document::{Problem, Problems};
use plimsoll_gateway::{
    Controls, GatewayConfig, GatewayError, Output, Reload, Source, Surroundings, Tyk,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Forward requests by path, with key authentication, rate limits and analytics.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration (`plimsoll schema gateway` describes it).
    #[arg(long, required_unless_present = "tyk", conflicts_with = "tyk")]
    config: Option<PathBuf>,
    /// Tyk's `tyk.conf`, and with it the API definitions and policies that it names (docs/tyk.md says what becomes of each field).
    #[arg(long, value_name = "TYK.CONF")]
    tyk: Option<PathBuf>,
    /// Answer as HTTP wants it where Tyk's own answers leave something out: 502, `WWW-Authenticate`, `Retry-After`.
    #[arg(long, requires = "tyk")]
    strict_http: bool,
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
    let wrong = |problems: Problems| Failure::Input(problems.to_string());
    let (source, mut config) = read(&args).map_err(wrong)?;
    if let Some(file) = args.counters {
        config.keep_counters(file);
    }
    let (stop, hangups) = signals::stop_or_reload_on_signal()
        .map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let shards = server::shards(args.shards)?;
    let is_secured = |listener: &str| config.is_secured(listener);
    let ready = |bound: Vec<_>| args.server.ready("gateway", &bound, is_secured);
    let reload = Some(Reload { hangups, source });
    let controls = Controls {
        stop,
        output: Output(Box::new(std::io::stdout())),
        reload,
    };
    plimsoll_gateway::run(&config, shards, ready, controls, out::note).map_err(failure)?;
    Ok(Ending::Passed)
}

/// Reads a configuration's text and the files that it names, which are looked for where it is.
pub fn read_text(path: &Path, text: &str) -> Result<GatewayConfig, Problems> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let around = Surroundings {
        files: &|name| std::fs::read(directory.join(name)),
        now: Duration::from_nanos(u64::try_from(clock::unix_nanos()).unwrap_or(u64::MAX)),
    };
    GatewayConfig::read(&path.display().to_string(), text, around)
}

/// The configuration, and how it is read anew, as often as it is asked to.
fn read(args: &Args) -> Result<(Source, GatewayConfig), Problems> {
    let port = args.port;
    let placed = move |mut config: GatewayConfig| {
        if let Some(port) = port {
            config.set_port(port);
        }
        config
    };
    if let Some(conf) = &args.tyk {
        let (tyk, config, notes) = Tyk::open(conf, args.strict_http)?;
        notes.iter().for_each(|note| out::note(note));
        let source = Box::new(move || tyk.reload().map(|(config, _)| placed(config)));
        return Ok((source, placed(config)));
    }
    let path = args.config.clone().unwrap_or_default();
    let source: Source = Box::new(move || {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Problems::from_iter([Problem::of_file(&file, error.to_string())]))?;
        read_text(&path, &text).map(placed)
    });
    let config = source()?;
    Ok((source, config))
}

fn failure(error: GatewayError) -> Failure {
    Failure::Environment(error.to_string())
}
