//! `plimsoll diagnose`: its forms, and what it refuses. What it concludes is tested beside the laws.

use crate::program::Workspace;
use serde_json::{Value, json};

const FIGURES: &str =
    "version: 1\nname: x\nobservations:\n  a: { rate: 800/s, users: 16000, think: [5s, 30s] }\n";

#[test]
fn it_says_the_same_to_people_and_to_programs() {
    let workspace = Workspace::new();
    workspace.write("figures.yaml", FIGURES);
    let text = workspace.run(&["diagnose", "figures.yaml"]).ended_with(0);
    let json = workspace.run(&["diagnose", "--format", "json", "figures.yaml"]);
    let said: Value = serde_json::from_str(&json.ended_with(0).stdout).unwrap();
    let conclusion = &said["conclusions"][0];
    assert_eq!(conclusion["observations"], json!(["a"]));
    assert_eq!(conclusion["cause"], "plan");
    assert!(
        text.stdout
            .contains(conclusion["statement"].as_str().unwrap())
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let workspace = Workspace::new();
    workspace.write("figures.yaml", &FIGURES.replace("rate", "rat"));
    let refused = workspace.run(&["diagnose", "figures.yaml"]).ended_with(2);
    assert!(
        refused.stderr.contains("figures.yaml:4:8: "),
        "{}",
        refused.stderr
    );
    let absent = workspace.run(&["diagnose", "absent.yaml"]).ended_with(2);
    assert!(absent.stderr.contains("absent.yaml: "), "{}", absent.stderr);
}
