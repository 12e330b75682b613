//! Wrong input ends with code 2 before anything is started, and says where and what to write instead.
//!
//! Every message of an experiment file is a snapshot in the lab's tests; these see that it reaches the terminal.

use crate::program::Workspace;

/// An experiment on one mock, with one line replaced or added.
fn experiment(line: &str) -> String {
    let mut text = String::from("version: 1\nname: bad\ncomponents:\n  upstream: { mock: {} }\n");
    let scenario = "scenario:\n  - { get: / }\n";
    let load = "load: { rate: 10/s, duration: 1s }\n";
    text += if line.starts_with("scenario") {
        ""
    } else {
        scenario
    };
    text += if line.starts_with("load") { "" } else { load };
    text + line + "\n"
}

fn check(line: &str, expected: &[&str]) {
    let workspace = Workspace::new();
    workspace.write("bad.yaml", &experiment(line));
    let mut finished = workspace.experiment("bad.yaml", &[]).ended_with(2);
    for text in expected {
        finished = finished.saying(text);
    }
    assert!(
        !workspace.path().join("run").exists(),
        "nothing is written for wrong input"
    );
}

#[test]
fn an_unknown_key_is_located_and_a_likely_one_named() {
    check(
        "treshold: []",
        &["bad.yaml:8:1", "treshold", "did you mean `thresholds`"],
    );
}

#[test]
fn a_rate_without_its_unit_says_what_to_write() {
    check(
        "load: { rate: 10, duration: 1s }",
        &["bad.yaml:7:15", "5000/s"],
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    check(
        "load: { rate: 10, duration: 5, conections: 3 }",
        &["5000/s", "250ms", "did you mean `connections`"],
    );
}

#[test]
fn a_missing_file_is_named() {
    check(
        "scenario:\n  - { post: /, body_file: absent.json }",
        &["absent.json"],
    );
}

#[test]
fn an_absent_experiment_is_named() {
    let workspace = Workspace::new();
    workspace
        .run(&["run", "nowhere.yaml"])
        .ended_with(2)
        .saying("nowhere.yaml");
}

#[test]
fn an_existing_run_is_never_overwritten() {
    let workspace = Workspace::new();
    workspace.write("bad.yaml", &experiment(""));
    workspace.write("run/precious", "data");
    workspace
        .experiment("bad.yaml", &[])
        .ended_with(2)
        .saying("run");
    assert_eq!(workspace.read("run/precious"), "data");
}

#[test]
fn validate_executes_nothing_and_reports_the_same() {
    let workspace = Workspace::new();
    workspace.write("bad.yaml", &experiment("treshold: []"));
    workspace
        .run(&["validate", "bad.yaml"])
        .ended_with(2)
        .saying("bad.yaml:8:1");
    workspace.write("good.yaml", &experiment(""));
    workspace.run(&["validate", "good.yaml"]).ended_with(0);
    workspace.write("gateway.yaml", "version: 1\nlisteners: {}\nroutes: []\n");
    workspace
        .run(&["validate", "gateway.yaml"])
        .ended_with(2)
        .saying("gateway.yaml:");
    workspace.write(
        "stubs/mappings/a.json",
        r#"{"request":{"url":"/"},"response":{"fault":"SOMETHING_ELSE"}}"#,
    );
    workspace
        .run(&["validate", "stubs"])
        .ended_with(2)
        .saying("/response/fault");
}
