//! Nothing outlives a run, however it ends.

use crate::program::{Workspace, signal};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Running processes (not zombies) whose command line or working directory contains `text`, by id and command line.
pub fn descendants_with(text: &str) -> Vec<(u32, String)> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.unwrap().file_name().to_str()?.parse().ok()?;
        let directory = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let ours = pid == std::process::id() || command.is_empty();
        let found = command.contains(text) || directory.to_string_lossy().contains(text);
        (found && !ours).then_some((pid, command))
    });
    processes.collect()
}

/// Polls until nothing of the workspace runs any more; fails after a generous time.
pub fn wait_until_nothing_runs(workspace: &Workspace) {
    let text = workspace.path().to_str().unwrap();
    let begun = now();
    loop {
        let left = descendants_with(text);
        if left.is_empty() {
            return;
        }
        assert!(
            now() - begun < Duration::from_secs(20),
            "still running: {left:?}"
        );
        std::thread::yield_now();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's patience is bounded by the clock"
)]
pub fn now() -> Instant {
    Instant::now()
}

#[test]
fn killing_the_lab_leaves_nothing_running() {
    let workspace = Workspace::new();
    // A component that daemonises a grandchild, which a parent-death signal would miss.
    workspace.write(
        "daemon.sh",
        "setsid sleep 600 &\nexec python3 -m http.server --bind 127.0.0.1 \"$1\"\n",
    );
    workspace.write(
        "killed.yaml",
        "version: 1\nname: killed\ncomponents:\n  own: { mock: {} }\n  foreign: { command: [sh, daemon.sh, \"${self.port}\"] }\n\
         scenario:\n  - { get: / }\nload: { target: own, rate: 50/s, connections: 2, duration: 60s }\n",
    );
    let mut lab = workspace
        .command(&["run", "killed.yaml", "--out", "run", "--no-ui"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(lab.stderr.take().unwrap()).lines();
    // The load runs once there is a line about it.
    assert!(lines.any(|line| line.unwrap().contains("/s good")));
    let before = descendants_with(workspace.path().to_str().unwrap());
    assert!(
        before
            .iter()
            .any(|(_, command)| command.contains("sleep 600")),
        "{before:?}"
    );
    signal(lab.id(), "KILL");
    lab.wait().unwrap();
    wait_until_nothing_runs(&workspace);
}
