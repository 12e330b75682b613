//! `plimsoll gateway`: a reverse proxy with policies.

mod arrival;
mod channel;
mod predecessor;
mod successor;

use crate::commands::server;
use crate::environment::{variable, variables_of};
use crate::exit::{Ending, Failure};
use crate::signals::Signals;
use crate::{clock, out, signals};
use arrival::{Arrival, Traces};
use plimsoll_base::document::{Document, Problem, Problems};
use plimsoll_gateway::{
    Controls, GatewayConfig, GatewayError, Handover, Limit, Output, Reload, Sockets, Source,
    Surroundings, Tyk,
};
use predecessor::Predecessor;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use successor::{Program, Swaps};
use tokio::sync::watch;

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
    /// Directory in which records of requests wait while Redis is unreachable; without it they wait in memory.
    #[arg(long, value_name = "DIR", requires = "tyk")]
    spool: Option<PathBuf>,
    /// Serve `/metrics`, `/healthz`, `/ready` and `/reload` here, on loopback, like `admin` in `gateway.yaml`.
    #[arg(long, value_name = "ADDRESS", requires = "tyk")]
    admin: Option<SocketAddr>,
    /// Write a line of JSON for each request to an API: to this file, or to `stdout`.
    #[arg(long, value_name = "FILE", requires = "tyk")]
    access_log: Option<PathBuf>,
    /// Redact values of fields and parameters with this name, or with this word in their name, in records, like `analytics.redact` in `gateway.yaml`; repeatable.
    #[arg(long, value_name = "NAME")]
    redact: Vec<String>,
    /// Set a limit by its name in `gateway.yaml`, such as `connections_per_address=100` or `max_pending=256`; repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    limit: Vec<Limit>,
    /// Initial keys as JSON, `{"<key>": { … }}`: a session for each, as `POST /tyk/keys/{id}` takes it.
    #[arg(long, value_name = "KEYS.JSON", requires = "tyk")]
    keys: Option<PathBuf>,
    /// Port of the first listener, in place of the configured one.
    #[arg(long)]
    port: Option<u16>,
    /// Threads [default: one per CPU that this process may use]
    #[arg(long)]
    shards: Option<usize>,
    /// File in which counters and the gateway's own times survive this process.
    #[arg(long)]
    counters: Option<PathBuf>,
    /// File that holds the id of the process that serves; a swap (SIGUSR2) changes it.
    #[arg(long)]
    pid_file: Option<PathBuf>,
    #[command(flatten)]
    server: server::Args,
}

/// Serves until a signal; SIGHUP has it read its configuration anew, SIGUSR2 has the program started anew to take its place.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let wrong = |problems: Problems| Failure::Input(problems.to_string());
    let environment = |what: &'static str| {
        move |error: io::Error| Failure::Environment(format!("{what}: {error}"))
    };
    let mut predecessor = Predecessor::find()?;
    let (source, mut config) = read(&args).map_err(wrong)?;
    let pid_file = args.pid_file.clone();
    let traces = Traces {
        pid_file: args.pid_file,
        counters: args.counters,
    };
    if let Some(file) = traces.counters_at_first(predecessor.as_ref()) {
        config.keep_counters(file);
    }
    let Signals {
        stop,
        hangups,
        swaps: asked,
    } = signals::of_a_server().map_err(environment("signals"))?;
    let shards = server::shards(args.shards)?;
    let inherited = predecessor.as_mut().map(|p| std::mem::take(&mut p.sockets));
    let sockets = Sockets::inherit(inherited.unwrap_or_default());
    let sockets = Arc::new(sockets.map_err(environment("sockets"))?);
    let (leave, leaving) = watch::channel(false);
    let arrival = traces.arrive(predecessor, leaving);
    let Arrival {
        prepared,
        go,
        alone,
        thread: arriving,
    } = arrival.map_err(environment("threads"))?;
    let stopped = stop.subscribe();
    let swaps = Swaps {
        asked,
        stop: stop.clone(),
        sockets: Arc::clone(&sockets),
    };
    let program = Program::own(config.swap_timeout()).map_err(environment("this program"))?;
    let swapping = swaps.heed(program).map_err(environment("threads"))?;
    let is_secured = |listener: &str| config.is_secured(listener);
    let ready = |bound: Vec<_>| args.server.ready("gateway", &bound, is_secured);
    let controls = Controls {
        stop: stopped,
        output: Output(Box::new(io::stdout())),
        reload: Some(Reload { hangups, source }),
        handover: Handover {
            sockets,
            prepared: Some(prepared),
            go: Some(go),
            alone: Some(alone),
        },
    };
    let ended = plimsoll_gateway::run(&config, shards, ready, controls, out::note);
    stop.send_replace(true);
    let successor = swapping.join().expect("the thread that swaps panicked");
    // To a successor this process' end is that of those before it, too.
    leave.send_replace(successor.is_none());
    arriving.join().expect("the thread of the arrival panicked");
    if let Some(file) = &pid_file {
        arrival::remove_pid(file);
    }
    ended.map_err(failure)?;
    Ok(Ending::Passed)
}

