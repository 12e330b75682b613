//! Our gateway, plain, beside three reverse proxies; and with everything switched on beside itself plain. Our mock stands behind all.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Side, Turns, interleave};
use crate::figures::row::Bar;
use crate::reading::server::{ServerReading, read, read_together};
use crate::rows::servers::{Beside, not_kept, rows};
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "gateway",
    about: "reverse proxies, saturated and at 20,000/s",
    round: Round {
        starts: 20,
        leads: 5,
        measured_times: 18,
    },
    run,
};

/// They run together.
const SIDES: [Kind; 4] = [
    Kind::GatewayPlain,
    Kind::NginxProxy,
    Kind::HaProxy,
    Kind::GatewayEverything,
];
/// By itself, for it does not serve the common rate, and what it owes at the end of its turn would be in the next one's.
const ALONE: Kind = Kind::GoProxy;
const TURNS: Turns = Turns {
    judged: 1,
    tolerated: 0.02,
};
const RATE: u32 = 20_000;
/// Against nginx and HAProxy each, and so against the better of them.
const PLAIN: Bar = Bar::new(1.0, 0.9);
const EVERYTHING: Bar = Bar::new(1.15, 1.08);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |()| "four proxies by turns".to_owned();
    let together = interleave(bench, &[()], TURNS, name, |()| {
        read_together(bench, SIDES, RATE)
    })?;
    let alone = Turns { judged: 0, ..TURNS };
    let alone = interleave(
        bench,
        &[ALONE],
        alone,
        |kind| kind.name().to_owned(),
        |kind| read(bench, kind, Some(Kind::Mock), Some(RATE)),
    )?;
    let sides: [Side<ServerReading>; 4] =
        std::array::from_fn(|index| together[0].part(index, SIDES[index].name()));
    let beside = |[ours, peer]: [_; 2], work, cost| {
        rows(&Beside {
            work,
            rate: RATE,
            ours,
            name: &peer.name,
            peer,
            cost,
            throughput: None,
        })
    };
    let [plain, nginx, haproxy, everything] = &sides;
    let work = "gateway, plain";
    let rows = [
        beside([plain, nginx], work, Some(PLAIN)),
        beside([plain, haproxy], work, Some(PLAIN)),
        beside([plain, &alone[0]], work, None),
        beside(
            [everything, plain],
            "gateway, key + limit + analytics",
            Some(EVERYTHING),
        ),
    ];
    let mut findings = Findings::of(rows.concat(), &together);
    findings.notes.push(alone.note());
    findings
        .notes
        .extend(not_kept(sides.iter().chain(alone.iter())));
    Ok(findings)
}
