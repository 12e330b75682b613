//! `plimsoll fault`: a drop-in for Toxiproxy's server.

mod log_level;

use crate::commands::server;
use crate::exit::{Ending, Failure};
use crate::{clock, environment, out, signals};
use log_level::Level;
use plimsoll_base::units;
use plimsoll_fault::{FaultConfig, FaultError, Metrics, TOXIPROXY};
use plimsoll_files::{Kinds, Limit};
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Put faults on the way between a service and what it depends on, as Toxiproxy does: same API, same flags, same toxics.
///
/// Its flags may be written with one dash. `docs/fault.md` has what differs from Toxiproxy, and what there is beyond it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address of the API.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = server::bind_address)]
    host: IpAddr,
    /// Port of the API; 0 for any free one.
    #[arg(long, default_value_t = 8474)]
    port: u16,
    /// JSON file with a list of proxies to begin with.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Seed of toxicity, jitter, slices and flipped bits [default: drawn and printed]
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Serve `/metrics` with the byte counts of each proxy.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set, hide_default_value = true, hide_possible_values = true)]
    proxy_metrics: bool,
    /// Serve `/metrics`; it has no metrics of Go's runtime, which does not exist here.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set, hide_default_value = true, hide_possible_values = true)]
    runtime_metrics: bool,
    /// Print the version and end.
    #[arg(long)]
    version: bool,
    /// Let anybody who reaches the API's address use it, also off loopback and by any name.
    #[arg(long)]
    admin_open: bool,
    /// Address of the CONNECT proxy, for programs that follow HTTPS_PROXY or HTTP_PROXY.
    #[arg(long, value_name = "HOST:PORT")]
    connect_proxy: Option<SocketAddr>,
    /// Server that clients may CONNECT to, besides those of proxies that listen at `connect`; repeatable.
    #[arg(long, value_name = "HOST[:PORT]", requires = "connect_proxy")]
    allow: Vec<String>,
    /// How long connecting to a server may take.
    #[arg(long, default_value = "10s", value_parser = units::parse_duration)]
    connect_timeout: Duration,
    /// Client connections at a time; further ones are closed. Never more than there are descriptors for.
    #[arg(long, default_value_t = 20_000)]
    connections: u32,
    /// Threads that serve connections [default: one per CPU that this process may use]
    #[arg(long)]
    shards: Option<usize>,
    #[command(flatten)]
    server: server::Args,
}

/// Serves until a signal.
pub fn run(args: Args) -> Result<Ending, Failure> {
    if args.version {
        let version = env!("CARGO_PKG_VERSION");
        out::print(&format!(
            "plimsoll fault {version} (API of toxiproxy-server version {TOXIPROXY})\n"
        ))?;
        return Ok(Ending::Passed);
    }
    let stop =
        signals::stop_on_signal().map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let seed = args.seed.map_or_else(clock::seed, i64::cast_unsigned);
    let level = level();
    if args.seed.is_none() && level <= Level::INFO {
        out::note(&format!("fault: seed {}", seed.cast_signed()));
    }
    let server = args.server;
    let config = config(args, seed, level)?;
    let on_ready = |bound: Vec<_>| {
        if server.announce || level <= Level::INFO {
            server.ready("fault", &bound, |_| false);
        }
    };
    plimsoll_fault::run(config, on_ready, stop).map_err(failure)?;
    Ok(Ending::Passed)
}

/// The level of `LOG_LEVEL`. One that nobody knows is told and, as in Toxiproxy, keeps nothing else from being told.
fn level() -> Level {
    let Some(text) = environment::variable("LOG_LEVEL") else {
        return Level::ALL;
    };
    Level::parse(&text).unwrap_or_else(|| {
        out::note(&format!("fault: unknown LOG_LEVEL value: \"{text}\""));
        Level::ALL
    })
}

fn config(args: Args, seed: u64, level: Level) -> Result<FaultConfig, Failure> {
    let proxies = args.config.map(|file| {
        let read = plimsoll_files::read_of(&file, Limit::DOCUMENT, Kinds::FilesAndPipes);
        let name = file.display().to_string();
        match read {
            Ok(bytes) => Ok((name, bytes)),
            Err(error) => Err(Failure::Input(format!("--config {name}: {error}"))),
        }
    });
    Ok(FaultConfig {
        api: SocketAddr::new(args.host, args.port),
        admin_open: args.admin_open,
        proxies: proxies.transpose()?,
        connect: args.connect_proxy,
        allow: args.allow,
        seed,
        metrics: Metrics {
            proxies: args.proxy_metrics,
            runtime: args.runtime_metrics,
        },
        shards: server::shards(args.shards)?,
        connections: args.connections,
        connect_timeout: args.connect_timeout,
        log: match level <= Level::WARN {
            true => Arc::new(out::note),
            false => Arc::new(|_| {}),
        },
    })
}

fn failure(error: FaultError) -> Failure {
    match error {
        FaultError::Config(_) => Failure::Input(error.to_string()),
        FaultError::Listen { .. } | FaultError::Serve(_) => Failure::Environment(error.to_string()),
    }
}

/// A command line whose flags have two dashes, if it is one of `plimsoll fault`: Go's flags have one or two.
pub fn with_two_dashes(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    if words.get(1).is_some_and(|word| word == "fault") {
        for word in &mut words[2..] {
            let is_long = |text: &str| {
                let name = text.strip_prefix('-').unwrap_or("");
                name.len() > 1 && name.starts_with(|first: char| first.is_ascii_alphabetic())
            };
            if word.to_str().is_some_and(is_long) {
                *word = format!("-{}", word.display()).into();
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn flags_may_be_set_as_in_go() {
        let parse = |line: &[&str]| {
            let words = ["fault"].iter().chain(line);
            let args = <Line as clap::Parser>::try_parse_from(words).unwrap().args;
            (args.proxy_metrics, args.runtime_metrics)
        };
        assert_eq!(parse(&[]), (false, false));
        let line = ["--proxy-metrics", "--runtime-metrics=true"];
        assert_eq!(parse(&line), (true, true));
        assert_eq!(parse(&["--proxy-metrics=false"]), (false, false));
    }

    #[test]
    fn one_dash_is_as_good_as_two() {
        let line = |line: &str| -> Vec<String> {
            let words = with_two_dashes(line.split(' ').map(OsString::from));
            let words = words.into_iter().map(|word| word.into_string().unwrap());
            words.collect()
        };
        let words = line("plimsoll fault -host=::1 --port 1 -seed -5 -h -proxy-metrics");
        let expected = "plimsoll fault --host=::1 --port 1 --seed -5 -h --proxy-metrics";
        assert_eq!(words.join(" "), expected);
        let other = "plimsoll hey -disable-keepalive";
        assert_eq!(line(other).join(" "), other);
    }
}
