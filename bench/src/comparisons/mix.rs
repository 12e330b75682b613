//! Our generator with a mix of a hundred scenarios beside itself with one: all of them send the same request.

use super::{Comparison, Findings, GROWTH, Round};
use crate::Error;
use crate::bench::Bench;
use crate::client::{Kind, Work};
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::Quantity;
use crate::reading::generator::{Use, read};
use crate::rows::pair;

pub const COMPARISON: Comparison = Comparison {
    name: "mix",
    about: "a mix of 1 and of 100 scenarios, 50 users, as fast as answers come",
    round: Round {
        starts: 4,
        leads: 2,
        measured_times: 2,
    },
    run,
};

const MIXES: [(Work, &str); 2] = [(Work::Mix(100), "plimsoll"), (Work::Mix(1), "one scenario")];
const TURNS: Turns = Turns {
    judged: MIXES.len(),
    tolerated: 0.02,
};

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |(_, name): (Work, &str)| name.to_owned();
    let sides = interleave(bench, &MIXES, TURNS, name, |(work, _)| {
        let usage = Use {
            work,
            ..Use::closed(Kind::Ours)
        };
        read(bench, usage)
    })?;
    let row = pair::row(
        "generator, closed, mix of 100 scenarios",
        Quantity::Cost,
        [(MIXES[0].1, &sides[0]), (MIXES[1].1, &sides[1])],
        |reading| reading.cost_us,
        Some(GROWTH),
    );
    Ok(Findings::of(vec![row], &sides))
}
