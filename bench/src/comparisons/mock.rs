//! Our mock with one stub beside nginx with a constant answer, and beside WireMock with the same stub.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::Bar;
use crate::reading::server::read;
use crate::rows::servers::{Beside, not_kept, rows};
use crate::server::Kind;
use crate::server::mock::Setting;

pub const COMPARISON: Comparison = Comparison {
    name: "mock",
    about: "servers of a constant answer, saturated and at 20,000/s",
    round: Round {
        starts: 8,
        leads: 30,
        measured_times: 7,
    },
    run,
};

/// Ours first.
const SIDES: [Kind; 4] = [
    Kind::Mock,
    Kind::NginxReturn,
    Kind::MockWith(Setting::Journal),
    Kind::WireMock,
];
const TURNS: Turns = Turns {
    judged: 3,
    tolerated: 0.02,
};
const RATE: u32 = 20_000;
const BAR: Bar = Bar::new(1.0, 0.95);
const JOURNAL: Bar = Bar::new(1.25, 1.1);
const WIREMOCK: Bar = Bar::at_least(8.0).aiming_at(12.0);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| {
        // WireMock cannot serve the common rate on one processor.
        let rate = (kind != Kind::WireMock).then_some(RATE);
        read(bench, kind, None, rate)
    })?;
    let plain = Beside {
        work: "mock, one stub",
        rate: RATE,
        ours: &sides[0],
        name: SIDES[1].name(),
        peer: &sides[1],
        cost: Some(BAR),
        throughput: None,
    };
    let journal = Beside {
        work: "mock, one stub, journal",
        ours: &sides[2],
        cost: Some(JOURNAL),
        ..plain
    };
    let wiremock = Beside {
        name: SIDES[3].name(),
        peer: &sides[3],
        cost: None,
        throughput: Some(WIREMOCK),
        ..plain
    };
    let rows = [rows(&plain), rows(&journal), rows(&wiremock)].concat();
    let mut findings = Findings::of(rows, &sides);
    findings.notes.extend(not_kept(sides.iter()));
    Ok(findings)
}
