//! One reading of a load generator: it runs on a processor of its own against nginx on the other, and in a window of its run its
//! processor time and the requests that nginx counted are taken. Both sides are counted by the same counter, not by their own words.

use crate::bench::Bench;
use crate::child::{Child, Output};
use crate::client::{self, Job, ours};
use crate::clock;
use crate::process;
use crate::server;
use crate::trouble::Trouble;
use std::time::Duration;

/// How long a program runs on after the window, so that its end is not in it.
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
}

/// What was seen in the window.
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
pub fn read(bench: &Bench, usage: Use) -> Result<GeneratorReading, Trouble> {
    let target = server::Kind::NginxReturn.start(bench, bench.placement.server, None)?;
    let directory = bench.directory()?;
    let job = Job {
        target: target.address,
        rate: usage.rate,
        pacing: usage.pacing,
        length: bench.lead() + bench.window() + TAIL,
        warmup: bench.lead(),
    };
    let command = usage.kind.command(bench, &job, directory.path())?;
    let mut client = Child::spawn(
        &command,
        bench.placement.clients,
        directory.path(),
        Output::Messages,
    )?;
    clock::pause(bench.lead());
    client.check_alive()?;
    let (begin, requests, used) = (
        clock::now(),
        target.nginx_requests()?,
        process::processor_time(client.pid()),
    );
    clock::pause(bench.window());
    let used = process::processor_time(client.pid()).saturating_sub(used);
    // The asking itself is one of them.
    let requests = target.nginx_requests()? - requests - 1.0;
    let seconds = (clock::now() - begin).as_secs_f64();
    client.check_alive()?;
    client.wait(job.length + OVERHEAD)?;
    if requests < 1.0 {
        let said = client.last_words();
        return Err(Trouble::Behaved(format!("no request came: {said}")));
    }
    let lag_p99_us = match (usage.kind, usage.rate) {
        (client::Kind::Ours, Some(_)) => {
            let summary = ours::summary(directory.path())?;
            Some(ours::number(&summary, "/arms/main/pacing_lag/p99")? * 1e6)
        }
        _ => None,
    };
    Ok(GeneratorReading {
        cost_us: used.as_secs_f64() * 1e6 / requests,
        per_s: requests / seconds,
        lag_p99_us,
    })
}
