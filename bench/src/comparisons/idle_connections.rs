//! Memory of servers and proxies that hold 10,000 idle connections, and what each of these takes.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::row::{Bar, Quantity};
use crate::rows::memory::{self, Shown};
use crate::server::{self, Kind, Server, Upstream};
use crate::{http, interrupt, limits, process};
use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};

pub const COMPARISON: Comparison = Comparison {
    name: "memory",
    about: "proxies and our mock with 10,000 idle connections",
    round: Round {
        starts: 15,
        leads: 0,
        measured_times: 0,
    },
    run,
};

/// Proxies of TCP.
pub const FAULT: Comparison = Comparison {
    name: "fault-memory",
    about: "proxies of TCP with 10,000 idle connections",
    round: Round {
        starts: 9,
        leads: 0,
        measured_times: 0,
    },
    run: run_fault,
};

const CONNECTIONS: u32 = 10_000;
/// Connections that are not ours: the look whether it is ready.
const SPARE: u32 = 50;
/// Our gateway first, then other proxies.
const PROXIES: [Kind; 4] = [
    Kind::GatewayPlain,
    Kind::NginxProxy,
    Kind::HaProxy,
    Kind::GoProxy,
];
const GATEWAY: [Shown<Held>; 2] = [
    Shown {
        work: "gateway, 10,000 idle connections",
        quantity: Quantity::Memory("memory"),
        figure: |held| held.megabytes,
        bar: Bar::new(60.0, 40.0),
    },
    Shown {
        work: "gateway, each idle connection",
        quantity: EACH,
        figure: |held| held.each_kilobytes,
        bar: Bar::new(4.0, 2.0),
    },
];
/// Our mock first.
const SERVERS: [Kind; 2] = [Kind::Mock, Kind::NginxReturn];
const MOCK: [Shown<Held>; 1] = [Shown {
    work: "mock, each idle connection",
    quantity: EACH,
    figure: |held| held.each_kilobytes,
    bar: Bar::new(3.0, 2.0),
}];
/// Ours first.
const PROXIES_OF_TCP: [Kind; 3] = [Kind::Fault, Kind::HaProxyTcp, Kind::Toxiproxy];
const OF_TCP: [Shown<Held>; 1] = [Shown {
    work: "fault proxy, each idle connection",
    quantity: EACH,
    figure: |held| held.each_kilobytes,
    bar: Bar::new(4.0, 2.0),
}];
const EACH: Quantity = Quantity::SmallMemory("memory");

/// The memory of a server that holds idle connections.
pub(super) struct Held {
    /// Its memory in all with 10,000 of them.
    pub(super) megabytes: f64,
    /// Memory that each of them added to what it had before.
    pub(super) each_kilobytes: f64,
}

fn run(bench: &Bench) -> Result<Findings, Error> {
    let mut found = memory::compare(bench, &GATEWAY, &PROXIES, |kind| {
        let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
        idle(bench, kind, Some(upstream.address.into()))
    })?;
    let servers = memory::compare(bench, &MOCK, &SERVERS, |kind| idle(bench, kind, None))?;
    found.rows.extend(servers.rows);
    found.notes.extend(servers.notes);
    Ok(found)
}

fn run_fault(bench: &Bench) -> Result<Findings, Error> {
    memory::compare(bench, &OF_TCP, &PROXIES_OF_TCP, |kind| {
        let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
        idle(bench, kind, Some(upstream.address.into()))
    })
}

/// The memory of one that holds connections on each of which one request was answered.
fn idle(bench: &Bench, kind: Kind, upstream: Option<Upstream>) -> Result<Held, Error> {
    let count = held_by(kind, limits::connections())?;
    let server = kind.start(bench, bench.placement.server, upstream)?;
    holding(&server, kind, count, |_| connected(server.address))
}

/// The memory that this one would have with all connections, by what it has while it holds `count` of them.
pub(super) fn holding<C>(
    server: &Server,
    kind: Kind,
    count: u32,
    connect: impl Fn(u32) -> std::io::Result<C>,
) -> Result<Held, Error> {
    let before = process::proportional_megabytes(server.pid());
    let held: Vec<C> = (0..count)
        .map(|number| {
            interrupt::check()?;
            let what = format!("connection {number} to {}", kind.name());
            connect(number).map_err(Error::when(what))
        })
        .collect::<Result<_, _>>()?;
    let megabytes = process::proportional_megabytes(server.pid());
    drop(held);
    Ok(Held {
        megabytes: megabytes * f64::from(CONNECTIONS) / f64::from(count),
        each_kilobytes: (megabytes - before) * 1e3 / f64::from(count),
    })
}

/// How many connections a proxy holds here, where it may be told to expect `expected`. HAProxy and proxies of TCP need two descriptors for each of
/// those;
/// where that allows fewer, its memory is scaled.
pub(super) fn held_by(kind: Kind, expected: u64) -> Result<u32, Error> {
    let expected = u32::try_from(expected).unwrap_or(u32::MAX);
    let count = match kind {
        Kind::HaProxy | Kind::HaProxyShards | Kind::HaProxyTcp | Kind::Fault | Kind::Toxiproxy => {
            CONNECTIONS.min(expected.saturating_sub(SPARE))
        }
        _ => CONNECTIONS,
    };
    if count == 0 {
        let name = kind.name();
        let text = format!("the limit of descriptors (ulimit -n) leaves {name} no connection");
        return Err(Error::Missing(text));
    }
    Ok(count)
}

/// A connection on which one request was answered.
fn connected(address: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = http::begin(address, server::PATH)?;
    // The rest, which is small.
    let mut rest = [0; 4096];
    match stream.read(&mut rest)? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_descriptors_are_few_connections_or_none() {
        let check = |kind, expected, held: Option<u32>| {
            assert_eq!(held_by(kind, expected).ok(), held, "{kind:?} {expected}");
        };
        check(Kind::HaProxy, 16_284, Some(10_000));
        check(Kind::HaProxy, 9_900, Some(9_850));
        check(Kind::HaProxy, 50, None);
        check(Kind::HaProxy, 0, None);
        check(Kind::GatewayPlain, 0, Some(10_000));
    }
}
