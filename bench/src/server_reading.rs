//! One reading of a server or proxy: started afresh on a processor of its own, warmed up, then driven by wrk as fast as it can and
//! by our generator at a common rate. Its processor time is taken before and after each; clients and upstream are on the other
//! processor.

use crate::Trouble;
use crate::bench::{Bench, Reading};
use crate::client::wrk::{self, Visit};
use crate::client::{self, Job, Work, ours};
use crate::program::Program;
use crate::server::{Kind, Server};
use std::time::Duration;

/// How long a client may take beyond its load.
pub const OVERHEAD: Duration = Duration::from_secs(30);

/// A proxy whose processor was busier than this was the bottleneck.
pub const SATURATED: f64 = 0.95;

/// What was seen.
#[derive(Debug, Clone, Copy)]
pub struct ServerReading {
    /// How it fared when driven as fast as it can.
    pub saturated: Saturated,
    /// How it fared at the common rate.
    pub common: Common,
}

/// What was seen at the common rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Common {
    /// It was not asked for.
    NotAsked,
    /// Something failed or was dropped.
    NotKept,
    /// Microseconds of processor time per request.
    Cost(f64),
}

impl Common {
    /// Microseconds of processor time per request, where it kept up.
    pub fn cost_us(self) -> Option<f64> {
        match self {
            Self::Cost(us) => Some(us),
            Self::NotAsked | Self::NotKept => None,
        }
    }
}

/// What was seen of a server that was driven as fast as it can.
#[derive(Debug, Clone, Copy)]
pub struct Saturated {
    /// Answers per second.
    pub per_s: f64,
    /// Microseconds of processor time per request.
    pub cost_us: f64,
    /// How much of its processor it used.
    pub busy: f64,
}

/// Takes one. `rate`: the common rate per second. `upstream`: what stands behind a proxy.
pub fn read(
    bench: &Bench,
    kind: Kind,
    upstream: Option<Kind>,
    rate: Option<u32>,
) -> Result<Reading<ServerReading>, Trouble> {
    let behind = upstream
        .map(|kind| kind.start(bench, bench.placement.clients, None))
        .transpose()?;
    let behind = behind.as_ref().map(|upstream| upstream.address);
    let server = kind.start(bench, bench.placement.server, behind)?;
    warm(bench, kind, &server, Visit::Constant)?;
    let saturated = saturate(bench, &server, Visit::Constant, bench.measured_time())?;
    let watch = bench.watch();
    let common = match rate {
        Some(rate) => at_rate(bench, &server, rate)?,
        None => Common::NotAsked,
    };
    let common = watch.ends(common);
    let figures = ServerReading {
        saturated: saturated.figures,
        common: common.figures,
    };
    Ok(Reading {
        figures,
        lost: saturated.lost.max(common.lost),
    })
}

/// Drives a server before it is measured.
pub fn warm(bench: &Bench, kind: Kind, server: &Server, visit: Visit) -> Result<(), Trouble> {
    saturate(bench, server, visit, kind.warmup(bench.lengths)).map(drop)
}

/// Drives a server with wrk.
pub fn saturate(
    bench: &Bench,
    server: &Server,
    visit: Visit,
    length: Duration,
) -> Result<Reading<Saturated>, Trouble> {
    let directory = bench.directory()?;
    let command = wrk::visiting(bench, server, visit, length, directory.path())?;
    let watch = bench.watch();
    let before = server.processor_time();
    let mut client = Program::client(bench, &command, directory.path())?;
    client.wait(length + OVERHEAD)?;
    let used = server.processor_time().saturating_sub(before).as_secs_f64();
    let said = wrk::said(&client.messages(), visit)?;
    Ok(watch.ends(Saturated {
        per_s: said.requests / said.seconds,
        cost_us: used * 1e6 / said.requests,
        busy: used / said.seconds,
    }))
}

/// Drives a server at the common rate.
fn at_rate(bench: &Bench, server: &Server, rate: u32) -> Result<Common, Trouble> {
    let before = server.processor_time();
    let sent = drive(bench, server, rate, bench.measured_time())?;
    let used = server.processor_time().saturating_sub(before);
    Ok(sent.map_or(Common::NotKept, |sent| {
        Common::Cost(used.as_secs_f64() * 1e6 / sent)
    }))
}

/// Drives a server at a rate; how many requests were sent, `None` where something failed or was dropped.
pub fn drive(
    bench: &Bench,
    server: &Server,
    rate: u32,
    length: Duration,
) -> Result<Option<f64>, Trouble> {
    let authority = server.authority();
    let job = Job {
        target: server.entrance,
        authority: &authority,
        work: Work::Constant,
        rate: Some(rate),
        pacing: None,
        length,
        warmup: Duration::ZERO,
    };
    let directory = bench.directory()?;
    let command = client::Kind::Ours.command(bench, &job, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    client.wait(length + OVERHEAD)?;
    let summary = ours::summary(directory.path())?;
    if ours::undone(&summary)? > 0.0 {
        return Ok(None);
    }
    ours::number(&summary, "/arms/main/sent").map(Some)
}
