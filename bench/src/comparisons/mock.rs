//! Our mock with one stub beside nginx with a constant answer, and beside WireMock with the same stub.

use super::Comparison;
use crate::bench::Bench;
use crate::rounds::interleave;
use crate::row::{Bar, Row};
use crate::server::Kind;
use crate::server_reading::read;
use crate::server_rows::{Beside, rows};
use crate::trouble::Trouble;

pub const COMPARISON: Comparison = Comparison {
    name: "mock",
    about: "servers of a constant answer, saturated and at 20,000/s",
    run,
};

/// Ours first.
const SIDES: [Kind; 3] = [Kind::Mock, Kind::NginxReturn, Kind::WireMock];
const RATE: u32 = 20_000;
const BAR: Bar = Bar::new(1.05, 0.95);

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let sides = interleave(bench, &SIDES, |kind| {
        // WireMock cannot serve the common rate on one processor.
        let rate = (kind != Kind::WireMock).then_some(RATE);
        read(bench, kind, None, rate)
    });
    let beside = |index: usize, bar| Beside {
        work: "mock, one stub",
        rate: RATE,
        ours: &sides[0],
        name: SIDES[index].name(),
        peer: &sides[index],
        bar,
    };
    Ok([rows(&beside(1, Some(BAR))), rows(&beside(2, None))].concat())
}
