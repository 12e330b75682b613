//! The response time that a proxy adds at 10,000/s: one comparison of our generator, all proxies in every block, on the same arrivals.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::client::compare::{Compared, Summary};
use crate::figures::rounds::counted;
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::figures::statistics::{Rounds, in_both, rests_on_most};
use crate::server::{Kind, Server};
use serde_json::Value;

pub const COMPARISON: Comparison = Comparison {
    name: "added",
    about: "response time that reverse proxies add at 10,000/s",
    round: Round {
        starts: 6,
        leads: 6,
        measured_times: 6,
    },
    run,
};

/// The proxies by their arms; ours first.
const PROXIES: [(&str, Kind); 4] = [
    ("gateway", Kind::GatewayPlain),
    ("nginx", Kind::NginxProxy),
    ("haproxy", Kind::HaProxy),
    ("go", Kind::GoProxy),
];
const OURS: Kind = PROXIES[0].1;
/// The percentiles that are compared, with the aim of each.
const PERCENTILES: [(&str, &str); 2] = [("p50", "aim 30 µs"), ("p99", "aim 150 µs")];
/// The arm without a proxy.
const DIRECT: &str = "direct";
const RATE: u32 = 10_000;
/// A proxy that adds no more has a response time that is no longer.
const NO_MORE: Bar = Bar::at_most(1.0);
/// Blocks beyond the rounds, for those that the generator's own validity sets aside.
const SPARE: usize = 1;
/// A figure rests on so many blocks at least, of any number that was planned: what `plimsoll` demands of a comparison (criterion 13).
const FEWEST: usize = 3;

/// The verdict of a row of which too few blocks stand.
const TOO_FEW: &str = "invalid: too few blocks";

fn run(bench: &Bench) -> Result<Findings, Error> {
    match measured(bench) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => Ok(Findings {
            rows: nothing(&error.to_string()),
            notes: Vec::new(),
        }),
        found => found,
    }
}

fn measured(bench: &Bench) -> Result<Findings, Error> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let mut running = Vec::new();
    let mut rows = Vec::new();
    for (arm, kind) in PROXIES {
        match kind.start(bench, bench.placement.server, Some(upstream.address.into())) {
            Ok(server) => running.push((arm, kind, server)),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // Nothing can be said beside ours without it.
            Err(error) if kind == OURS => return Err(error),
            Err(error) => rows.extend(absent(kind, (kind.name(), &error.to_string()))),
        }
    }
    bench.progress.round(1, 1);
    let summary = compare(bench, &upstream, &running)?;
    for (name, limit) in PERCENTILES {
        rows.extend(percentile(&summary, &running, name, limit));
    }
    let notes = notes(&summary, &running);
    Ok(Findings { rows, notes })
}

/// The rows with a bar, when ours, or all, could not be measured.
fn nothing(reason: &str) -> Vec<Row> {
    let peers = PROXIES.into_iter().filter(|(_, kind)| *kind != OURS);
    let side = ("plimsoll", reason);
    peers.flat_map(|(_, kind)| absent(kind, side)).collect()
}

/// The rows that compare ours with a peer, when a side could not be measured.
fn absent(peer: Kind, side: (&str, &str)) -> Vec<Row> {
    let limit = bar(peer).map(Limit::Ratio);
    let row = |(name, _)| Row::absent(&through(), Quantity::Time(name), side, limit);
    PERCENTILES.map(row).to_vec()
}

/// The bar of ours beside a peer.
fn bar(peer: Kind) -> Option<Bar> {
    (peer != Kind::GoProxy).then_some(NO_MORE)
}

/// The work of the rows with a ratio.
fn through() -> String {
    format!("response time through the gateway at {RATE}/s")
}

/// Every side is in every block.
fn blocks(bench: &Bench) -> usize {
    (bench.lengths.rounds + SPARE).max(FEWEST)
}

/// Every arm in every block, in random order.
fn compare(
    bench: &Bench,
    upstream: &Server,
    running: &[(&str, Kind, Server)],
) -> Result<Summary, Error> {
    let proxies = running.iter().map(|(arm, _, server)| (*arm, server));
    let servers: Vec<(&str, &Server)> =
        std::iter::once((DIRECT, upstream)).chain(proxies).collect();
    let compared = Compared {
        servers: &servers,
        rate: RATE,
        blocks: blocks(bench),
        warmup: bench.lead(),
        measured: bench.measured_time(),
    };
    compared.run(bench)
}

