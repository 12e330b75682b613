//! Ctrl-C ends a run cleanly and keeps what was measured.

use crate::processes::wait_until_nothing_runs;
use crate::program::{Workspace, signal};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let workspace = Workspace::new();
    workspace.write(
        "long.yaml",
        "version: 1\nname: long\ncomponents:\n  upstream: { mock: {} }\nscenario:\n  - { get: /json/valid }\n\
         load: { rate: 200/s, connections: 5, duration: 60s }\n",
    );
    let mut command = workspace.command(&["run", "long.yaml", "--out", "run", "--no-ui"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("answered") {
        line.clear();
        assert!(
            stderr.read_line(&mut line).unwrap() > 0,
            "ended before any load"
        );
    }
    signal(child.id(), "INT");
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
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
