//! The cost of spans to our gateway: without tracing, with one request of a hundred sampled, and with all of them.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::reading::spans::read;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "tracing",
    about: "the gateway without spans, with 1 % and with all requests sampled",
    round: Round {
        starts: 70,
        leads: 3,
        measured_times: 12,
    },
    run,
};

/// Without spans first.
const SIDES: [Kind; 3] = [
    Kind::GatewayPlain,
    Kind::GatewayTraced("1%"),
    Kind::GatewayTraced("100%"),
];
const TURNS: Turns = Turns {
    judged: 1,
    tolerated: 0.02,
};
const RATE: u32 = 20_000;
const ROWS: [(usize, &str, Bar); 2] = [
    (1, "1 % of requests", Bar::at_most(1.0)),
    (2, "100 % of requests", Bar::at_most(3.0)),
];

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |()| "three gateways by turns".to_owned();
    let sides = interleave(bench, &[()], TURNS, name, |()| read(bench, SIDES, RATE))?;
    let absent = sides[0].absent();
    let of = |index: usize| sides[0].rounds(|costs| costs[index]);
    let plain = format!("gateway without spans, {RATE}/s");
    let mut rows = vec![Row::alone(&plain, Quantity::Cost, &of(0), None)];
    for (index, share, bar) in ROWS {
        let work = format!("gateway, spans of {share}, {RATE}/s");
        rows.push(match &absent {
            Some(reason) => {
                let limit = Some(Limit::Figure(bar));
                Row::absent(&work, Quantity::AddedCost, ("plimsoll", reason), limit)
            }
            None => Row::added(&work, Quantity::AddedCost, [&of(index), &of(0)], Some(bar)),
        });
    }
    Ok(Findings::of(rows, &sides))
}
