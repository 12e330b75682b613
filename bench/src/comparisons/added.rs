//! What a proxy adds to the response time at 10,000/s: one comparison of our generator, all proxies in every block, on the same arrivals.

use super::Comparison;
use crate::bench::Bench;
use crate::child::{Child, Output};
use crate::client::{CONNECTIONS, ours};
use crate::row::{Bar, Quantity, Row};
use crate::server::{Kind, Server};
use crate::statistics::Rounds;
use crate::trouble::Trouble;
use serde_json::{Map, Value, json};
use std::time::Duration;

pub const COMPARISON: Comparison = Comparison {
    name: "added",
    about: "response time that reverse proxies add at 10,000/s",
    run,
};

/// The proxies by their arms; ours first.
const PROXIES: [(&str, Kind); 4] = [
    ("gateway", Kind::GatewayPlain),
    ("nginx", Kind::NginxProxy),
    ("haproxy", Kind::HaProxy),
    ("go", Kind::GoProxy),
];
/// The arm without a proxy.
const DIRECT: &str = "direct";
const RATE: u32 = 10_000;
/// A proxy that adds no more has a response time that is no longer.
const NO_MORE: Bar = Bar {
    must: 1.0,
    aim: None,
};
/// How long a run may take beyond its load.
const OVERHEAD: Duration = Duration::from_secs(120);

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let mut running = Vec::new();
    let mut rows = Vec::new();
    for (arm, kind) in PROXIES {
        match kind.start(bench, bench.placement.server, Some(upstream.address)) {
            Ok(server) => running.push((arm, kind, server)),
            Err(trouble) => rows.push(Row::absent("added", kind.name(), &trouble.to_string())),
        }
    }
    let summary = compare(bench, &upstream, &running)?;
    for (name, limit) in [("p50", "aim 30 µs"), ("p99", "aim 150 µs")] {
        rows.extend(percentile(&summary, &running, name, limit));
    }
    Ok(rows)
}

/// Every arm in every block, in random order.
fn compare(
    bench: &Bench,
    upstream: &Server,
    running: &[(&str, Kind, Server)],
) -> Result<Value, Trouble> {
    let proxies = running.iter().map(|(arm, _, server)| (*arm, server));
    let mut components = Map::new();
    let mut arms = Map::new();
    for (arm, server) in std::iter::once((DIRECT, upstream)).chain(proxies) {
        let url = format!("http://{}", server.address);
        // A component and an arm may have the same name.
        components.insert(arm.into(), json!({ "external": url, "probe": "none" }));
        arms.insert(arm.into(), json!({ "target": arm }));
    }
    let load = (bench.lead(), bench.window());
    let experiment = json!({
        "version": 1,
        "name": "bench",
        "components": components,
        "scenario": [ours::step()],
        "load": {
            "rate": format!("{RATE}/s"),
            "connections": CONNECTIONS,
            "warmup": format!("{}ms", load.0.as_millis()),
            "duration": format!("{}ms", load.1.as_millis()),
        },
        "arms": arms,
        "method": { "compare": { "baseline": DIRECT, "blocks": bench.rounds.max(2) } },
    });
    let directory = bench.directory()?;
    let command = ours::run(bench, &experiment, directory.path())?;
    let mut client = Child::spawn(
        &command,
        bench.placement.clients,
        directory.path(),
        Output::Messages,
    )?;
    let trials = u32::try_from(bench.rounds.max(2) * (running.len() + 1)).unwrap_or(u32::MAX);
    client.wait((load.0 + load.1) * trials * 2 + OVERHEAD)?;
    ours::summary(directory.path()).map_err(|_| Trouble::Behaved(client.last_words()))
}

/// The rows of one percentile: what each proxy adds to none, and ours beside each peer.
fn percentile(
    summary: &Value,
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
    let judged = |row: Row, arms: [&str; 2]| {
        let spoilt = arms.iter().any(|arm| is_invalid(summary, arm, name));
        if spoilt {
            row.with_verdict("invalid: the generator was disturbed")
        } else {
            row
        }
    };
    let mut rows = Vec::new();
    for (arm, kind, _) in running {
        let proxy = of(arm);
        let work = format!("{}, added at {RATE}/s ({aim})", kind.name());
        let row = Row::alone(&work, quantity, &added(&proxy), None);
        rows.push(judged(row, [DIRECT, arm]));
        if *kind != PROXIES[0].1 {
            let bar = (*kind != Kind::GoProxy).then_some(NO_MORE);
            let work = format!("response time through the gateway at {RATE}/s");
            let row = Row::beside(&work, quantity, &ours, (kind.name(), &proxy), bar);
            rows.push(judged(row, [PROXIES[0].0, arm]));
        }
    }
    rows
}

/// Whether a criterion of validity takes an arm's percentile away.
fn is_invalid(summary: &Value, arm: &str, percentile: &str) -> bool {
    let figure = format!("response_time.{percentile}");
    let rows = summary["validity"].as_array().into_iter().flatten();
    let mut failing = rows.filter(|row| row["arm"] == arm && row["effect"] == "invalid");
    failing.any(|row| {
        let affected = row["affects"].as_array().into_iter().flatten();
        affected.into_iter().any(|name| *name == figure)
    })
}

/// A percentile of an arm's response time in microseconds, by block.
fn by_block(summary: &Value, arm: &str, percentile: &str) -> Rounds {
    let blocks = summary.pointer(&format!("/arms/{arm}/by_block"));
    let blocks = blocks.and_then(Value::as_array).into_iter().flatten();
    blocks
        .map(|block| Some(block["response_time"][percentile].as_f64()? * 1e6))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_judged_by_its_own_arm_and_name() {
        let summary = json!({ "validity": [
            { "arm": "nginx", "effect": "invalid", "affects": ["response_time.p99"] },
            { "arm": "gateway", "effect": "none", "affects": ["response_time.p99"] },
        ] });
        let check = |arm, name, expected| assert_eq!(is_invalid(&summary, arm, name), expected);
        check("nginx", "p99", true);
        check("nginx", "p50", false);
        check("gateway", "p99", false);
    }

    #[test]
    fn percentiles_are_read_by_block() {
        let block = |p50: Value| json!({ "response_time": { "p50": p50 } });
        let blocks = [block(json!(0.001)), block(Value::Null)];
        let summary = json!({ "arms": { "direct": { "by_block": blocks } } });
        assert_eq!(by_block(&summary, DIRECT, "p50"), [Some(1_000.0), None]);
    }
}
