//! One reading of a server or proxy, or of several together: started afresh on a processor of its own, warmed up, then driven by wrk as fast
//! as it can and by our generator at a common rate. Its processor time is taken before and after each; clients and upstream are on the other
//! processor.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::compare::Compared;
use crate::client::wrk::{self, Load, Said, Visit};
use crate::client::{self, CONNECTIONS, Job, Work, ours};
use crate::placement::Cpus;
use crate::program::Program;
use crate::reading::steady::Seen;
use crate::reading::together::{TURN, by_turns, used};
use crate::server::{Kind, Server};
use std::time::Duration;

/// How long a client may take beyond its load.
pub const OVERHEAD: Duration = Duration::from_secs(30);

/// A proxy whose processor was busier than this was the bottleneck.
pub const SATURATED: f64 = 0.95;

/// The figures of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerReading {
    /// How it fared when driven as fast as it can.
    pub saturated: Saturated,
    /// How it fared at the common rate.
    pub common: Common,
}

/// The figures at the common rate.
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
    /// Of so many requests, which are `None` where something failed or was dropped.
    fn of(sent: Option<f64>, used: Duration) -> Self {
        let cost = |sent| Self::Cost(used.as_secs_f64() * 1e6 / sent);
        sent.map_or(Self::NotKept, cost)
    }

    /// Microseconds of processor time per request, where it kept up.
    pub fn cost_us(self) -> Option<f64> {
        match self {
            Self::Cost(us) => Some(us),
            Self::NotAsked | Self::NotKept => None,
        }
    }
}

/// The figures of a server that was driven as fast as it can.
#[derive(Debug, Clone, Copy)]
pub struct Saturated {
    /// Answers per second.
    pub per_s: f64,
    /// Microseconds of processor time per request.
    pub cost_us: f64,
    /// How much of its processor it used.
    pub busy: f64,
}

impl Saturated {
    /// Of what was seen of it.
    pub fn of(seen: Seen) -> Self {
        Self {
            per_s: seen.requests / seen.seconds,
            cost_us: seen.cost_us(),
            busy: seen.used.as_secs_f64() / seen.seconds,
        }
    }
}

/// Takes one. `rate`: the common rate per second. `upstream`: what stands behind a proxy.
pub fn read(
    bench: &Bench,
    kind: Kind,
    upstream: Option<Kind>,
    rate: Option<u32>,
) -> Result<Reading<ServerReading>, Error> {
    let behind = upstream
        .map(|kind| kind.start(bench, bench.placement.clients, None))
        .transpose()?;
    let behind = behind.as_ref().map(|upstream| upstream.address.into());
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

/// How many turns each of several servers has as fast as it can.
const TURNS: usize = 8;
/// How many it has at the common rate.
const BLOCKS: usize = 8;

/// A server among several that run together, and how it is driven as fast as it can.
pub type Part = (Kind, Load);

/// Takes one of each of several proxies that run together and are driven by turns. As fast as they can, what a proxy uses while the others
/// have theirs counts; at the common rate its measured time alone does.
pub fn read_together<const N: usize>(
    bench: &Bench,
    kinds: [Kind; N],
    rate: u32,
) -> Result<Reading<[ServerReading; N]>, Error> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let parts = kinds.map(|kind| (kind, Visit::Constant.into()));
    let cpus = bench.placement.server.into();
    let servers = start(bench, &parts, cpus, Some(&upstream))?;
    let watch = bench.watch();
    let saturated = saturate_by_turns(bench, &servers, parts)?;
    let common: [Common; N] = compare_at_rate(bench, &servers, rate)?;
    let figures = std::array::from_fn(|index| ServerReading {
        saturated: saturated[index],
        common: common[index],
    });
    Ok(watch.ends(figures))
}

/// Takes one of each of several proxies that run together and are driven by turns as fast as they can.
pub fn read_parts<const N: usize>(
    bench: &Bench,
    parts: [Part; N],
    upstream: &Server,
) -> Result<Reading<[Saturated; N]>, Error> {
    let cpus = bench.placement.server.into();
    let servers = start(bench, &parts, cpus, Some(upstream))?;
    let watch = bench.watch();
    let figures = saturate_by_turns(bench, &servers, parts)?;
    Ok(watch.ends(figures))
}

