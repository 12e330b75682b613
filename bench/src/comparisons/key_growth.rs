//! Our gateway with Tyk's files and a million keys beside itself with one key: each request has any of them.

use super::{Comparison, Findings, GROWTH, Round, TOGETHER};
use crate::Error;
use crate::bench::Bench;
use crate::client::wrk::Visit;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::Quantity;
use crate::reading::server::{Part, read_parts};
use crate::rows::pair;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "key-growth",
    about: "the gateway with 1 and with 1,000,000 keys, saturated",
    round: Round {
        starts: 130,
        leads: 1,
        measured_times: 2,
    },
    run,
};

/// To make the keys takes minutes: the first rounds only.
const TURNS: Turns = Turns {
    judged: 0,
    ..TOGETHER
};
const KEYS: u32 = 1_000_000;
/// Shows that the comparison works.
const FEW: u32 = 10_000;

fn run(bench: &Bench) -> Result<Findings, Error> {
    let (keys, work) = match bench.lengths.short {
        true => (FEW, "gateway, any of 10,000 keys"),
        false => (KEYS, "gateway, any of 1,000,000 keys"),
    };
    let name = |()| "two gateways by turns".to_owned();
    let sides = interleave(bench, &[()], TURNS, name, |()| {
        let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
        let part = |count| -> Part { (Kind::GatewayKeys(count), Visit::Keys(count).into()) };
        read_parts(bench, [part(keys), part(1)], &upstream)
    })?;
    let [many, one] = [sides[0].part(0, "plimsoll"), sides[0].part(1, "one key")];
    let row = pair::row(
        work,
        Quantity::Cost,
        [("plimsoll", &many), ("one key", &one)],
        |seen| seen.cost_us,
        Some(GROWTH),
    );
    Ok(Findings::of(vec![row], &sides))
}
