//! Our gateway with a thousand routes beside itself with one.

use super::{Comparison, Findings, GROWTH, Round, TOGETHER};
use crate::Error;
use crate::bench::Bench;
use crate::client::wrk::Visit;
use crate::figures::rounds::interleave;
use crate::figures::row::Quantity;
use crate::reading::server::{Part, read_parts};
use crate::rows::pair;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "routes",
    about: "the gateway with 1 and with 1,000 routes, saturated",
    round: Round {
        starts: 9,
        leads: 2,
        measured_times: 3,
    },
    run,
};

const MANY: u32 = 1_000;

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |()| "two gateways by turns".to_owned();
    let sides = interleave(bench, &[()], TOGETHER, name, |()| {
        let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
        let part = |count| -> Part { (Kind::GatewayRoutes(count), Visit::Constant.into()) };
        read_parts(bench, [part(MANY), part(1)], &upstream)
    })?;
    let [many, one] = [sides[0].part(0, "plimsoll"), sides[0].part(1, "one route")];
    let row = pair::row(
        "gateway, last of 1,000 routes",
        Quantity::Cost,
        [("plimsoll", &many), ("one route", &one)],
        |seen| seen.cost_us,
        Some(GROWTH),
    );
    Ok(Findings::of(vec![row], &sides))
}
