//! Sentences before anything is sent: a plan's own ceiling, and that it cannot reach what it states.

use crate::program::{Server, Workspace};

/// Two users who think a second, and a threshold that they cannot reach.
fn thinking(workspace: &Workspace) {
    workspace.write(
        "thinking.yaml",
        "version: 1\nname: thinking\ncomponents:\n  upstream: { mock: {} }\nscenario: [{ get: /json/valid }]\n\
         load: { users: 2, think: 1s, duration: 1s }\nthresholds:\n  - { metric: achieved_per_s, above: 100/s }\n",
    );
}

const SENTENCE: &str = "cannot reach `achieved_per_s` above 100/s: at most 2 iterations/s, however fast the target is: 2 users think 1.00 s (users / mean think time)";

#[test]
fn a_plan_that_cannot_reach_its_threshold_is_refused() {
    let workspace = Workspace::new();
    thinking(&workspace);
    let run = workspace.experiment("thinking.yaml", &[]).ended_with(2);
    run.saying("plan: arm `main`: at most 2 iterations/s")
        .saying(SENTENCE)
        .saying("--force");
    assert!(!workspace.path().join("run").exists(), "nothing is started");
    let validated = workspace.run(&["validate", "thinking.yaml"]);
    validated.ended_with(2).saying(SENTENCE);
}

#[test]
fn it_is_carried_out_by_force_and_the_record_says_so_once() {
    let workspace = Workspace::new();
    thinking(&workspace);
    let finished = workspace.experiment_until_valid("thinking.yaml", &["--force", "--no-ui"]);
    let finished = finished
        .ended_with(3)
        .saying(&format!("warning: arm `main` {SENTENCE}"));
    assert_eq!(
        finished.stdout.matches(SENTENCE).count(),
        1,
        "{}",
        finished.stdout
    );
    let notes = &workspace.json("run/summary.json")["arms"]["main"]["notes"];
    assert!(notes[0].as_str().unwrap().starts_with(SENTENCE), "{notes}");
    let page = workspace.read("run/report.html");
    let on_page = SENTENCE.replace("`achieved_per_s`", "<code>achieved_per_s</code>");
    assert_eq!(page.matches(&on_page).count(), 1);
    // Markdown has its own way with underscores and backticks.
    let short = workspace.read("run/report.md");
    let (_, end) = SENTENCE.split_once("at most").unwrap();
    assert_eq!(short.matches(end).count(), 1, "{short}");
}

#[test]
fn the_everyday_load_says_what_answers_may_take() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/json/valid", mock.main());
    let finished = workspace.run(&[
        "load", &url, "-r", "100", "-c", "2", "-z", "1s", "--warmup", "0", "--no-ui",
    ]);
    finished.saying("plan: arm `main`: at up to 100/s over 2 connections an iteration may take 20.0 ms on average");
}
