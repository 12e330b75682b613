//! A freeze beside other load generators: the report of each of a target that stands still in the middle of its run.
//!
//! One file per tool; a new way to call one is its line in [`PEERS`], a new tool its file and its lines in `bench/peers/install`,
//! from where they come. What they report is shown beside the truth; only Plimsoll's own figures are judged.

mod hey;
mod k6;
mod locust;
mod oha;
mod vegeta;
mod wrk;

use super::{Check, freeze};
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, measure};
use crate::child::Child;
use crate::clock;
use crate::interrupt;
use crate::mock::Mock;
use crate::queueing::Freeze;
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "peers",
    about: "the same freeze beside other load generators",
    run,
};

/// Arrivals per second. `bench/peers/locustfile.py` says it too, per user.
const RATE: u32 = 2000;
/// Connections or users of every tool.
const CONNECTIONS: u32 = 50;
/// The path that is asked of the mock.
const PATH: &str = "/json/valid";
/// How long a tool may take to send its first request, and to end after its load.
const OVERHEAD: Duration = Duration::from_secs(60);

/// Seconds of load, and seconds in its middle in which the mock stands still.
struct Work {
    seconds: u32,
    freeze_s: f64,
}

/// One load generator, called as its documentation says for a constant rate.
struct Peer {
    /// Its name in `bench/peers/install`.
    tool: &'static str,
    /// The shell command for so many seconds; `$URL` and `$HOST` are set, the repository is the working directory.
    command: fn(u32) -> String,
    /// Reads what it printed; `None` if the figures are not there.
    read: fn(&str) -> Option<Reported>,
}

/// The figures that its user reads. Times in seconds.
#[derive(Debug, PartialEq)]
struct Reported {
    requests: u64,
    p95: f64,
    p99: f64,
    max: f64,
    /// Its words about requests that it should have sent; empty if it has none.
    beside: String,
}

static PEERS: [Peer; 8] = [
    hey::PEER,
    wrk::PEER,
    locust::PEER,
    oha::PLAIN,
    oha::CORRECTED,
    k6::FEW,
    k6::ENOUGH,
    vegeta::PEER,
];

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let work = bench.pick(
        Work {
            seconds: 20,
            freeze_s: 2.0,
        },
        Work {
            seconds: 5,
            freeze_s: 0.5,
        },
    );
    let load = f64::from(RATE) / freeze::capacity(bench)?;
    bench.progress("Plimsoll");
    let mut bars = Bar::part("Plimsoll", bench.witnessed(|| own(bench, &work, load)));
    for peer in &PEERS {
        let command = (peer.command)(work.seconds);
        bench.progress(&command);
        let (bar, seen) = bench.witnessed(|| beside(bench, &work, load, peer));
        // Whatever keeps a peer from being measured is no failure of the instrument.
        let bar = bar.unwrap_or_else(|error| Bar::not_measured(&command, error.to_string()));
        bars.push(bar.during(seen));
    }
    Ok(bars)
}

/// Plimsoll: both of its views, and its response times against theory.
fn own(bench: &Bench, work: &Work, load: f64) -> Result<Vec<Bar>, Error> {
    let mock = Mock::start(bench, &[])?;
    let experiment = json!({
        "rate": format!("{RATE}/s"), "connections": CONNECTIONS,
        "duration": format!("{}s", work.seconds),
    });
    let running = bench.start(
        &measure(mock.address, PATH, experiment),
        f64::from(work.seconds),
    )?;
    let truth = frozen(&mock, work, load)?;
    let outcome = running.finish()?;
    mock.stop()?;
    let mut bars = Vec::new();
    for (figure, q) in [("p95", 0.95), ("p99", 0.99)] {
        let expected = quantile(truth, q);
        let measured = outcome.main(&format!("response_time/{figure}"))?;
        bars.push(Bar::within(
            format!("Plimsoll: {figure}"),
            measured,
            expected,
            freeze::SHARE,
        ));
    }
    for view in ["response_time", "service_time"] {
        let shown = own_view(&outcome, view)?.to_string();
        bars.push(Bar::shown(format!("Plimsoll: {view}"), said(truth), shown));
    }
    Ok(bars)
}

