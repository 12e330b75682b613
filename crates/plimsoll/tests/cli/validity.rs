//! Conditions that keep a run from being believed are provoked, and the right criterion named.

use crate::processes::now;
use crate::program::{Finished, Server, Workspace, signal};
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

/// The criteria that do not hold in the recorded run, each once.
fn broken(workspace: &Workspace) -> Vec<u64> {
    let summary = workspace.json("run/summary.json");
    let rows = summary["validity"].as_array().unwrap();
    let broken = rows.iter().filter(|row| row["ok"] == false);
    let mut numbers: Vec<u64> = broken
        .map(|row| row["criterion"].as_u64().unwrap())
        .collect();
    numbers.dedup();
    numbers
}

/// The process below `root` whose command line holds the argument `word`.
fn process(root: u32, word: &str) -> u32 {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let is_below = |pid| std::iter::successors(Some(pid), |pid| parent(*pid)).any(|p| p == root);
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.unwrap().file_name().to_str()?.parse().ok()?;
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        command.split('\0').any(|part| part == word).then_some(pid)
    });
    let found: Vec<u32> = all.filter(|pid| is_below(*pid)).collect();
    assert_eq!(found.len(), 1, "processes called {word}");
    found[0]
}

/// Stops a process for so long: the time in which it stands still is what is tested.
fn stop_for(pid: u32, time: Duration) {
    signal(pid, "STOP");
    let begun = now();
    while now() - begun < time {
        std::thread::park_timeout(time);
    }
    signal(pid, "CONT");
}

/// A lab whose load runs.
struct Lab(Child);

impl Lab {
    /// Begins to load a mock of its own for `duration`, and returns when the first second has been measured.
    fn start(workspace: &Workspace, duration: &str) -> Self {
        workspace.write(
            "load.yaml",
            &format!(
                "version: 1\nname: load\ncomponents:\n  upstream: {{ mock: {{}} }}\nscenario:\n  - {{ get: /json/valid }}\n\
                 load: {{ rate: 300/s, connections: 4, duration: {duration} }}\n"
            ),
        );
        let mut command = workspace.command(&["run", "load.yaml", "--out", "run", "--no-ui"]);
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        let lab = Self(quiet.spawn().unwrap());
        let series = workspace.path().join("run/series.jsonl");
        let begun = now();
        while !fs::read_to_string(&series).is_ok_and(|rows| rows.contains("achieved")) {
            assert!(now() - begun < Duration::from_secs(20), "no load");
            std::thread::yield_now();
        }
        lab
    }

    /// The process below the lab whose command line holds the argument `word`.
    fn process(&self, word: &str) -> u32 {
        process(self.0.id(), word)
    }

    /// Waits for its end; gives the exit code.
    fn end(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

#[test]
fn a_generator_that_was_stopped() {
    let workspace = Workspace::new();
    let lab = Lab::start(&workspace, "3s");
    stop_for(lab.process("generator"), Duration::from_millis(200));
    lab.end();
    let broken = broken(&workspace);
    assert!(broken.contains(&2) && broken.contains(&3), "{broken:?}");
}

#[test]
fn a_target_that_was_stopped_is_no_fault_of_the_generator() {
    let workspace = Workspace::new();
    let lab = Lab::start(&workspace, "3s");
    stop_for(lab.process("mock"), Duration::from_millis(500));
    lab.end();
    let broken = broken(&workspace);
    assert!(!broken.contains(&8), "{broken:?}");
    let response = &workspace.json("run/summary.json")["arms"]["main"]["response_time"];
    assert!(response["max"].as_f64().unwrap() > 0.4, "{response}");
}

/// Mock and generator take turns on one processor: what waits for either of them lies outside the mock's own time.
#[test]
fn a_processor_shared_by_both_ends() {
    let workspace = Workspace::new();
    workspace.write(
        "shared.yaml",
        "version: 1\nname: shared\ncomponents:\n  upstream: { mock: {}, cpus: [0] }\ngenerator: { cpus: [0] }\nscenario:\n  - { get: /json/valid }\n\
         load: { users: 200, duration: 2s }\n",
    );
    workspace.run(&["run", "shared.yaml", "--out", "run", "--no-ui"]);
    let broken = broken(&workspace);
    assert!(broken.contains(&10) && !broken.contains(&8), "{broken:?}");
}

#[test]
fn too_few_descriptors() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/json/valid", mock.main());
    let load = ["load", &url, "-r", "500", "-c", "200", "-z", "1s"];
    let args = [&load[..], &["--out", "run", "--no-ui"]].concat();
    let mut command = workspace.command_after("ulimit -n 64", &args);
    let finished = Finished::of(command.output().unwrap());
    assert!(finished.code.is_some(), "{finished:?}");
    let broken = broken(&workspace);
    assert!(broken.contains(&6), "{broken:?}");
}

#[test]
#[ignore = "needs root for a network of its own: run scripts/test as root"]
fn too_few_ports() {
    let workspace = Workspace::new();
    workspace.write(
        "ports.yaml",
        "version: 1\nname: ports\ncomponents:\n  upstream: { mock: {} }\nscenario:\n  - { get: /json/valid }\n\
         load: { rate: 500/s, connections: 100, duration: 1s }\n",
    );
    let ports = "echo 40000 40039 > /proc/sys/net/ipv4/ip_local_port_range";
    let args = ["run", "ports.yaml", "--out", "run", "--no-ui"];
    let mut command = workspace.command_apart(ports, &args);
    let finished = Finished::of(command.output().unwrap());
    assert!(
        workspace.path().join("run/summary.json").exists(),
        "{finished:?}"
    );
    let broken = broken(&workspace);
    assert!(broken.contains(&6), "{broken:?}");
}

/// The data from before a component died are there, and say so.
#[test]
fn a_run_whose_component_died() {
    let workspace = Workspace::new();
    let lab = Lab::start(&workspace, "60s");
    signal(lab.process("mock"), "KILL");
    assert_eq!(lab.end(), Some(4));
    assert_eq!(workspace.json("run/manifest.json")["state"], "interrupted");
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["verdict"]["result"], "invalid");
    let reason = summary["verdict"]["reasons"][0].as_str().unwrap();
    assert!(reason.contains("`upstream` died"), "{reason}");
    let arm = &summary["arms"]["main"];
    let count = |key: &str| arm[key].as_u64().unwrap();
    assert!(count("sent") >= 300, "{arm}");
    assert_eq!(count("intended"), count("sent") + count("dropped"));
    let broken = broken(&workspace);
    assert!(!broken.contains(&8), "{broken:?}");
    let report = workspace.run(&["report", "run"]).ended_with(0);
    assert!(
        report.stdout.contains("`upstream` died"),
        "{}",
        report.stdout
    );
}
