//! Memory of proxies that hold 10,000 idle connections of mutual TLS.

use super::idle_connections::{held_by, holding};
use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::row::{Bar, Quantity};
use crate::limits;
use crate::rows::memory::{self, Shown};
use crate::secured::Clients;
use crate::server::{self, Kind};

pub const COMPARISON: Comparison = Comparison {
    name: "tls-memory",
    about: "proxies with 10,000 idle connections of mutual TLS",
    round: Round {
        starts: 40,
        leads: 0,
        measured_times: 0,
    },
    run,
};

/// Shows that the comparison works.
const FEW: u32 = 100;
/// Ours first.
const PROXIES: [Kind; 2] = [Kind::GatewayShards, Kind::HaProxyShards];
const GATEWAY: Bar = Bar::new(300.0, 200.0);
const SHOWN: [Shown<f64>; 1] = [Shown {
    work: "gateway, 10,000 idle connections of mutual TLS",
    quantity: Quantity::Memory("memory"),
    figure: |megabytes| *megabytes,
    bar: GATEWAY,
}];

fn run(bench: &Bench) -> Result<Findings, Error> {
    memory::compare(bench, &SHOWN, &PROXIES, |kind| idle(bench, kind))
}

/// Megabytes of a proxy that holds connections, on each of which one request was answered.
fn idle(bench: &Bench, kind: Kind) -> Result<f64, Error> {
    let count = match bench.lengths.short {
        true => FEW,
        false => held_by(kind, limits::connections())?,
    };
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let proxy = kind.start(bench, bench.placement.server, Some(upstream.address.into()))?;
    let clients = Clients::of(proxy.directory())?;
    let held = holding(&proxy, kind, count, |number| {
        let connected = clients.connected(number, proxy.listener.address, server::PATH)?;
        Ok(connected.0)
    })?;
    Ok(held.megabytes)
}
