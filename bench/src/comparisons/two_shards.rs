//! The cost of a second shard to our gateway and our mock, and of a second worker to nginx, at one rate on the same two processors.

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
    about: "gateway and mock with one and with two shards, nginx with one and with two workers, at 20,000/s",
    round: Round {
        starts: 19,
        leads: 8,
        measured_times: 16,
    },
    run,
};

/// Sides of the same work: ours with two shards and with one, nginx with two workers and with one.
struct Case {
    /// The name in the table.
    work: &'static str,
    sides: [Kind; 4],
    /// The server behind them.
    upstream: Option<Kind>,
}

const CASES: [Case; 2] = [
    Case {
        work: "gateway",
        sides: [
            Kind::GatewayThreads(2),
            Kind::GatewayThreads(1),
            Kind::NginxProxyWorkers(2),
            Kind::NginxProxyWorkers(1),
        ],
        upstream: Some(Kind::Mock),
    },
    Case {
        work: "mock",
        sides: [
            Kind::MockWith(Setting::Threads(2)),
            Kind::MockWith(Setting::Threads(1)),
            Kind::NginxReturnWorkers(2),
            Kind::NginxReturnWorkers(1),
        ],
        upstream: None,
    },
];
const NAMES: [&str; 4] = ["two shards", "one shard", "two workers", "one worker"];
const RATE: u32 = 20_000;
const BAR: Bar = Bar::at_most(1.08);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    for case in &CASES {
        let work = case.work;
        let name = |()| format!("{work} and nginx together");
        let together = interleave(bench, &[()], TOGETHER, name, |()| {
            let upstream = case.upstream;
            let upstream =
                upstream.map(|kind| kind.start(bench, Cpus::Both(bench.placement), None));
            read_on_both(bench, case.sides, upstream.transpose()?.as_ref(), RATE)
        })?;
        findings.notes.push(together.note());
        let sides: [_; 4] = std::array::from_fn(|index| together[0].part(index, NAMES[index]));
        let [two, one, workers, worker] = &sides;
        let of_two = format!("{work}, two shards, {RATE}/s");
        let beside = [("plimsoll", two), (NAMES[1], one)];
        let row = pair::row(&of_two, Quantity::Cost, beside, cost, Some(BAR));
        findings.rows.push(row);
        let of_both = format!("{work}, one to two shards, {RATE}/s");
        let peer = (case.sides[2].name(), [workers, worker]);
        let grown = [("plimsoll", [two, one]), peer];
        let row = pair::growth(&of_both, grown, cost, None);
        findings.rows.push(row);
        let each = sides.iter().map(|side| {
            let readings = side.readings.iter().flatten();
            let lacking = readings.filter(|common| cost(common).is_none());
            (&*side.name, lacking.count())
        });
        if let Some(counts) = counted(each) {
            let text = "rounds in which something failed or was dropped";
            findings.notes.push(format!("{work}: {text}: {counts}"));
        }
    }
    Ok(findings)
}

fn cost(common: &Common) -> Option<f64> {
    common.cost_us()
}
