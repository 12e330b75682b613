//! Our mock with one stub beside nginx with a constant answer, and beside WireMock with the same stub.

use super::{Comparison, Findings, Round};
use crate::Trouble;
use crate::bench::Bench;
use crate::rounds::{Turns, interleave};
use crate::row::Bar;
use crate::server::Kind;
use crate::server_reading::read;
use crate::server_rows::{Beside, not_kept, rows};

pub const COMPARISON: Comparison = Comparison {
    name: "mock",
    about: "servers of a constant answer, saturated and at 20,000/s",
    round: Round {
        starts: 7,
        leads: 5,
        measured_times: 5,
    },
    run,
};

/// Ours first.
const SIDES: [Kind; 3] = [Kind::Mock, Kind::NginxReturn, Kind::WireMock];
const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};
const RATE: u32 = 20_000;
const BAR: Bar = Bar::new(1.05, 0.95);

fn run(bench: &Bench) -> Result<Findings, Trouble> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| {
        // WireMock cannot serve the common rate on one processor.
        let rate = (kind != Kind::WireMock).then_some(RATE);
        read(bench, kind, None, rate)
    })?;
    let beside = |index: usize, bar| Beside {
        work: "mock, one stub",
        rate: RATE,
        ours: &sides[0],
        name: SIDES[index].name(),
        peer: &sides[index],
        bar,
    };
    let rows = [rows(&beside(1, Some(BAR))), rows(&beside(2, None))].concat();
    let mut findings = Findings::of(rows, &sides);
    findings.notes.extend(not_kept(&sides));
    Ok(findings)
}
