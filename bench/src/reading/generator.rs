//! One reading of a load generator: it runs on a processor of its own against nginx on the other, and in a measured time within its run its
//! processor time and the requests that nginx counted are taken. Both sides are counted by the same counter, not by their own words.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::{self, Job, Protocol, Work, ours};
use crate::clock;
use crate::process;
use crate::program::Program;
use crate::server;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// How long a program runs on after the measured time, so that its end is not in it.
const TAIL: Duration = Duration::from_millis(700);
/// How long a program may take beyond its load.
const OVERHEAD: Duration = Duration::from_secs(30);

/// How a generator is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Use {
    /// Which.
    pub kind: client::Kind,
    /// Arrivals per second; without it as fast as answers come.
    pub rate: Option<u32>,
    /// Our `pacing`.
    pub pacing: Option<&'static str>,
    /// How it speaks to nginx.
    pub protocol: Protocol,
    /// Its requests.
    pub work: Work,
}

impl Use {
    /// As fast as answers of nginx come, in clear.
    pub fn closed(kind: client::Kind) -> Self {
        Self {
            kind,
            rate: None,
            pacing: None,
            protocol: Protocol::Clear,
            work: Work::Constant,
        }
    }
}

/// The figures of a generator over the measured time.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorReading {
    /// User and system time of the program and its children, in microseconds per request.
    pub cost_us: f64,
    /// Requests that reached the target, per second.
    pub per_s: f64,
    /// p99 of pacing lag in microseconds, by our own summary; `None` for others, which report none.
    pub lag_p99_us: Option<f64>,
}

/// Takes one.
pub fn read(bench: &Bench, usage: Use) -> Result<Reading<GeneratorReading>, Error> {
    let target = match usage.protocol {
        Protocol::Clear => server::Kind::NginxReturn,
        protocol => server::Kind::NginxBeside(protocol),
    };
    let target = target.start(bench, bench.placement.server, None)?;
    let authority = target.authority();
    let directory = bench.directory()?;
    let job = Job {
        target: target.listener,
        authority: &authority,
        work: usage.work,
        rate: usage.rate,
        pacing: usage.pacing,
        length: bench.lead() + bench.measured_time() + TAIL,
        warmup: bench.lead(),
    };
    let command = usage.kind.command(bench, &job, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    clock::pause(bench.lead());
    client.check_alive()?;
    let watch = bench.watch();
    let (begin, requests, used) = (
        clock::now(),
        target.nginx_requests()?,
        process::processor_time(client.pid()),
    );
    clock::pause(bench.measured_time());
    let used = process::processor_time(client.pid()).saturating_sub(used);
    // The asking itself is one of them.
    let requests = target.nginx_requests()? - requests - 1.0;
    let seconds = (clock::now() - begin).as_secs_f64();
    let watched = watch.ends(());
    client.check_alive()?;
    client.wait(job.length + OVERHEAD)?;
    if requests < 1.0 {
        let said = client.last_words();
        return Err(Error::Measured(format!("no request came: {said}")));
    }
    let lag_p99_us = match usage.kind {
        client::Kind::Ours => lag_p99_us(directory.path())?,
        _ => None,
    };
    let figures = GeneratorReading {
        cost_us: used.as_secs_f64() * 1e6 / requests,
        per_s: requests / seconds,
        lag_p99_us,
    };
    Ok(watched.with(figures))
}

/// The p99 of the pacing lag by our own summary, where arrivals have a time. A run in which something failed or was
/// dropped did other work than its peers.
fn lag_p99_us(directory: &Path) -> Result<Option<f64>, Error> {
    let summary = ours::summary(directory)?;
    let undone = ours::undone(&summary)?;
    if undone > 0.0 {
        let text = format!("{undone} exchanges failed or were dropped");
        return Err(Error::Measured(text));
    }
    let seconds = summary.pointer("/arms/main/pacing_lag/p99");
    Ok(seconds.and_then(Value::as_f64).map(|seconds| seconds * 1e6))
}
