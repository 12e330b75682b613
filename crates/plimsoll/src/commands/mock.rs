//! `plimsoll mock`: serves WireMock stub mappings and go-bench-suite's endpoints.

mod config;
mod https;
mod outgoing;
mod summary;
mod wiremock_flags;

use crate::commands::server;
use crate::exit::{Ending, Failure};
use crate::{clock, signals};
use plimsoll_base::units;
use plimsoll_mock::{Credentials, MockError};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// The name of the listener over TLS.
const HTTPS: &str = "https";

/// Serve WireMock stub mappings and go-bench-suite's endpoints.
///
/// Flags are named as WireMock's where it has them. Unlike WireMock it listens on loopback unless told otherwise.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Port to listen on; 0 for any free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Address to listen on.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = server::bind_address)]
    bind_address: IpAddr,
    /// Directory with `mappings/` and `__files/` [default: the current one, if it has one of them]
    #[arg(long)]
    root_dir: Option<PathBuf>,
    /// When go-bench-suite's endpoints answer what no stub matches.
    #[arg(long, value_enum, default_value_t = Builtins::Auto)]
    builtins: Builtins,
    /// Threads [default: one per CPU that this process may use]
    #[arg(long)]
    shards: Option<usize>,
    /// Client connections at a time; a further one gets 503. Never more than there are descriptors for.
    #[arg(long, default_value_t = 20_000)]
    connections: u32,
    /// How long a request's head may take, once its first byte came.
    #[arg(long, default_value = "10s", value_parser = units::parse_duration)]
    head_timeout: Duration,
    /// How long a connection may be idle.
    #[arg(long, default_value = "5m", value_parser = units::parse_duration)]
    idle_timeout: Duration,
    /// How long a client is waited for in all while a body comes or an answer is taken; each KiB that moves earns a second back.
    #[arg(long, default_value = "60s", value_parser = units::parse_duration)]
    body_timeout: Duration,
    /// Seed of sampled delays [default: drawn and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Sample delays exactly instead of in whole milliseconds.
    #[arg(long)]
    exact_delays: bool,
    /// Credentials for `/__admin`, as `user:password`.
    #[arg(long, value_name = "USER:PASSWORD", value_parser = credentials, conflicts_with = "admin_open")]
    admin_api_basic_auth: Option<Credentials>,
    /// Let anybody who reaches this address use `/__admin`, also off loopback.
    #[arg(long)]
    admin_open: bool,
    /// Let pages of this origin use `/__admin`, too: `https://example.com:8443`. May be given several times.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    admin_cors: Vec<String>,
    /// Let pages of any origin read what stubs answer.
    #[arg(long)]
    enable_stub_cors: bool,
    /// Keep no journal of requests.
    #[arg(long, conflicts_with = "max_request_journal_entries")]
    no_request_journal: bool,
    /// Requests that the journal keeps; older ones are counted and dropped [default: 10000, in 32 MiB; none in an experiment]
    #[arg(long, value_name = "N")]
    max_request_journal_entries: Option<usize>,
    /// Bytes that the journal shows of the body of an answer [default: all]
    #[arg(long, value_name = "BYTES")]
    logged_response_body_size_limit: Option<usize>,
    /// Unmatched requests a second that are told how they differ from the nearest stub; others get one line [default: 10; none in an experiment]
    #[arg(long, value_name = "N")]
    differences_per_second: Option<u32>,
    /// Take every response for a template, not only those of stubs that list `response-template`.
    #[arg(long, conflicts_with = "disable_response_templating")]
    global_response_templating: bool,
    /// Take no response for a template.
    #[arg(long)]
    disable_response_templating: bool,
    /// Never compress answers with gzip.
    #[arg(long)]
    disable_gzip: bool,
    /// File in which counters and the mock's own times survive this process.
    #[arg(long)]
    counters: Option<PathBuf>,
    #[command(flatten)]
    https: https::Flags,
    #[command(flatten)]
    server: server::Args,
    /// Make a stub mapping of each request that is sent on, and write it below the root directory before the answer goes out.
    #[arg(long)]
    record_mappings: bool,
    /// Header fields that recorded mappings match, too.
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "record_mappings"
    )]
    match_headers: Vec<String>,
    /// File to write the service times of the servers to which requests are sent on, as an HdrHistogram interval log that
    /// `metadata.plimsoll.replay` reads.
    #[arg(long, value_name = "FILE")]
    record_latency: Option<PathBuf>,
    #[command(flatten)]
    outgoing: outgoing::Args,
    #[command(flatten)]
    wiremock: wiremock_flags::Flags,
}

/// When go-bench-suite's endpoints answer.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Builtins {
    /// As long as no stubs are in use: no root directory, none over the admin API. In an experiment always.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Serves until a signal.
pub fn run(args: Args) -> Result<Ending, Failure> {
    args.wiremock.judge()?;
    let stop =
        signals::stop_on_signal().map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let server = args.server;
    let seed = args.seed.unwrap_or_else(clock::seed);
    let summary = plimsoll_mock::run(
        config::of(args, seed)?,
        |bound| server.ready("mock", &bound, |listener| listener == HTTPS),
        stop,
    )
    .map_err(failure)?;
    summary::say(&summary, seed);
    Ok(Ending::Passed)
}

/// An origin as browsers write it (RFC 6454 §6.2): they send no other form.
fn origin(text: &str) -> Result<String, String> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let is_host = |rest: &str| !rest.is_empty() && !rest.contains(['/', '?', '#', '@', '*', ' ']);
    match rest {
        Some(rest) if is_host(rest) && text == text.to_ascii_lowercase() => Ok(text.to_owned()),
        _ => Err("write `scheme://host` or `scheme://host:port`, in lower case".to_owned()),
    }
}

fn credentials(text: &str) -> Result<Credentials, String> {
    let (user, password) = text.split_once(':').ok_or("write `user:password`")?;
    Ok(Credentials::new(user, password))
}

/// Which kind of failure a mock's is.
pub fn failure(error: MockError) -> Failure {
    match error {
        MockError::Stubs(_) | MockError::Config(_) => Failure::Input(error.to_string()),
        MockError::File { .. }
        | MockError::Listen { .. }
        | MockError::Record(_)
        | MockError::Serve(_) => Failure::Environment(error.to_string()),
    }
}