fn own_view(outcome: &Outcome, view: &str) -> Result<Reported, Error> {
    let figure = |name: &str| outcome.main(&format!("{view}/{name}"));
    let count = figure("count")?;
    Ok(Reported {
        requests: whole(count),
        p95: figure("p95")?,
        p99: figure("p99")?,
        max: figure("max")?,
        beside: outcome.verdict(),
    })
}

/// One run of another tool.
fn beside(bench: &Bench, work: &Work, load: f64, peer: &Peer) -> Result<Bar, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let version = installed(&root, peer.tool)?;
    if interrupt::requested() {
        return Err(Error::Interrupted);
    }
    let mock = Mock::start(bench, &[])?;
    let command = (peer.command)(work.seconds);
    let logs = bench.directory()?;
    let mut child = start(&root, &command, &mock, &logs)?;
    let truth = frozen(&mock, work, load)?;
    child.wait(Duration::from_secs(u64::from(work.seconds)) + OVERHEAD)?;
    mock.stop()?;
    let printed = |name: &str| std::fs::read_to_string(logs.join(name)).unwrap_or_default();
    let output = printed("output");
    let reported = (peer.read)(&output)
        .ok_or_else(|| Error::Measured(format!("no figures in: {output} {}", printed("errors"))))?;
    let what = format!("{} {version}: `{command}`", peer.tool);
    Ok(Bar::shown(what, said(truth), reported.to_string()))
}

/// The version that `bench/peers/install` noted.
fn installed(root: &Path, tool: &str) -> Result<String, Error> {
    std::fs::read_to_string(root.join("target/peers/versions").join(tool))
        .map(|version| version.trim().to_owned())
        .map_err(|_| {
            Error::Missing(format!(
                "not installed; `bench/peers/install {tool}` brings it"
            ))
        })
}

/// Starts a command by the shell, the installed tools first on its path.
fn start(root: &Path, command: &str, mock: &Mock, logs: &Path) -> Result<Child, Error> {
    let log = |name| File::create(logs.join(name)).map_err(|e| Error::io("creating a log", e));
    let bin: PathBuf = root.join("target/peers/bin");
    let host = format!("http://{}", mock.address);
    Child::spawn(
        Command::new("sh")
            .args(["-c", &format!("PATH=$BIN:$PATH; {command}")])
            .current_dir(root)
            .env("BIN", bin)
            .env("URL", format!("{host}{PATH}"))
            .env("HOST", host)
            .stdin(Stdio::null())
            .stdout(log("output")?)
            .stderr(log("errors")?),
    )
}

/// Freezes the mock in the middle of the load, which begins with the first request; what callers at the rate then meet.
fn frozen(mock: &Mock, work: &Work, load: f64) -> Result<Freeze, Error> {
    mock.first_request(OVERHEAD)?;
    let run = f64::from(work.seconds);
    clock::pause(Duration::from_secs_f64((run - work.freeze_s) / 2.0));
    let length = freeze::stand_still(mock, work.freeze_s)?;
    Ok(Freeze { length, run, load })
}

fn quantile(truth: Freeze, q: f64) -> f64 {
    truth
        .quantile(q)
        .expect("invariant: the freeze covers the figure")
}

fn said(truth: Freeze) -> String {
    format!(
        "true: {:.0} requests, p95 {:.0} ms, p99 {:.0} ms",
        f64::from(RATE) * truth.run,
        quantile(truth, 0.95) * 1e3,
        quantile(truth, 0.99) * 1e3,
    )
}

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |seconds: f64| seconds * 1e3;
        write!(
            f,
            "{} requests, p95 {:.1} ms, p99 {:.1} ms, max {:.0} ms",
            self.requests,
            ms(self.p95),
            ms(self.p99),
            ms(self.max)
        )?;
        if self.beside.is_empty() {
            return Ok(());
        }
        write!(f, "; {}", self.beside)
    }
}

/// A count that a format gives as a number with a point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of requests is neither negative nor beyond 2^53"
)]
fn whole(count: f64) -> u64 {
    count as u64
}
