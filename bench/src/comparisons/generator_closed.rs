//! Generators in a closed loop, as fast as nginx answers.

use super::Comparison;
use crate::bench::Bench;
use crate::client::Kind;
use crate::generator_reading::{Use, read};
use crate::rounds::interleave;
use crate::row::{Bar, Quantity, Row};
use crate::trouble::Trouble;

pub const COMPARISON: Comparison = Comparison {
    name: "generator-closed",
    about: "generators, 50 users, as fast as answers come",
    run,
};

/// Ours first.
const SIDES: [Kind; 5] = [Kind::Ours, Kind::Wrk, Kind::H2load, Kind::Oha, Kind::Hey];
/// Against wrk, the leanest.
const BAR: Bar = Bar::new(1.0, 0.9);
const WORK: &str = "generator, closed";

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let sides = interleave(bench, &SIDES, |kind| {
        let usage = Use {
            kind,
            rate: None,
            pacing: None,
        };
        read(bench, usage)
    });
    let ours = (
        sides[0].rounds(|reading| reading.cost_us),
        sides[0].rounds(|reading| reading.per_s),
    );
    let mut rows = Vec::new();
    for (kind, side) in SIDES.iter().zip(&sides).skip(1) {
        let name = kind.name();
        if let Some(reason) = side.absent() {
            rows.push(Row::absent(WORK, name, &reason));
            continue;
        }
        let bar = (*kind == Kind::Wrk).then_some(BAR);
        let cost = side.rounds(|reading| reading.cost_us);
        rows.push(Row::beside(
            WORK,
            Quantity::Cost,
            &ours.0,
            (name, &cost),
            bar,
        ));
        let throughput = side.rounds(|reading| reading.per_s);
        let throughput = (name, &throughput);
        rows.push(Row::beside(
            WORK,
            Quantity::Throughput,
            &ours.1,
            throughput,
            None,
        ));
    }
    Ok(rows)
}
