//! Memory of proxies that hold 10,000 idle connections.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::row::{Bar, Quantity};
use crate::server::{self, Kind, Server};
use crate::{http, interrupt, limits, process, rows::memory};
use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};

pub const COMPARISON: Comparison = Comparison {
    name: "memory",
    about: "proxies with 10,000 idle connections",
    round: Round {
        starts: 10,
        leads: 0,
        measured_times: 0,
    },
    run,
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
const GATEWAY: Bar = Bar::new(150.0, 80.0);
const QUANTITY: Quantity = Quantity::Memory("memory");
const WORK: &str = "gateway, 10,000 idle connections";

fn run(bench: &Bench) -> Result<Findings, Error> {
    let shown = (WORK, QUANTITY, GATEWAY);
    memory::compare(bench, shown, &PROXIES, |kind| idle(bench, kind))
}

/// Megabytes of a proxy that holds connections on each of which one request was answered.
fn idle(bench: &Bench, kind: Kind) -> Result<f64, Error> {
    let count = held_by(kind, limits::connections())?;
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let proxy = kind.start(bench, bench.placement.server, Some(upstream.address.into()))?;
    megabytes_holding(&proxy, kind, count, |_| connected(proxy.address))
}

/// Megabytes that this proxy would have with all connections, by what it has while it holds `count` of them.
pub(super) fn megabytes_holding<C>(
    proxy: &Server,
    kind: Kind,
    count: u32,
    connect: impl Fn(u32) -> std::io::Result<C>,
) -> Result<f64, Error> {
    let held: Vec<C> = (0..count)
        .map(|number| {
            interrupt::check()?;
            let what = format!("connection {number} to {}", kind.name());
            connect(number).map_err(Error::when(what))
        })
        .collect::<Result<_, _>>()?;
    let megabytes = process::proportional_megabytes(proxy.pid());
    drop(held);
    Ok(megabytes * f64::from(CONNECTIONS) / f64::from(count))
}

/// How many connections a proxy holds here, where it may be told to expect `expected`. HAProxy needs two descriptors for each of those;
/// where that allows fewer, its memory is scaled.
pub(super) fn held_by(kind: Kind, expected: u64) -> Result<u32, Error> {
    let expected = u32::try_from(expected).unwrap_or(u32::MAX);
    let count = match kind {
        Kind::HaProxy | Kind::HaProxyShards => CONNECTIONS.min(expected.saturating_sub(SPARE)),
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
