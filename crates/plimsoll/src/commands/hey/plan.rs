//! hey's flags as a plan.

use super::flags::Flags;
use crate::commands::url::Url;
use crate::out;
use plimsoll_load::plan::*;
use plimsoll_load::reach::reach;
use std::fmt::Display;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

/// As long as a plan may last: a run that has a number ends by it.
const LONGEST: Duration = Duration::from_secs(3_599_000);
/// Arrivals of `-q` that may wait for a worker; hey would let all but one per worker get lost.
const QUEUE: u32 = 1_000_000;

/// What is sent, where and when.
///
/// # Errors
/// What cannot be understood, found or read.
pub fn of(flags: &Flags, seed: u64) -> Result<Plan, String> {
    let url = Url::parse(&flags.url)?;
    if flags.proxy.is_some() {
        return Err("`-x` is not available in this version".to_owned());
    }
    let addresses = vec![address(&url)?];
    let shards = match flags.cpus {
        Some(cpus) => cpus.max(1),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let workers = flags.workers;
    let duration = match (flags.duration, flags.rate_per_worker) {
        (Some(duration), _) => duration,
        (None, Some(rate)) => schedule_of(flags.number, rate * f64::from(workers))?,
        (None, None) => LONGEST,
    };
    let load = match flags.rate_per_worker {
        Some(rate) => {
            let rate = rate * f64::from(workers);
            let constant = Profile::Constant { rate }.lasting(duration);
            Load::open(vec![constant], workers, QUEUE)
        }
        None => Load::closed(workers, Duration::ZERO, duration),
    };
    let is_closed = flags.rate_per_worker.is_none() && flags.duration.is_none();
    Ok(Plan {
        seed,
        shards: shards.min(usize::try_from(workers).unwrap_or(usize::MAX)),
        target: Target {
            authority: flags.host.clone().unwrap_or_else(|| url.authority.clone()),
            addresses,
        },
        steps: vec![step(flags, &url)?],
        scenarios: vec![Scenario {
            // Of an open load the length of its schedule is the number.
            iterations: is_closed.then_some(flags.number),
            ..Scenario::of_steps("hey", load, 1)
        }],
        data: Data::default(),
        warmup: Duration::ZERO,
        duration,
        connections: connections(flags, &url),
        pacing: Pacing::default(),
        timeout: flags.timeout.unwrap_or(LONGEST),
    })
}

/// The first of the host's addresses that takes a connection; the first of all if none does.
fn address(url: &Url) -> Result<SocketAddr, String> {
    let failed = |reason: &dyn Display| format!("looking up {}: {reason}", url.host);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(&error))?;
    let found = (url.host.as_str(), url.port).to_socket_addrs();
    let found = found.map_err(|error| failed(&error))?.collect();
    let reached = runtime.block_on(reach(found));
    let first = reached.addresses.first().copied();
    let first = first.ok_or_else(|| failed(&"the name resolves to nothing"))?;
    for left_out in reached.left_out {
        out::note(&format!("note: {left_out}"));
    }
    Ok(first)
}

/// How long it takes until so many arrivals have been released. The last is due one gap before the end.
fn schedule_of(number: u64, rate: f64) -> Result<Duration, String> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the middle of the last gap is far from either arrival"
    )]
    let gaps = number as f64 - 0.5;
    let duration = Duration::try_from_secs_f64(gaps / rate).ok();
    let duration = duration.filter(|duration| *duration <= LONGEST);
    duration.ok_or_else(|| "-n at the rate of -q would take longer than 999 hours".to_owned())
}

/// hey believes every certificate, and with HTTP/2 its workers share a connection.
fn connections(flags: &Flags, url: &Url) -> Connections {
    let tls = Tls {
        server_name: flags
            .host
            .as_ref()
            .map_or(url.host.as_str(), |host| {
                host.split(':').next().unwrap_or(host)
            })
            .to_owned(),
        trust: Trust::Anybody,
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: None,
        resumption: true,
        identities: Vec::new(),
    };
    Connections {
        policy: if flags.keep_alive {
            ConnectionPolicy::PerUser
        } else {
            ConnectionPolicy::PerExchange
        },
        protocol: if flags.http2 {
            Protocol::Http2 {
                streams: flags.workers,
            }
        } else {
            Protocol::Http1
        },
        tls: (url.scheme == "https").then_some(tls),
        ..Connections::default()
    }
}

fn step(flags: &Flags, url: &Url) -> Result<Step, String> {
    let body = match (&flags.body_file, &flags.body) {
        (Some(file), _) => std::fs::read(file).map_err(|e| format!("{file}: {e}"))?,
        (None, Some(text)) => text.clone().into_bytes(),
        (None, None) => Vec::new(),
    };
    let mut headers: Vec<(String, Text)> = flags
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let is_given = |name: &str| {
        let mut names = flags.headers.iter().map(|(name, _)| name);
        names.any(|other| other.eq_ignore_ascii_case(name))
    };
    let may_compress = !is_given("accept-encoding") && !is_given("range") && flags.method != "HEAD";
    if flags.compression && may_compress {
        headers.push(("Accept-Encoding".to_owned(), "gzip".into()));
    }
    Ok(Step {
        name: format!("{} {}", flags.method, url.path()),
        method: flags.method.clone(),
        path: url.target.as_str().into(),
        headers,
        body: body.into(),
        ..Step::default()
    })
}
