//! Our gateway, plain, beside three reverse proxies; and with everything switched on beside itself plain. Our mock stands behind all.

use super::{Comparison, Findings, Round};
use crate::Trouble;
use crate::bench::Bench;
use crate::rounds::{Turns, interleave};
use crate::row::Bar;
use crate::server::Kind;
use crate::server_reading::read;
use crate::server_rows::{Beside, not_kept, rows};

pub const COMPARISON: Comparison = Comparison {
    name: "gateway",
    about: "reverse proxies, saturated and at 20,000/s",
    round: Round {
        starts: 14,
        leads: 5,
        measured_times: 10,
    },
    run,
};

const SIDES: [Kind; 5] = [
    Kind::GatewayPlain,
    Kind::NginxProxy,
    Kind::HaProxy,
    Kind::GatewayEverything,
    Kind::GoProxy,
];
const TURNS: Turns = Turns {
    judged: 4,
    tolerated: 0.02,
};
const RATE: u32 = 20_000;
/// Against nginx and HAProxy each, and so against the better of them.
const PLAIN: Bar = Bar::new(1.0, 0.92);
const EVERYTHING: Bar = Bar::new(1.2, 1.1);

fn run(bench: &Bench) -> Result<Findings, Trouble> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| {
        read(bench, kind, Some(Kind::Mock), Some(RATE))
    })?;
    let plain = |index: usize, bar| Beside {
        work: "gateway, plain",
        rate: RATE,
        ours: &sides[0],
        name: SIDES[index].name(),
        peer: &sides[index],
        cost: bar,
        throughput: None,
    };
    let everything = Beside {
        work: "gateway, key + limit + analytics",
        rate: RATE,
        ours: &sides[3],
        name: SIDES[0].name(),
        peer: &sides[0],
        cost: Some(EVERYTHING),
        throughput: None,
    };
    let rows = [
        rows(&plain(1, Some(PLAIN))),
        rows(&plain(2, Some(PLAIN))),
        rows(&plain(4, None)),
        rows(&everything),
    ]
    .concat();
    let mut findings = Findings::of(rows, &sides);
    findings.notes.extend(not_kept(&sides));
    Ok(findings)
}
