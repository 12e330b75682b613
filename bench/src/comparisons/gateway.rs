//! Our gateway, plain, beside three reverse proxies; and with everything switched on beside itself plain. Our mock stands behind all.

use super::Comparison;
use crate::bench::Bench;
use crate::rounds::interleave;
use crate::row::{Bar, Row};
use crate::server::Kind;
use crate::server_reading::read;
use crate::server_rows::{Beside, rows};
use crate::trouble::Trouble;

pub const COMPARISON: Comparison = Comparison {
    name: "gateway",
    about: "reverse proxies, saturated and at 20,000/s",
    run,
};

const SIDES: [Kind; 5] = [
    Kind::GatewayPlain,
    Kind::NginxProxy,
    Kind::HaProxy,
    Kind::GoProxy,
    Kind::GatewayEverything,
];
const RATE: u32 = 20_000;
/// Against nginx and HAProxy each, and so against the better of them.
const PLAIN: Bar = Bar::new(1.0, 0.92);
const EVERYTHING: Bar = Bar::new(1.2, 1.1);

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let sides = interleave(bench, &SIDES, |kind| {
        read(bench, kind, Some(Kind::Mock), Some(RATE))
    });
    let plain = |index: usize, bar| Beside {
        work: "gateway, plain",
        rate: RATE,
        ours: &sides[0],
        name: SIDES[index].name(),
        peer: &sides[index],
        bar,
    };
    let everything = Beside {
        work: "gateway, key + limit + analytics",
        rate: RATE,
        ours: &sides[4],
        name: SIDES[0].name(),
        peer: &sides[0],
        bar: Some(EVERYTHING),
    };
    Ok([
        rows(&plain(1, Some(PLAIN))),
        rows(&plain(2, Some(PLAIN))),
        rows(&plain(3, None)),
        rows(&everything),
    ]
    .concat())
}
