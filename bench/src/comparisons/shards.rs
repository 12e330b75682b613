//! Our gateway beside HAProxy: mutual TLS 1.3 on connections that are kept, and for each client the shard that a map gives it.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::Bar;
use crate::reading::secured::read;
use crate::rows::servers::{Beside, not_kept, rows};
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "shards",
    about: "mutual TLS and a map from certificates to shards, saturated and at 10,000/s",
    round: Round {
        starts: 8,
        leads: 4,
        measured_times: 4,
    },
    run,
};

/// Ours first.
const SIDES: [Kind; 2] = [Kind::GatewayShards, Kind::HaProxyShards];
const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};
/// Half of what wrk could ask in clear: client and upstream share a processor, and the client does the other end of TLS.
const RATE: u32 = 10_000;
const COST: Bar = Bar::new(1.05, 0.95);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| read(bench, kind, RATE))?;
    let rows = rows(&Beside {
        work: "gateway, mutual TLS, shards",
        rate: RATE,
        ours: &sides[0],
        name: SIDES[1].name(),
        peer: &sides[1],
        cost: Some(COST),
        throughput: None,
    });
    let mut findings = Findings::of(rows, &sides);
    findings.notes.extend(not_kept(sides.iter()));
    Ok(findings)
}
