//! Runs beside databases that say something of themselves, and beside some that cannot be asked.

use crate::program::{Finished, Workspace, experiment_args};
use plimsoll_testbed::peers::postgresql::{PASSWORD, Postgresql, USER};
use plimsoll_testbed::peers::redis::Redis;
use plimsoll_testbed::port::Refusing;
use serde_json::Value;
use std::process::Command;

/// The variable that holds what the experiment does not.
const VARIABLE: &str = "DB_PASSWORD";

/// A short load on a mock, with this component beside it.
fn beside(component: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write(
        "beside.yaml",
        &format!(
            "version: 1\nname: beside\ncomponents:\n  upstream: {{ mock: {{}} }}\n  db: {component}\nscenario: [{{ get: /json/valid }}]\n\
             load: {{ rate: 50/s, warmup: 1s, duration: 3s, target: upstream }}\n"
        ),
    );
    workspace
}

fn run(workspace: &Workspace, password: &str) -> Finished {
    let mut command = workspace.command(&experiment_args("beside.yaml"));
    Finished::of(command.env(VARIABLE, password).output().unwrap())
}

fn of_arm(workspace: &Workspace) -> Value {
    let summary = workspace.json("run/summary.json");
    let arms = summary["arms"].as_object().unwrap();
    arms.values().next().unwrap().clone()
}

/// That nothing below the directory of the run has the text in it.
fn is_nowhere(workspace: &Workspace, text: &str) {
    let found = Command::new("grep")
        .args(["-r", "-l", "--fixed-strings", text, "."])
        .current_dir(workspace.path())
        .output()
        .unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found, "", "`{text}` was recorded");
}

#[test]
fn a_server_that_cannot_be_asked_ends_no_run() {
    let nobody = Refusing::hold().unwrap();
    let at = nobody.address;
    for probe in [
        format!("postgresql: \"postgresql://watcher:${{env:{VARIABLE}}}@{at}/db\""),
        format!("redis: \"redis://:${{env:{VARIABLE}}}@{at}\""),
    ] {
        let workspace = beside(&format!(
            "{{ external: \"tcp://{at}\", probe: {{ {probe} }} }}"
        ));
        let finished = run(&workspace, "unspoken-word");
        // A busy machine makes the figures invalid, which is another matter.
        assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
        let unseen = of_arm(&workspace)["bottleneck"]["unseen"].to_string();
        assert!(
            unseen.contains("db: its probe sees nothing:") && unseen.contains("refused"),
            "{unseen}"
        );
        let events = workspace.read("run/events.jsonl");
        assert!(
            events.contains("component `db`: its probe sees nothing"),
            "{events}"
        );
        is_nowhere(&workspace, "unspoken-word");
    }
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn what_postgresql_says_is_recorded() {
    let server = Postgresql::start(&[("max_connections", "13")]).unwrap();
    let at = server.address();
    let workspace = beside(&format!(
        "{{ external: \"tcp://{at}\", probe: {{ postgresql: \"postgresql://{USER}:${{env:{VARIABLE}}}@{at}/postgres\" }} }}"
    ));
    let finished = run(&workspace, PASSWORD);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let arm = of_arm(&workspace);
    let db = &arm["components"]["db"];
    // Of thirteen three are reserved for superusers.
    assert_eq!(db["server"]["connections_limit"], 10, "{db}");
    assert_eq!(db["server"]["connections"], 0.0, "{db}");
    assert_eq!(db["server"]["deadlocks"], 0, "{db}");
    assert_eq!(db["cpu_cores_mean"], Value::Null, "{db}");
    let unseen = arm["bottleneck"]["unseen"].to_string();
    assert!(
        unseen.contains("db: its processors and its memory"),
        "{unseen}"
    );
    assert!(
        workspace
            .read("run/report.html")
            .contains("What servers say of themselves")
    );
    is_nowhere(&workspace, PASSWORD);

    let refused = run_again(&workspace, "another word");
    let unseen = refused["bottleneck"]["unseen"].to_string();
    assert!(
        unseen.contains("password authentication failed"),
        "{unseen}"
    );
}

fn run_again(workspace: &Workspace, password: &str) -> Value {
    std::fs::remove_dir_all(workspace.path().join("run")).unwrap();
    let finished = run(workspace, password);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    of_arm(workspace)
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn what_redis_says_is_recorded() {
    let flags = ["--requirepass", "unspoken-word", "--maxclients", "17"];
    let server = Redis::start(&flags).unwrap();
    let address = server.address();
    let workspace = beside(&format!(
        "{{ external: \"tcp://{address}\", probe: {{ redis: \"redis://:${{env:{VARIABLE}}}@{address}\" }} }}"
    ));
    let finished = run(&workspace, "unspoken-word");
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let db = &of_arm(&workspace)["components"]["db"];
    assert_eq!(db["server"]["connections_limit"], 17, "{db}");
    assert_eq!(db["server"]["evicted_keys"], 0, "{db}");
    assert!(
        db["server"]["main_thread_cores"].as_f64() < Some(0.5),
        "{db}"
    );
    assert!(db["cpu_cores_mean"].is_number(), "{db}");
    is_nowhere(&workspace, "unspoken-word");

    let refused = run_again(&workspace, "another word");
    let unseen = refused["bottleneck"]["unseen"].to_string();
    assert!(unseen.contains("WRONGPASS"), "{unseen}");
}
