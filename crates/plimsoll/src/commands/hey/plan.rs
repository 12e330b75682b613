//! hey's flags as a plan.

use super::agreed;
use super::flags::{Flags, Refused};
use super::request::MOST_EXCHANGES;
use crate::out;
use plimsoll_files::{Kinds, Limit, read_of};
use plimsoll_http::Url;
use plimsoll_load::plan::*;
use plimsoll_load::reach::reach;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// As long as a plan may last: a run that has a number ends by it.
const LONGEST: Duration = Duration::from_secs(3_599_000);
/// Arrivals of `-q` that may wait for a worker; hey would let all but one per worker get lost.
const QUEUE: u32 = 1_000_000;

/// The plan that the flags ask for.
///
/// # Errors
/// The flag that cannot be understood, found or read.
pub fn of(flags: &Flags, seed: u64) -> Result<Plan, Refused> {
    let url = Url::parse(&flags.url).map_err(Refused::Wrong)?;
    if flags.proxy.is_some() {
        return Err(Refused::Unreadable(
            "-x is not available in this version: load goes straight to its target, so that nothing else is measured"
                .to_owned(),
        ));
    }
    let steps = steps(flags, &url).map_err(Refused::Wrong)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refused::Wrong(error.to_string()))?;
    let address = runtime.block_on(address(&url)).map_err(Refused::Wrong)?;
    let shards = flags
        .cpus
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let workers = u32::try_from(flags.workers).unwrap_or(u32::MAX);
    let number = u64::try_from(flags.number).unwrap_or(0);
    let rate = flags.rate_per_worker.map(|rate| rate * f64::from(workers));
    let duration = match (flags.duration, rate) {
        (Some(duration), _) => duration,
        (None, Some(rate)) => schedule_of(number, rate).map_err(Refused::Wrong)?,
        (None, None) => LONGEST,
    };
    let load = match rate {
        Some(rate) => {
            let constant = Profile::Constant { rate }.lasting(duration);
            Load::open(vec![constant], workers, QUEUE)
        }
        None => Load::closed(workers, Duration::ZERO, duration),
    };
    let is_closed = rate.is_none() && flags.duration.is_none();
    let connections = runtime.block_on(connections(flags, &url, address, workers));
    Ok(Plan {
        seed,
        shards: shards.min(usize::try_from(workers).unwrap_or(usize::MAX)),
        target: Target {
            authority: flags.host.clone().unwrap_or_else(|| url.authority.clone()),
            addresses: vec![address],
        },
        steps,
        scenarios: vec![Scenario {
            // Of an open load the length of its schedule is the number.
            iterations: is_closed.then_some(number),
            ..Scenario::of_steps("hey", load, 1)
        }],
        data: Data::default(),
        warmup: Duration::ZERO,
        duration,
        connections,
        pacing: Pacing::default(),
        timeout: flags.timeout.unwrap_or(LONGEST),
        singly: false,
    })
}

/// The flag that says what stands at a place of a plan.
fn flag(place: PlanPlace) -> Option<&'static str> {
    Some(match place {
        PlanPlace::Step(_, StepPlace::Field(StepField::Method)) => "-m",
        PlanPlace::Step(_, StepPlace::Header(_)) => "-H",
        PlanPlace::Step(_, StepPlace::Field(StepField::Path)) => "URL",
        PlanPlace::Field(PlanField::Authority) => "-host",
        PlanPlace::Field(PlanField::Duration) => "-z",
        PlanPlace::Scenario(_, ScenarioPlace::Load(place)) => match place {
            LoadPlace::Field(LoadField::Users) | LoadPlace::Crowd(..) => "-c",
            _ => "-q",
        },
        _ => return None,
    })
}

/// Problem of a plan, by the flag that caused it. A request after a redirect has the first one's own faults once more.
pub fn refusal(problems: &PlanProblems) -> String {
    let is_own = |problem: &&PlanProblem| !matches!(problem.place, PlanPlace::Step(1, _));
    let lines = problems.0.iter().filter(is_own);
    let lines = lines.map(|problem| {
        flag(problem.place).map_or_else(
            || problem.to_string(),
            |flag| format!("{flag}: {}", problem.message),
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The first of the host's addresses that takes a connection; the first of all if none does.
async fn address(url: &Url) -> Result<SocketAddr, String> {
    let failed = |reason: &dyn Display| format!("looking up {}: {reason}", url.host);
    let found = tokio::net::lookup_host((url.host.as_str(), url.port)).await;
    let found = found.map_err(|error| failed(&error))?.collect();
    let reached = reach(found).await;
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

/// hey believes every certificate. With HTTP/2, which it speaks over TLS only and with servers that want to, its workers share a connection.
async fn connections(flags: &Flags, url: &Url, address: SocketAddr, workers: u32) -> Connections {
    let named = flags
        .host
        .as_deref()
        .and_then(|host| host.split(':').next());
    let server_name = named.unwrap_or(&url.host);
    let is_secured = url.scheme == "https";
    let is_http2 = flags.http2 && is_secured && agreed::is_http2(address, server_name).await;
    let tls = Tls {
        server_name: server_name.to_owned(),
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
        protocol: if is_http2 {
            Protocol::Http2 { streams: workers }
        } else {
            Protocol::Http1
        },
        tls: is_secured.then_some(tls),
        ..Connections::default()
    }
}

/// The request; and, if redirects are followed, what is sent after one: the same by GET or HEAD and without a body.
fn steps(flags: &Flags, url: &Url) -> Result<Vec<Step>, String> {
    let mut step = step(flags, url)?;
    if !flags.redirects {
        return Ok(vec![step]);
    }
    step.follow = Some(Follow {
        most: MOST_EXCHANGES - 1,
        series: 1,
    });
    let mut hop = Step {
        name: format!("{} (redirects)", step.name),
        body: Text::default(),
        ..step.clone()
    };
    if hop.method != "HEAD" {
        hop.method = "GET".to_owned();
    }
    let of_body = |name: &str| name.to_ascii_lowercase().starts_with("content-");
    hop.headers.retain(|(name, _)| !of_body(name));
    Ok(vec![step, hop])
}

fn step(flags: &Flags, url: &Url) -> Result<Step, String> {
    let body = match (&flags.body_file, &flags.body) {
        (Some(file), _) => {
            let read = read_of(Path::new(file), Limit::CONTENT, Kinds::FilesAndPipes);
            read.map_err(|e| format!("-D {file}: {e}"))?
        }
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
