//! One reading of a load generator: it runs on a processor of its own against nginx on the other, and in a measured time within its run its
//! processor time and the requests that nginx counted are taken. Both sides are counted by the same counter, not by their own words.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::{self, CONNECTIONS, Job, Protocol, Work, ours};
use crate::process;
use crate::program::Program;
use crate::reading::connections::EACH;
use crate::reading::steady::{self, Lengths};
use crate::server;
use serde_json::Value;
use std::path::Path;

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
    /// On how many connections, but over HTTP/2.
    pub connections: u32,
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
            connections: CONNECTIONS,
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
    let lengths = Lengths::of(bench, usage.connections, EACH);
    let job = Job {
        target: target.listener,
        authority: &authority,
        work: usage.work,
        connections: usage.connections,
        rate: usage.rate,
        pacing: usage.pacing,
        length: lengths.whole(),
        warmup: lengths.lead,
    };
    let command = usage.kind.command(bench, &job, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    let requests = || target.requests();
    let seen = steady::measure(bench, &mut client, lengths, requests, |client| {
        process::processor_time(client.pid())
    })?;
    let lag_p99_us = match usage.kind {
        client::Kind::Ours => lag_p99_us(directory.path())?,
        _ => None,
    };
    let figures = GeneratorReading {
        cost_us: seen.figures.cost_us(),
        per_s: seen.figures.requests / seen.figures.seconds,
        lag_p99_us,
    };
    Ok(seen.with(figures))
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
