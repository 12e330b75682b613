//! One reading of a server or proxy: started afresh on a processor of its own, warmed up, then driven by wrk as fast as it can and
//! by our generator at a common rate. Its processor time is taken before and after each; clients and upstream are on the other
//! processor.

use crate::bench::Bench;
use crate::child::{Child, Output};
use crate::client::{self, Job, ours, wrk};
use crate::server::{Kind, Server};
use crate::trouble::Trouble;
use std::time::Duration;

/// How long a client may take beyond its load.
pub const OVERHEAD: Duration = Duration::from_secs(30);

/// A proxy whose processor was busier than this was the bottleneck.
pub const SATURATED: f64 = 0.95;

/// What was seen.
#[derive(Debug, Clone, Copy)]
pub struct ServerReading {
    /// Answers per second when driven as fast as it can.
    pub saturated_per_s: f64,
    /// Microseconds of processor time per request then.
    pub saturated_cost_us: f64,
    /// How much of its processor it used then.
    pub busy: f64,
    /// Microseconds of processor time per request at the common rate; `None` where that was not asked for or not kept up with.
    pub common_cost_us: Option<f64>,
}

/// Takes one. `rate`: the common rate per second. `upstream`: what stands behind a proxy.
pub fn read(
    bench: &Bench,
    kind: Kind,
    upstream: Option<Kind>,
    rate: Option<u32>,
) -> Result<ServerReading, Trouble> {
    let behind = upstream
        .map(|kind| kind.start(bench, bench.placement.clients, None))
        .transpose()?;
    let behind = behind.as_ref().map(|upstream| upstream.address);
    let server = kind.start(bench, bench.placement.server, behind)?;
    saturate(bench, &server, kind.warmup(bench.lead()))?;
    let (said, used) = saturate(bench, &server, bench.window())?;
    let common_cost_us = match rate {
        Some(rate) => at_rate(bench, &server, rate)?,
        None => None,
    };
    Ok(ServerReading {
        saturated_per_s: said.requests / said.seconds,
        saturated_cost_us: used.as_secs_f64() * 1e6 / said.requests,
        busy: used.as_secs_f64() / said.seconds,
        common_cost_us,
    })
}

/// Drives a server with wrk; what wrk said, and the server's processor time.
pub fn saturate(
    bench: &Bench,
    server: &Server,
    length: Duration,
) -> Result<(wrk::Said, Duration), Trouble> {
    let job = Job {
        target: server.address,
        rate: None,
        pacing: None,
        length,
        warmup: Duration::ZERO,
    };
    let directory = bench.directory()?;
    let command = client::Kind::Wrk.command(bench, &job, directory.path())?;
    let before = server.processor_time();
    let mut client = drive(bench, &command, directory.path())?;
    client.wait(job.length + OVERHEAD)?;
    let used = server.processor_time().saturating_sub(before);
    Ok((wrk::said(&client.messages())?, used))
}

/// Drives a server at the common rate; its microseconds per request, if it kept up.
fn at_rate(bench: &Bench, server: &Server, rate: u32) -> Result<Option<f64>, Trouble> {
    let job = Job {
        target: server.address,
        rate: Some(rate),
        pacing: None,
        length: bench.window(),
        warmup: Duration::ZERO,
    };
    let directory = bench.directory()?;
    let command = client::Kind::Ours.command(bench, &job, directory.path())?;
    let before = server.processor_time();
    let mut client = drive(bench, &command, directory.path())?;
    client.wait(job.length + OVERHEAD)?;
    let used = server.processor_time().saturating_sub(before);
    let summary = ours::summary(directory.path())?;
    let of = |name: &str| ours::number(&summary, &format!("/arms/main/{name}"));
    let (sent, failed, dropped) = (of("sent")?, of("failed")?, of("dropped")?);
    let kept_up = failed == 0.0 && dropped == 0.0;
    Ok(kept_up.then(|| used.as_secs_f64() * 1e6 / sent))
}

fn drive(
    bench: &Bench,
    command: &std::process::Command,
    directory: &std::path::Path,
) -> Result<Child, Trouble> {
    Child::spawn(
        command,
        bench.placement.clients,
        directory,
        Output::Messages,
    )
}
