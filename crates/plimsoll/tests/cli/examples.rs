//! The examples of the repository, shortened: a newcomer's first command must work.

use crate::program::{Finished, Workspace};
use serde_json::Value;

/// The path of an example directory.
pub fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Fails unless the accounts of an arm add up (invariant 4 of ARCHITECTURE.md).
fn accounts_hold(arm: &Value) {
    let count = |key: &str| {
        arm[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key} in {arm}"))
    };
    assert_eq!(count("intended"), count("sent") + count("dropped"));
    let outcomes = arm["outcomes"].as_object().unwrap();
    let answered: u64 = outcomes["answered"]
        .as_object()
        .unwrap()
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    let others: u64 = outcomes
        .iter()
        .filter(|(name, _)| *name != "answered")
        .map(|(_, n)| n.as_u64().unwrap())
        .sum();
    assert_eq!(count("sent"), answered + others + count("in_flight"));
}

#[test]
fn quick_measures_and_records() {
    let workspace = Workspace::new();
    let shorter = ["--set", "load.warmup=500ms", "--set", "load.duration=2s"];
    let finished = workspace.experiment(&example("quick"), &shorter);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    assert!(
        finished.stdout.contains("run/report.html"),
        "{}",
        finished.stdout
    );

    let summary = workspace.json("run/summary.json");
    let arm = &summary["arms"]["main"];
    accounts_hold(arm);
    assert_eq!(arm["intended"], 1000);
    assert_eq!(arm["outcomes"]["answered"]["200"], arm["sent"]);
    assert_eq!(summary["seed"], 7);
    let ledger = summary["validity"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["criterion"] == 8)
        .unwrap();
    assert_eq!(ledger["ok"], true, "{ledger}");
    assert_eq!(workspace.json("run/manifest.json")["state"], "complete");
    for file in [
        "run/series.jsonl",
        "run/events.jsonl",
        "run/report.html",
        "run/report.md",
        "run/hist/main.hlog",
        "run/logs/upstream.log",
    ] {
        workspace.read(file);
    }
}

#[test]
fn gateway_overhead_compares_four_arms() {
    let workspace = Workspace::new();
    let shorter = [
        "load.rate=300/s",
        "load.warmup=200ms",
        "load.duration=800ms",
        "method.compare.blocks=2",
    ];
    let shorter: Vec<&str> = shorter.iter().flat_map(|set| ["--set", set]).collect();
    let finished = workspace.experiment(&example("gateway-overhead"), &shorter);
    assert!(matches!(finished.code, Some(0 | 3 | 4 | 6)), "{finished:?}");

    let summary = workspace.json("run/summary.json");
    for arm in ["direct", "gateway", "everything", "tyk"] {
        let arm = &summary["arms"][arm];
        accounts_hold(arm);
        assert_eq!(arm["outcomes"]["answered"]["200"], arm["sent"], "{arm}");
    }
    assert!(summary["arms"]["direct"]["added"].is_null());
    let added = &summary["arms"]["everything"]["added"]["p50"];
    assert!(
        added["low"].as_f64().unwrap() <= added["value"].as_f64().unwrap(),
        "{added}"
    );

    let report = workspace.read("run/report.html");
    assert!(report.len() < 1_000_000, "{} bytes", report.len());
    assert!(!report.contains("<script"));
    // The secret that the lab minted for the key is nowhere in the record.
    let manifest = workspace.read("run/manifest.json");
    assert!(
        !manifest.contains("Authorization: ") || manifest.contains("sha256"),
        "{manifest}"
    );
}

#[test]
#[ignore = "needs openssl, as scripts/test installs it"]
fn shard_routing_shows_where_each_client_came() {
    let workspace = Workspace::new();
    for file in [
        "experiment.yaml",
        "gateway.yaml",
        "shards.yaml",
        "clients.csv",
        "make-certificates",
        "run",
    ] {
        let from = format!("{}/{file}", example("shard-routing"));
        std::fs::copy(from, workspace.path().join(file)).unwrap();
    }
    let shorter = ["--set", "load.warmup=200ms", "--set", "load.duration=800ms"];
    let mut command = std::process::Command::new(workspace.path().join("run"));
    command.env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll"));
    command.args(["--out", "run.d", "--seed", "7", "--no-ui"]);
    command.args(shorter).current_dir(workspace.path());
    let finished = Finished::of(command.output().unwrap());
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let summary = workspace.json("run.d/summary.json");
    for (arm, status) in [
        ("north", "200"),
        ("south", "200"),
        ("east", "200"),
        ("unknown", "403"),
    ] {
        let arm = &summary["arms"][arm];
        accounts_hold(arm);
        assert_eq!(arm["outcomes"]["answered"][status], arm["sent"], "{arm}");
        assert_eq!(arm["failed"], 0, "{arm}");
    }
    for (arm, shard) in [("north", "eu"), ("south", "us"), ("east", "ap")] {
        let check = &summary["arms"][arm]["checks"][format!("header X-Shard equals {shard}")];
        assert_eq!(check["passed"], summary["arms"][arm]["sent"], "{check}");
    }
    // Of its two clients one is let in.
    let revoked = &summary["arms"]["revoked"];
    accounts_hold(revoked);
    let refused = &revoked["reasons"]["tls_failed"]["alert_certificate_revoked"];
    assert!(refused.as_u64().unwrap() > 0, "{revoked}");
    assert_eq!(refused, &revoked["failed"], "{revoked}");
    assert!(
        revoked["outcomes"]["answered"]["200"].as_u64().unwrap() > 0,
        "{revoked}"
    );
}
