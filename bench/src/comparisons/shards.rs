//! Our gateway beside HAProxy: mutual TLS 1.3 on connections that are kept, and for each client the shard that a map gives it.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::client::CONNECTIONS;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Quantity};
use crate::reading::secured::read;
use crate::rows::pair;
use crate::rows::servers::{Beside, not_kept, rows};
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "shards",
    about: "mutual TLS and a map from certificates to shards, saturated, on 1,000 connections, and at 10,000/s",
    round: Round {
        starts: 14,
        leads: 10,
        measured_times: 6,
    },
    run,
};

/// Each on so many connections and at this common rate, if any; ours first.
const SIDES: [(Kind, u32, Option<u32>); 4] = [
    (Kind::GatewayShards, CONNECTIONS, Some(RATE)),
    (Kind::HaProxyShards, CONNECTIONS, Some(RATE)),
    (Kind::GatewayShards, MANY, None),
    (Kind::HaProxyShards, MANY, None),
];
const MANY: u32 = 1_000;
const TURNS: Turns = Turns {
    judged: SIDES.len(),
    tolerated: 0.02,
};
/// Half of what wrk could ask in clear: client and upstream share a processor, and the client does the other end of TLS.
const RATE: u32 = 10_000;
const COST: Bar = Bar::new(1.05, 0.95);
const COST_OF_MANY: Bar = Bar::at_most(0.85);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |(kind, ..): (Kind, u32, Option<u32>)| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |(kind, connections, rate)| {
        read(bench, kind, connections, rate)
    })?;
    let mut rows = rows(&Beside {
        work: "gateway, mutual TLS, shards",
        rate: RATE,
        ours: &sides[0],
        name: &sides[1].name,
        peer: &sides[1],
        cost: Some(COST),
        throughput: None,
    });
    rows.push(pair::row(
        "gateway, mutual TLS, shards, 1,000 connections",
        Quantity::Cost,
        [
            (SIDES[2].0.name(), &sides[2]),
            (SIDES[3].0.name(), &sides[3]),
        ],
        |reading| reading.saturated.cost_us,
        Some(COST_OF_MANY),
    ));
    let mut findings = Findings::of(rows, &sides);
    findings.notes.extend(not_kept(sides.iter()));
    Ok(findings)
}
