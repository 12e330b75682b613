//! Our fault proxy without a toxic beside HAProxy as a proxy of TCP: a connection for each request, made and closed at both ends.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Quantity};
use crate::reading::secured::read_single_exchanges;
use crate::reading::server::Saturated;
use crate::rows::pair;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "fault-connections",
    about: "a connection for each request through proxies of TCP",
    round: Round {
        starts: 6,
        leads: 2,
        measured_times: 2,
    },
    run,
};

/// Ours first.
const SIDES: [Kind; 2] = [Kind::Fault, Kind::HaProxyTcp];
const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};
const WORK: &str = "fault proxy, no toxic, a connection for each request";
const AS_CHEAP: Bar = Bar::at_most(1.0);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| {
        read_single_exchanges(bench, kind)
    })?;
    let named = [0, 1].map(|index| (SIDES[index].name(), &sides[index]));
    let cost = |seen: &Saturated| seen.cost_us;
    let row = pair::row(WORK, Quantity::Cost, named, cost, Some(AS_CHEAP));
    Ok(Findings::of(vec![row], &sides))
}