/// Takes one of each of several servers that run together, on both processors, and are driven by turns at a rate.
pub fn read_on_both<const N: usize>(
    bench: &Bench,
    kinds: [Kind; N],
    upstream: Option<&Server>,
    rate: u32,
) -> Result<Reading<[Common; N]>, Error> {
    let parts = kinds.map(|kind| (kind, Visit::Constant.into()));
    let servers = start(bench, &parts, Cpus::Both(bench.placement), upstream)?;
    let watch = bench.watch();
    let figures = compare_at_rate(bench, &servers, rate)?;
    Ok(watch.ends(figures))
}

fn saturate_by_turns<const N: usize>(
    bench: &Bench,
    servers: &[Server],
    parts: [Part; N],
) -> Result<[Saturated; N], Error> {
    let before = used(servers);
    let said = by_turns(bench, servers, TURNS, |index, server| {
        run_wrk(bench, server, parts[index].1, TURN)
    })?;
    let after = used(servers);
    Ok(std::array::from_fn(|index| {
        let sum = |of: fn(&Said) -> f64| said[index].iter().map(of).sum::<f64>();
        Saturated::of(Seen {
            requests: sum(|said| said.requests),
            used: after[index].saturating_sub(before[index]),
            seconds: sum(|said| said.seconds),
        })
    }))
}

/// Has them compared at a rate.
fn compare_at_rate<const N: usize>(
    bench: &Bench,
    servers: &[Server],
    rate: u32,
) -> Result<[Common; N], Error> {
    let arms: [String; N] = std::array::from_fn(|index| format!("side-{index}"));
    let servers: Vec<(&str, &Server)> = arms.iter().map(|arm| &**arm).zip(servers).collect();
    let compared = Compared {
        servers: &servers,
        rate,
        blocks: if bench.lengths.short { 2 } else { BLOCKS },
        warmup: TURN / 4,
        measured: TURN,
    };
    let summary = compared.run(bench)?;
    let mut common = [Common::NotKept; N];
    for (common, arm) in common.iter_mut().zip(&arms) {
        *common = summary.cost_us(arm)?.map_or(Common::NotKept, Common::Cost);
    }
    Ok(common)
}

/// Starts these on some processors and warms them up, one after the other.
pub fn start(
    bench: &Bench,
    parts: &[Part],
    cpus: Cpus,
    upstream: Option<&Server>,
) -> Result<Vec<Server>, Error> {
    let each = parts.iter().map(|(kind, load)| {
        let upstream = upstream.map(|upstream| upstream.address.into());
        let server = kind.start(bench, cpus, upstream)?;
        warm(bench, *kind, &server, *load)?;
        Ok(server)
    });
    each.collect()
}

/// Drives a server before it is measured.
pub fn warm(
    bench: &Bench,
    kind: Kind,
    server: &Server,
    load: impl Into<Load>,
) -> Result<(), Error> {
    saturate(bench, server, load, kind.warmup(bench.lengths)).map(drop)
}

/// Drives a server with wrk.
pub fn saturate(
    bench: &Bench,
    server: &Server,
    load: impl Into<Load>,
    length: Duration,
) -> Result<Reading<Saturated>, Error> {
    let watch = bench.watch();
    let before = server.processor_time();
    let said = run_wrk(bench, server, load.into(), length)?;
    let used = server.processor_time().saturating_sub(before);
    Ok(watch.ends(Saturated::of(Seen {
        requests: said.requests,
        used,
        seconds: said.seconds,
    })))
}

/// The report of wrk on a server that it has driven.
fn run_wrk(bench: &Bench, server: &Server, load: Load, length: Duration) -> Result<Said, Error> {
    let directory = bench.directory()?;
    let command = wrk::visiting(bench, server.listener, load, length, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    client.wait(length + OVERHEAD)?;
    wrk::said(&client.messages(), load)
}

/// Drives a server at the common rate.
fn at_rate(bench: &Bench, server: &Server, rate: u32) -> Result<Common, Error> {
    let before = server.processor_time();
    let sent = drive(bench, server, rate, bench.measured_time())?;
    let used = server.processor_time().saturating_sub(before);
    Ok(Common::of(sent, used))
}

/// Drives a server at a rate; how many requests were sent, `None` where something failed or was dropped.
pub fn drive(
    bench: &Bench,
    server: &Server,
    rate: u32,
    length: Duration,
) -> Result<Option<f64>, Error> {
    let authority = server.authority();
    let job = Job {
        target: server.listener,
        authority: &authority,
        work: Work::Constant,
        connections: CONNECTIONS,
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
