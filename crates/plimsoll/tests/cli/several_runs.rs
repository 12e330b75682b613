//! `plimsoll compare` and `plimsoll history`, and what a run says of its own probes.

use crate::examples::example;
use crate::program::Workspace;

const SHORTER: [&str; 6] = [
    "--set",
    "load.warmup=1s",
    "--set",
    "load.duration=2s",
    "--set",
    "load.rate=100/s",
];

/// A workspace with the record of a short run.
fn recorded() -> Workspace {
    let workspace = Workspace::new();
    workspace.experiment(&example("quick"), &SHORTER);
    workspace
}

#[test]
fn single_runs_are_undecided_and_have_a_history() {
    let workspace = recorded();
    let said = workspace.run(&["compare", "run", "run"]).ended_with(6);
    assert!(
        said.stdout.contains("fewer than two blocks"),
        "{}",
        said.stdout
    );
    let alone = workspace.run(&["compare", "run"]).ended_with(2);
    assert!(
        alone.stderr.contains("nothing to be compared with"),
        "{}",
        alone.stderr
    );
    let arm = workspace
        .run(&["compare", "run:other", "run"])
        .ended_with(2);
    assert!(arm.stderr.contains("has no arm `other`"), "{}", arm.stderr);
    let history = workspace.run(&["history", "."]).ended_with(0).stdout;
    // On a machine that is busy with other things validity may rule the figure out: then the run is named.
    assert!(
        history.contains("1 runs") || history.contains("left out: ./run"),
        "{history}"
    );
    assert!(history.contains("no change was found"), "{history}");
    let empty = workspace.run(&["history", "run"]).ended_with(2);
    assert!(
        empty.stderr.contains("no directory of a finished run"),
        "{}",
        empty.stderr
    );
    let metric = workspace
        .run(&["history", ".", "--metric", "latency"])
        .ended_with(2);
    assert!(
        metric.stderr.contains("is not a metric"),
        "{}",
        metric.stderr
    );
}

#[test]
fn a_run_says_what_its_probes_saw_and_cost() {
    let workspace = recorded();
    let summary = workspace.json("run/summary.json");
    let main = summary["arms"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap();
    let cost = main["host"]["probes_cores"].as_f64().unwrap();
    assert!(cost > 0.0 && cost < 1.0, "{cost}");
    let generator = &main["components"]["generator"];
    for field in [
        "cpu_limit_cores",
        "cpus_busy_share",
        "listen_overflows",
        "fds_share",
    ] {
        assert!(generator[field].is_number(), "{field}: {generator}");
    }
    let series = workspace.read("run/series.jsonl");
    assert!(
        series.lines().any(|line| line.contains("\"host\":{")),
        "{series}"
    );
    assert!(main["bottleneck"]["conclusion"].is_string(), "{main}");
}
