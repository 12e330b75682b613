//! Ctrl-C ends a run cleanly and keeps what was measured.

use crate::processes::wait_until_nothing_runs;
use crate::program::Workspace;

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let workspace = Workspace::new();
    workspace.write(
        "long.yaml",
        "version: 1\nname: long\ncomponents:\n  upstream: { mock: {} }\nscenario:\n  - { get: /json/valid }\n\
         load: { rate: 200/s, connections: 5, duration: 60s }\n",
    );
    let args = ["run", "long.yaml", "--out", "run", "--no-ui"];
    let stdout = workspace
        .run_until(&args, |line| line.contains("/s good"))
        .ended_with(130)
        .stdout;
    assert!(stdout.contains("interrupted"), "{stdout}");

    assert_eq!(workspace.json("run/manifest.json")["state"], "interrupted");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert!(arm["sent"].as_u64().unwrap() >= 200, "{arm}");
    assert_eq!(
        arm["intended"].as_u64(),
        Some(arm["sent"].as_u64().unwrap() + arm["dropped"].as_u64().unwrap())
    );
    assert!(workspace.read("run/report.html").contains("interrupted"));
    wait_until_nothing_runs(&workspace);
}

#[test]
fn a_threshold_that_may_abort_ends_the_run_with_its_own_code() {
    let workspace = Workspace::new();
    workspace.write(
        "abort.yaml",
        "version: 1\nname: abort\ncomponents:\n  upstream: { mock: {} }\nscenario:\n  - { get: /json/valid }\n\
         load: { rate: 100/s, connections: 5, duration: 60s }\n\
         thresholds:\n  - { metric: achieved_per_s, above: 5000/s, abort: true, window: 2s }\n",
    );
    // No more is offered than a fiftieth of it, which is refused without force.
    let finished = workspace.experiment_until_valid("abort.yaml", &["--no-ui", "--force"]);
    let finished = finished.ended_with(3);
    assert!(finished.stdout.contains("FAILED"), "{}", finished.stdout);
    assert!(finished.stdout.contains("ended by a threshold"));
    assert!(finished.stdout.contains("the load was ended"));
    assert_eq!(workspace.json("run/manifest.json")["state"], "aborted");
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["thresholds"][0]["breach"]["window_s"], 2);
    let seconds = summary["arms"]["main"]["seconds"].as_f64().unwrap();
    assert!((2.0..30.0).contains(&seconds), "{seconds}");
    wait_until_nothing_runs(&workspace);
}
