//! Throughput of proxies for bodies of 256 MiB, to clients and from them. Client and upstream are threads of the benchmark, on the clients'
//! processor, which do nothing but move bytes.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::{Bench, Reading};
use crate::clock;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::server::Kind;
use crate::transfer::{Origin, Traffic, Way};

pub const COMPARISON: Comparison = Comparison {
    name: "transfer",
    about: "256 MiB bodies, both ways",
    round: Round {
        starts: 8,
        leads: 4,
        measured_times: 4,
    },
    run,
};

/// Proxies of TCP in the place of the gateway and its peer.
pub const FAULT: Comparison = Comparison {
    name: "fault-transfer",
    about: "256 MiB bodies through proxies of TCP, both ways",
    run: run_fault,
    ..COMPARISON
};

/// Ours, the peer, and how ours is called in the table.
#[derive(Debug, Clone, Copy)]
struct Pair {
    sides: [Kind; 2],
    name: &'static str,
    throughput: Option<Bar>,
    per_processor: Option<Bar>,
}

const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};
const RATE: Bar = Bar::at_least(0.85).aiming_at(1.0);
/// As much for each second of processor time.
const AS_CHEAP: Bar = Bar::at_least(1.0);

/// The figures of one direction.
#[derive(Debug, Clone, Copy)]
struct Moved {
    megabytes_per_s: f64,
    /// For each second of the proxy's processor time.
    per_processor: f64,
}

fn run(bench: &Bench) -> Result<Findings, Error> {
    let pair = Pair {
        sides: [Kind::GatewayPlain, Kind::HaProxy],
        name: "gateway",
        throughput: Some(RATE),
        per_processor: None,
    };
    compare(bench, pair)
}

fn run_fault(bench: &Bench) -> Result<Findings, Error> {
    let pair = Pair {
        sides: [Kind::Fault, Kind::HaProxyTcp],
        name: "fault proxy, no toxic",
        throughput: None,
        per_processor: Some(AS_CHEAP),
    };
    compare(bench, pair)
}

fn compare(bench: &Bench, pair: Pair) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    for way in [Way::Down, Way::Up] {
        let work = &format!("{}, 256 MiB bodies {}", pair.name, way.name());
        let name = |kind: Kind| format!("{}, {}", kind.name(), way.name());
        let sides = interleave(bench, &pair.sides, TURNS, name, |kind| {
            moved(bench, kind, way)
        })?;
        let absent = |index: usize| Some((pair.sides[index].name(), sides[index].absent()?));
        let throughput = Quantity::Bandwidth("throughput");
        if let Some((name, reason)) = absent(0).or_else(|| absent(1)) {
            let limit = pair.throughput.or(pair.per_processor).map(Limit::Ratio);
            findings
                .rows
                .push(Row::absent(work, throughput, (name, &reason), limit));
            continue;
        }
        let row = |quantity, figure: fn(&Moved) -> f64, bar| {
            let (ours, theirs) = (sides[0].rounds(figure), sides[1].rounds(figure));
            Row::beside(work, quantity, &ours, (pair.sides[1].name(), &theirs), bar)
        };
        findings.rows.push(row(
            throughput,
            |seen| seen.megabytes_per_s,
            pair.throughput,
        ));
        let per_processor = Quantity::Bandwidth("throughput per CPU second");
        findings.rows.push(row(
            per_processor,
            |seen| seen.per_processor,
            pair.per_processor,
        ));
        findings.notes.push(sides.note());
    }
    Ok(findings)
}

/// How fast bodies pass a proxy one way.
fn moved(bench: &Bench, kind: Kind, way: Way) -> Result<Reading<Moved>, Error> {
    let origin = Origin::start(bench.placement.clients)?;
    let proxy = kind.start(bench, bench.placement.server, Some(origin.address().into()))?;
    let traffic = Traffic::start(bench.placement.clients, proxy.address, way)?;
    clock::pause(bench.lead());
    let watch = bench.watch();
    let (begin, bytes, used) = (clock::now(), traffic.bytes(&origin), proxy.processor_time());
    clock::pause(bench.measured_time());
    let used = proxy.processor_time().saturating_sub(used).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let bytes = (traffic.bytes(&origin) - bytes) as f64;
    let seconds = (clock::now() - begin).as_secs_f64();
    let reading = watch.ends(Moved {
        megabytes_per_s: bytes / 1e6 / seconds,
        per_processor: bytes / 1e6 / used,
    });
    // Ends the clients' connections before the proxy goes.
    traffic.stop()?;
    Ok(reading)
}
