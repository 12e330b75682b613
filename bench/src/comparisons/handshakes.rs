//! Our gateway beside HAProxy: full handshakes of mutual TLS 1.3, one for each request.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::reading::secured::read_single_exchanges;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "handshakes",
    about: "full handshakes of mutual TLS 1.3, a connection for each request",
    round: Round {
        starts: 6,
        leads: 2,
        measured_times: 2,
    },
    run,
};

/// Ours first.
const SIDES: [Kind; 2] = [Kind::GatewayShards, Kind::HaProxyShards];
const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};
const WORK: &str = "gateway, full handshakes of mutual TLS";
const RATE: Bar = Bar::at_least(0.85).aiming_at(1.0);
const QUANTITY: Quantity = Quantity::PerProcessor;

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| {
        read_single_exchanges(bench, kind)
    })?;
    let absent = |index: usize| Some((SIDES[index].name(), sides[index].absent()?));
    let row = match absent(0).or_else(|| absent(1)) {
        Some((name, reason)) => {
            Row::absent(WORK, QUANTITY, (name, &reason), Some(Limit::Ratio(RATE)))
        }
        None => {
            let of = |index: usize| sides[index].rounds(|seen| 1e6 / seen.cost_us);
            let theirs = (SIDES[1].name(), &of(1));
            Row::beside(WORK, QUANTITY, &of(0), theirs, Some(RATE))
        }
    };
    Ok(Findings::of(vec![row], &sides))
}