/// The rows of one percentile: what each proxy adds to none, and ours beside each peer.
fn percentile(
    summary: &Summary,
    running: &[(&str, Kind, Server)],
    name: &'static str,
    aim: &str,
) -> Vec<Row> {
    let quantity = Quantity::Time(name);
    let of = |arm: &str| by_block(summary, arm, name);
    let (direct, ours) = (of(DIRECT), of(PROXIES[0].0));
    let added = |proxy: &Rounds| -> Rounds {
        let pairs = proxy.iter().zip(&direct);
        pairs
            .map(|(with, without)| Some((*with)? - (*without)?))
            .collect()
    };
    let judged = |row: Row, sides: [&Rounds; 2]| {
        if is_enough(sides) {
            row
        } else {
            row.with_verdict(TOO_FEW)
        }
    };
    let mut rows = Vec::new();
    for (arm, kind, _) in running {
        let proxy = of(arm);
        let work = format!("{}, added at {RATE}/s ({aim})", kind.name());
        let row = Row::alone(&work, quantity, &added(&proxy), None);
        rows.push(judged(row, [&direct, &proxy]));
        if *kind != OURS {
            let peer = (kind.name(), &proxy);
            let row = Row::beside(&through(), quantity, &ours, peer, bar(*kind));
            rows.push(judged(row, [&ours, &proxy]));
        }
    }
    rows
}

/// Whether two thirds of the blocks, and no fewer than three, stand on both sides.
fn is_enough(sides: [&Rounds; 2]) -> bool {
    in_both(sides) >= FEWEST && rests_on_most(sides)
}

/// A percentile of an arm's response time in microseconds, by block; `None` where the block is void for it, since the generator was
/// disturbed, or something failed: who refuses at once has the shortest response time.
fn by_block(summary: &Summary, arm: &str, percentile: &str) -> Rounds {
    let figure = |block: &Value| {
        let seconds = block["response_time"][percentile].as_f64();
        let stands = !has_failures(block) && !is_void(block, percentile);
        seconds.filter(|_| stands).map(|seconds| seconds * 1e6)
    };
    summary.blocks(arm).map(figure).collect()
}

fn has_failures(block: &Value) -> bool {
    block["failed"].as_u64() != Some(0)
}

fn is_void(block: &Value, percentile: &str) -> bool {
    let mut void = block["void_for"].as_array().into_iter().flatten();
    void.any(|figure| figure == percentile)
}

/// How many figures were left out, and why.
fn notes(summary: &Summary, running: &[(&str, Kind, Server)]) -> Vec<String> {
    let arms = || std::iter::once(DIRECT).chain(running.iter().map(|(arm, _, _)| *arm));
    let count = |arm, left_out: &dyn Fn(&Value) -> bool| {
        let blocks = summary.blocks(arm);
        blocks.filter(|block| left_out(block)).count()
    };
    let left_out = |left_out: &dyn Fn(&Value) -> bool| {
        let counts = arms().map(|arm| (arm, count(arm, left_out)));
        counted(counts).unwrap_or_else(|| "none".to_owned())
    };
    let void = PERCENTILES.map(|(name, _)| {
        let counts = left_out(&|block| is_void(block, name));
        format!("blocks in which the generator was disturbed, so that {name} is left out: {counts}")
    });
    let failed = left_out(&has_failures);
    let failed = format!("blocks in which something failed, so that both are left out: {failed}");
    [void.to_vec(), vec![failed]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_rests_on_two_thirds_of_the_blocks_of_both() {
        let check = |one: &[u8], other: &[u8], expected| {
            let rounds = |marks: &[u8]| marks.iter().map(|m| (*m == 1).then_some(1.0)).collect();
            let (one, other): (Rounds, Rounds) = (rounds(one), rounds(other));
            assert_eq!(is_enough([&one, &other]), expected, "{one:?} {other:?}");
        };
        check(&[1, 1, 1, 1, 1, 1], &[1, 1, 1, 1, 0, 1], true);
        check(&[1, 1, 0, 1, 1, 1], &[1, 1, 1, 1, 0, 1], true);
        check(&[1, 0, 0, 1, 1, 1], &[1, 1, 1, 1, 0, 1], false);
        check(&[1, 1], &[1, 1], false);
    }

    #[test]
    fn no_bar_is_lost_when_nothing_could_be_measured() {
        let rows = nothing("gone")
            .iter()
            .map(Row::markdown)
            .collect::<Vec<_>>();
        let barred = rows.iter().filter(|row| row.contains("≤ 1.00 ×"));
        assert_eq!(barred.count(), 4, "{rows:#?}");
    }

    #[test]
    fn percentiles_are_read_by_block_unless_void_or_with_failures() {
        let block = |p50: Value, void: &[&str], failed| json!({ "response_time": { "p50": p50 }, "void_for": void, "failed": failed });
        let blocks = [
            block(json!(0.001), &["p99"], 0),
            block(Value::Null, &[], 0),
            block(json!(0.001), &["p50", "p99"], 0),
            block(json!(0.001), &[], 1),
        ];
        let summary = json!({ "arms": { "direct": { "by_block": blocks } } }).into();
        assert_eq!(
            by_block(&summary, DIRECT, "p50"),
            [Some(1_000.0), None, None, None]
        );
        insta::assert_snapshot!(notes(&summary, &[]).join("\n"), @r"
        blocks in which the generator was disturbed, so that p50 is left out: direct 1
        blocks in which the generator was disturbed, so that p99 is left out: direct 2
        blocks in which something failed, so that both are left out: direct 1
        ");
    }
}
