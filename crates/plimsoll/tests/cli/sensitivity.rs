//! `method: sensitivity` on a dependency whose time is known: a gateway in front of a mock that answers after 100 ms.

use crate::levels::SLOW;
use crate::program::Workspace;
use serde_json::Value;
use std::collections::BTreeSet;

/// A gateway in front of that mock.
const GATEWAY: &str = "version: 1
listeners: { main: { address: 127.0.0.1:0 } }
upstreams:
  slow: { endpoints: [\"${upstream.url}\"] }
routes:
  - { path: /, upstream: slow }
";

fn experiment(delays: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("stubs/mappings/a.json", SLOW);
    workspace.write("gateway.yaml", GATEWAY);
    workspace.write(
        "slow.yaml",
        &format!(
            "version: 1
name: slow
components:
  upstream: {{ mock: {{ root: stubs }} }}
  edge: {{ gateway: {{ config: gateway.yaml }} }}
scenario:
  - {{ get: /a, check: {{ status: 200 }} }}
load: {{ rate: 20/s, warmup: 200ms }}
arms: {{ main: {{ target: edge }} }}
method: {{ sensitivity: {{ links: [edge -> upstream], delays: {delays}, blocks: 2, hold: 400ms }} }}
thresholds: [{{ metric: links.upstream.gain, above: 50ms }}]
"
        ),
    );
    workspace
}

#[test]
fn a_gateway_waits_once_for_its_upstream() {
    let workspace = experiment("[0ms, 100ms, 200ms, 300ms]");
    let finished = workspace.experiment("slow.yaml", &[]);
    assert!(matches!(finished.code, Some(0 | 3 | 4 | 6)), "{finished:?}");
    let summary = workspace.json("run/summary.json");
    let arm = &summary["arms"]["main"];
    let link = &arm["links"][0];
    assert_eq!(link["link"], "edge -> upstream");
    let turns = link["turns_per_exchange"].as_f64().unwrap();
    assert!((0.7..1.3).contains(&turns), "{link}");
    let turn_time = link["turn_time_s"].as_f64().unwrap();
    assert!((0.1..0.3).contains(&turn_time), "{link}");
    assert_eq!(link["delays"].as_array().unwrap().len(), 4);
    // The arm's own figures are those without any delay.
    assert_eq!(arm["by_block"].as_array().unwrap().len(), 2);
    assert!(arm["response_time"]["p50"].as_f64().unwrap() < 0.2, "{arm}");
    assert_eq!(summary["thresholds"][0]["metric"], "links.upstream.gain");
    let rows = workspace.read("run/delays.jsonl");
    let rows: Vec<Value> = rows
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    // From below: a machine that stalls is late, and its figures may enter nothing.
    for row in &rows {
        let delay = row["delayed"]["edge -> upstream"].as_f64().unwrap_or(0.0);
        let least = row["response_time"]["min"].as_f64().unwrap();
        assert!(least >= 0.1 + delay - 0.001, "{row}");
    }
    let gains = rows
        .iter()
        .filter(|row| row["purpose"].get("gain").is_some());
    let of_rounds: BTreeSet<_> = gains
        .map(|row| (row["round"].to_string(), row["purpose"].to_string()))
        .collect();
    assert_eq!(of_rounds.len(), 4, "all delayed, and all but one, twice");
    // A load is run again only where the mean of the one before it cannot be used.
    for (place, row) in rows.iter().enumerate() {
        let load = |row: &Value| ["round", "purpose", "delayed"].map(|key| row[key].clone());
        let before = rows[..place]
            .iter()
            .rfind(|before| load(before) == load(row));
        let void = before.map(|before| before["void_for"].as_array().unwrap());
        assert!(
            void.is_none_or(|void| void.contains(&"mean".into())),
            "{row}"
        );
    }
    let report = workspace.read("run/report.html");
    assert!(report.contains("What each dependency costs"));
    assert!(report.contains("Mean response time over the delay of this link"));
    let row = finished.stdout.lines();
    let row = row.filter(|line| line.starts_with("edge -> upstream "));
    assert_eq!(row.count(), 1, "{}", finished.stdout);
    let logs = workspace.read("run/logs/fault proxy.log");
    assert!(!logs.contains("error"), "{logs}");
}

#[test]
fn too_few_connections_for_the_delays_are_refused_with_how_many_there_must_be() {
    let workspace = experiment("[0ms, 100ms, 200ms, 300ms]");
    let set = ["--set", "load.connections=3"];
    let refused = workspace.experiment("slow.yaml", &set).ended_with(2);
    let message = &refused.stderr;
    assert!(
        message.contains("there are at most 3: write `load: { connections: "),
        "{message}"
    );
}
