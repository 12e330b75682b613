//! The cost of a scenario whose requests differ: a feeder, two values in each request, one taken from the answer, two checks. Ours beside
//! ours with a request that is always the same, to the same document.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::client::{Kind, Work};
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::reading::generator::{Use, read};

pub const COMPARISON: Comparison = Comparison {
    name: "templated",
    about: "a templated scenario beside a constant request, 50 users, as fast as answers come",
    round: Round {
        starts: 4,
        leads: 2,
        measured_times: 2,
    },
    run,
};

const BAR: Bar = Bar::new(1.8, 1.5);
const WORK: &str = "generator, closed, templated scenario";
const CONSTANT: &str = "plimsoll, constant request";
const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};

fn run(bench: &Bench) -> Result<Findings, Error> {
    let works = [Work::Templated, Work::Document];
    let name = |work: Work| {
        if work == Work::Templated {
            "plimsoll"
        } else {
            CONSTANT
        }
        .to_owned()
    };
    let sides = interleave(bench, &works, TURNS, name, |work| {
        let usage = Use {
            work,
            ..Use::closed(Kind::Ours)
        };
        read(bench, usage)
    })?;
    let names = ["plimsoll", CONSTANT];
    for (name, side) in names.iter().zip(sides.iter()) {
        if let Some(reason) = side.absent() {
            let limit = Some(Limit::Ratio(BAR));
            let rows = vec![Row::absent(WORK, Quantity::Cost, (name, &reason), limit)];
            return Ok(Findings::of(rows, &sides));
        }
    }
    let costs = |index: usize| sides[index].rounds(|reading| reading.cost_us);
    let constant = (CONSTANT, &costs(1));
    let rows = vec![Row::beside(
        WORK,
        Quantity::Cost,
        &costs(0),
        constant,
        Some(BAR),
    )];
    Ok(Findings::of(rows, &sides))
}
