//! One reading of a proxy that wants clients' certificates, or gets a connection for each exchange: driven by our generator, for wrk does neither, in a
//! time in the middle of its run. Requests are those that the upstream counted, the same for every proxy.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::{CONNECTIONS, ours};
use crate::program::Program;
use crate::reading::server::{Common, Saturated, ServerReading};
use crate::reading::steady::{self, Lengths};
use crate::server::{Kind, Server, Upstream};
use serde_json::json;
use std::time::Duration;

/// Time that a connection takes to be made, with its handshake at both ends.
const EACH: Duration = Duration::from_millis(3);

/// How long connections are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// As long as the run lasts, so many of them.
    Always(u32),
    /// For one exchange, and over TLS each begins with a full handshake.
    Never,
}

/// Takes one on so many connections: as fast as answers come and then, if asked for, at a common rate per second.
pub fn read(
    bench: &Bench,
    kind: Kind,
    connections: u32,
    rate: Option<u32>,
) -> Result<Reading<ServerReading>, Error> {
    let sides = start(bench, kind, connections)?;
    let always = Kept::Always(connections);
    let saturated = drive(bench, &sides, None, always)?;
    let mut lost = saturated.lost;
    let common = match rate {
        None => Common::NotAsked,
        Some(rate) => {
            let driven = drive(bench, &sides, Some(rate), always)?;
            lost = lost.max(driven.lost);
            match driven.figures.undone {
                true => Common::NotKept,
                false => Common::Cost(driven.figures.seen.cost_us),
            }
        }
    };
    let figures = ServerReading {
        saturated: whole(saturated.figures)?,
        common,
    };
    Ok(Reading { figures, lost })
}

/// Takes one of connections that carry one exchange each.
pub fn read_single_exchanges(bench: &Bench, kind: Kind) -> Result<Reading<Saturated>, Error> {
    let sides = start(bench, kind, CONNECTIONS)?;
    let driven = drive(bench, &sides, None, Kept::Never)?;
    Ok(Reading {
        lost: driven.lost,
        figures: whole(driven.figures)?,
    })
}

/// The figures of a driven server, and whether something failed or was never begun.
struct Driven {
    seen: Saturated,
    undone: bool,
}

fn whole(driven: Driven) -> Result<Saturated, Error> {
    match driven.undone {
        false => Ok(driven.seen),
        true => Err(Error::Measured("exchanges failed".to_owned())),
    }
}

/// A proxy and what stands behind it.
struct Sides {
    upstream: Server,
    proxy: Server,
}

fn start(bench: &Bench, kind: Kind, connections: u32) -> Result<Sides, Error> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let address = upstream.address;
    let behind = Upstream {
        address,
        connections,
    };
    let proxy = kind.start(bench, bench.placement.server, Some(behind))?;
    Ok(Sides { upstream, proxy })
}

fn drive(
    bench: &Bench,
    Sides { upstream, proxy }: &Sides,
    rate: Option<u32>,
    kept: Kept,
) -> Result<Reading<Driven>, Error> {
    let mut experiment = ours::experiment(proxy.listener, &proxy.authority());
    experiment["scenario"] = json!([ours::step()]);
    let connections = match kept {
        Kept::Always(connections) => connections,
        Kept::Never => CONNECTIONS,
    };
    let lengths = Lengths::of(bench, connections, EACH);
    let load = &mut experiment["load"];
    load["warmup"] = "0s".into();
    load["duration"] = format!("{}ms", lengths.whole().as_millis()).into();
    match rate {
        Some(rate) => {
            load["rate"] = format!("{rate}/s").into();
            load["connections"] = connections.into();
        }
        None => load["users"] = connections.into(),
    }
    if kept == Kept::Never {
        load["connection_per"] = "exchange".into();
        if proxy.listener.scheme() == "https" {
            load["tls"]["resumption"] = false.into();
        }
        // A port rests for a while behind a connection.
        load["sources"] = json!(["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]);
    }
    let directory = bench.directory()?;
    let command = ours::run(bench, &experiment, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    let requests = || upstream.requests();
    let seen = steady::measure(bench, &mut client, lengths, requests, |_| {
        proxy.processor_time()
    })?;
    let summary = ours::summary(directory.path())?;
    Ok(seen.with(Driven {
        seen: Saturated::of(seen.figures),
        undone: ours::undone(&summary)? > 0.0,
    }))
}
