//! Our gateway and our mock with two shards beside themselves with one, at the same rate and on the same two processors.

use super::{Comparison, Findings, Round, TOGETHER};
use crate::Error;
use crate::bench::Bench;
use crate::figures::rounds::{counted, interleave};
use crate::figures::row::{Bar, Quantity};
use crate::placement::Cpus;
use crate::reading::server::{Common, read_on_both};
use crate::rows::pair;
use crate::server::Kind;
use crate::server::mock::Setting;

pub const COMPARISON: Comparison = Comparison {
    name: "two-shards",
    about: "gateway and mock with one and with two shards, at 20,000/s",
    round: Round {
        starts: 44,
        leads: 4,
        measured_times: 6,
    },
    run,
};

/// The name in the table; with two shards and with one; what stands behind.
const CASES: [(&str, [Kind; 2], Option<Kind>); 2] = [
    (
        "gateway, two shards",
        [Kind::GatewayThreads(2), Kind::GatewayThreads(1)],
        Some(Kind::Mock),
    ),
    (
        "mock, two shards",
        [
            Kind::MockWith(Setting::Threads(2)),
            Kind::MockWith(Setting::Threads(1)),
        ],
        None,
    ),
];
const RATE: u32 = 20_000;
const BAR: Bar = Bar::at_most(1.08);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    for (work, kinds, behind) in CASES {
        let name = |()| format!("{work}, by turns with one");
        let sides = interleave(bench, &[()], TOGETHER, name, |()| {
            let behind = behind.map(|kind| kind.start(bench, Cpus::Both(bench.placement), None));
            read_on_both(bench, kinds, behind.transpose()?.as_ref(), RATE)
        })?;
        let [two, one] = [sides[0].part(0, "plimsoll"), sides[0].part(1, "one shard")];
        findings.notes.push(sides.note());
        let work = format!("{work}, {RATE}/s");
        let cost = |common: &Common| common.cost_us();
        let beside = [("plimsoll", &two), ("one shard", &one)];
        let row = pair::row(&work, Quantity::Cost, beside, cost, Some(BAR));
        findings.rows.push(row);
        let each = [&two, &one].map(|side| {
            let readings = side.readings.iter().flatten();
            let lacking = readings.filter(|common| common.cost_us().is_none());
            (&*side.name, lacking.count())
        });
        if let Some(counts) = counted(each.into_iter()) {
            let text = "rounds in which something failed or was dropped";
            findings.notes.push(format!("{work}: {text}: {counts}"));
        }
    }
    Ok(findings)
}