/// Reads a configuration's text and the files that it names, which are looked for where it is.
pub fn read_text(path: &Path, text: &str) -> Result<GatewayConfig, Problems> {
    with_surroundings(path, |around| {
        GatewayConfig::read(&path.display().to_string(), text, around)
    })
}

/// Reads a configuration that is parsed already, and the files that it names.
pub fn read_parsed(path: &Path, document: &Document) -> Result<GatewayConfig, Problems> {
    with_surroundings(path, |around| GatewayConfig::of(document, around))
}

/// Reads `tyk.conf` and what it names; its secrets are looked for where it is.
pub fn open_tyk(path: &Path, strict: bool) -> Result<(Tyk, GatewayConfig, Vec<String>), Problems> {
    let unread = variables_of("TYK_GW_").into_iter().map(|name| {
        let message = "Tyk reads this variable after the file, and it is not read here: write it into the file, and unset it";
        Problem::of_file(name, message)
    });
    Problems::from_iter(unread).or_ok(())?;
    with_surroundings(path, |around| Tyk::open(path, strict, around))
}

/// Surroundings of a configuration in this file.
fn with_surroundings<T>(path: &Path, read: impl FnOnce(Surroundings<'_>) -> T) -> T {
    let directory = path.parent().unwrap_or(Path::new(""));
    read(Surroundings {
        files: &|name| plimsoll_files::read(&directory.join(name), plimsoll_files::Limit::CONTENT),
        variables: &variable,
        now: Duration::from_nanos(u64::try_from(clock::unix_nanos()).unwrap_or(u64::MAX)),
    })
}

/// The configuration, and how it is read anew, as often as it is asked to.
fn read(args: &Args) -> Result<(Source, GatewayConfig), Problems> {
    if args.tyk.is_none() {
        refuse_what_the_file_says(args)?;
    }
    let (limits, redacted) = (args.limit.clone(), args.redact.clone());
    let (port, spool) = (args.port, args.spool.clone());
    let (admin, access_log) = (args.admin, args.access_log.clone());
    let placed = move |mut config: GatewayConfig| {
        if let Some(port) = port {
            config.set_port(port);
        }
        if let Some(spool) = &spool {
            config.spool_records(spool.clone());
        }
        if let Some(file) = &access_log {
            config.log_requests(Some(file.clone()).filter(|file| file != Path::new("stdout")));
        }
        limits.iter().for_each(|limit| config.limit(limit));
        config.redact(&redacted);
        let refused = |why: &str| Problem::of_file("--admin", why);
        let served = admin.map(|admin| config.serve_admin(admin).map_err(refused));
        served.transpose()?;
        Ok(config)
    };
    if let Some(conf) = &args.tyk {
        let (tyk, config, notes) = open_tyk(conf, args.strict_http)?;
        notes.iter().for_each(|note| out::note(note));
        if let Some(keys) = &args.keys {
            tyk.make_keys(&keys.display().to_string(), &text_of(keys)?)?;
        }
        let config = placed(config)?;
        let source = Box::new(move || tyk.reload().and_then(&placed));
        return Ok((source, config));
    }
    let path = args.config.clone().unwrap_or_default();
    let source: Source = Box::new(move || read_text(&path, &text_of(&path)?).and_then(&placed));
    let config = source()?;
    Ok((source, config))
}

/// Flags that stand for what Tyk's files cannot say: `gateway.yaml` can.
fn refuse_what_the_file_says(args: &Args) -> Result<(), Problems> {
    let refused = |flag: &str, instead: String| {
        let message = format!("this goes with `--tyk` alone: in `gateway.yaml` write {instead}");
        Problem::of_file(flag, message)
    };
    let limits = args.limit.iter();
    let limits = limits.map(|limit| refused("--limit", limit.in_yaml()));
    let names = args.redact.iter();
    let names =
        names.map(|name| refused("--redact", format!("`analytics: {{ redact: [{name}] }}`")));
    Problems::from_iter(limits.chain(names)).or_ok(())
}

fn text_of(path: &Path) -> Result<String, Problems> {
    let refused = |error: std::io::Error| {
        Problems::from(Problem::of_file(
            path.display().to_string(),
            error.to_string(),
        ))
    };
    plimsoll_files::read_text(path, plimsoll_files::Limit::DOCUMENT).map_err(refused)
}

fn failure(error: GatewayError) -> Failure {
    Failure::Environment(error.to_string())
}
