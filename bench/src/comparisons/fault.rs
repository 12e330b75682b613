//! Our fault proxy without a toxic beside HAProxy as a proxy of TCP and Toxiproxy, with our mock behind all.

use super::{Comparison, Findings, Round, TOGETHER};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{Side, interleave};
use crate::figures::row::Bar;
use crate::reading::server::{ServerReading, read_together};
use crate::rows::servers::{Beside, not_kept, rows};
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "fault",
    about: "proxies of TCP, saturated and at 10,000/s",
    round: Round {
        starts: 9,
        leads: 3,
        measured_times: 12,
    },
    run,
};

const SIDES: [Kind; 3] = [Kind::Fault, Kind::HaProxyTcp, Kind::Toxiproxy];
const RATE: u32 = 10_000;
const BESIDE_HAPROXY: Bar = Bar::at_most(1.0);
const BESIDE_TOXIPROXY: Bar = Bar::at_most(0.5);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |()| "three proxies of TCP by turns".to_owned();
    let together = interleave(bench, &[()], TOGETHER, name, |()| {
        read_together(bench, SIDES, RATE)
    })?;
    let sides: [Side<ServerReading>; 3] =
        std::array::from_fn(|index| together[0].part(index, SIDES[index].name()));
    let [ours, haproxy, toxiproxy] = &sides;
    let beside = |peer: &Side<ServerReading>, bar| {
        rows(&Beside {
            work: "fault proxy, no toxic",
            rate: RATE,
            ours,
            name: &peer.name,
            peer,
            cost: Some(bar),
            throughput: None,
        })
    };
    let rows = [
        beside(haproxy, BESIDE_HAPROXY),
        beside(toxiproxy, BESIDE_TOXIPROXY),
    ];
    let mut findings = Findings::of(rows.concat(), &together);
    findings.notes.extend(not_kept(sides.iter()));
    Ok(findings)
}
