//! `plimsoll doctor`, and what a stored ceiling has to say before a run.

use crate::program::Workspace;
use serde_json::{Value, json};

/// Where the tests' state directory keeps the ceiling.
const CEILING: &str = "state/plimsoll/ceiling.json";
/// Two seconds at a hundred a second.
const EXPERIMENT: &str = "version: 1\nname: calm\ncomponents:\n  upstream: { mock: {} }\nscenario:\n  - { get: /json/valid }\n\
    load: { rate: 100/s, connections: 4, duration: 1s }\n";

fn doctor(workspace: &Workspace) -> Value {
    let finished = workspace.run(&["doctor", "--format", "json"]).ended_with(0);
    serde_json::from_str(&finished.stdout).unwrap()
}

/// Stores a ceiling of this host that holds up to `rate`.
fn store(workspace: &Workspace, rate: f64, change: impl Fn(&mut Value)) {
    let mut ceiling = json!({
        "schema": "plimsoll.ceiling/1",
        "measured_at": "2026-01-01T00:00:00+00:00",
        "host": doctor(workspace)["host"],
        "shards": 1,
        "closed": { "users": 50, "achieved_per_s": rate },
        "open": { "connections": 50, "holds_per_s": rate, "fails_per_s": null, "gives_way": null,
            "pacing_lag_p50_s": 0.0001, "pacing_lag_p99_s": 0.0002 },
    });
    change(&mut ceiling);
    workspace.write(CEILING, &ceiling.to_string());
}

#[test]
fn it_says_what_this_host_allows() {
    let workspace = Workspace::new();
    let said = workspace.run(&["doctor"]).ended_with(0).stdout;
    for name in [
        "processors",
        "clock",
        "timer",
        "steal",
        "pressure",
        "descriptors",
        "ports",
        "backlog",
        "directories",
        "control groups",
        "namespaces",
        "nft",
        "hosts",
        "faketime",
        "ceiling",
    ] {
        assert!(
            said.lines().any(|line| line.starts_with(name)),
            "{name}:\n{said}"
        );
    }
    assert!(said.contains("plimsoll doctor --calibrate"), "{said}");
}

#[test]
fn scripts_get_the_same_facts() {
    let workspace = Workspace::new();
    let said = doctor(&workspace);
    assert_eq!(said["schema"], "plimsoll.doctor/1");
    assert_eq!(said["ceiling"], Value::Null);
    for fact in said["facts"].as_array().unwrap() {
        let judgement = fact["judgement"].as_str().unwrap();
        assert!(["ok", "limits", "unknown"].contains(&judgement), "{fact}");
        assert_eq!(fact["remedy"].is_string(), judgement == "limits", "{fact}");
    }
}

#[test]
fn a_rate_near_the_ceiling_is_warned_of_and_recorded() {
    let workspace = Workspace::new();
    workspace.write("calm.yaml", EXPERIMENT);
    store(&workspace, 125.0, |_| ());
    let finished = workspace.experiment("calm.yaml", &["--no-ui"]);
    let warning = "arm `main` offers up to 100/s, 80 % of the 125/s";
    assert!(finished.stderr.contains(warning), "{}", finished.stderr);
    let events = workspace.read("run/events.jsonl");
    let recorded = events
        .lines()
        .find(|line| line.contains("\"warning\""))
        .unwrap();
    assert!(recorded.contains(warning), "{recorded}");
    let summary: Value = serde_json::from_str(&workspace.read("run/summary.json")).unwrap();
    let note = summary["arms"]["main"]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("offers up to 100/s, 80 % of"), "{note}");
    let share = "80 % of the 125/s";
    assert!(finished.stdout.contains(share), "{}", finished.stdout);
    for report in ["run/report.html", "run/report.md"] {
        assert!(workspace.read(report).contains(share), "{report}");
    }
}

#[test]
fn an_easy_rate_and_no_ceiling_are_no_news() {
    let workspace = Workspace::new();
    workspace.write("calm.yaml", EXPERIMENT);
    let silent = |out: &str| {
        let finished = workspace.run(&["run", "calm.yaml", "--out", out, "--no-ui"]);
        assert!(!finished.stderr.contains("ceiling"), "{}", finished.stderr);
        assert!(!finished.stderr.contains("warning"), "{}", finished.stderr);
    };
    silent("without");
    store(&workspace, 250.0, |_| ());
    silent("easy");
}

#[test]
fn another_hosts_ceiling_is_ignored_with_a_note() {
    let workspace = Workspace::new();
    workspace.write("calm.yaml", EXPERIMENT);
    store(&workspace, 10.0, |ceiling| {
        ceiling["host"]["hostname"] = "elsewhere".into()
    });
    let finished = workspace.experiment("calm.yaml", &["--no-ui"]);
    assert!(
        finished.stderr.contains("ceiling is ignored") && !finished.stderr.contains("warning:"),
        "{}",
        finished.stderr
    );
    let said = workspace.run(&["doctor"]).ended_with(0).stdout;
    assert!(
        said.contains("measured with another host: `elsewhere`"),
        "{said}"
    );
}
