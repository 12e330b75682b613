//! nginx as a foreign component beside our gateway, and with two workers when the lab is killed.

use crate::examples::example;
use crate::processes::wait_until_nothing_runs;
use crate::program::{Workspace, signal};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn nginx_stands_beside_the_gateway() {
    let workspace = Workspace::new();
    let shorter = [
        "load.rate=300/s",
        "load.connections=4",
        "load.warmup=0",
        // On a machine that is busy with other things a second may have no sample of a component in it.
        "load.duration=2s",
        "method.compare.blocks=2",
    ];
    let shorter: Vec<&str> = shorter.iter().flat_map(|set| ["--set", set]).collect();
    let finished = workspace.experiment(&example("foreign-proxy"), &shorter);
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let arms = &workspace.json("run/summary.json")["arms"];
    for arm in ["direct", "nginx", "gateway"] {
        let arm = &arms[arm];
        assert_eq!(arm["intended"], 1200, "{arm}");
        // What waits for a second on a machine that is busy with other things is dropped.
        assert_eq!(arm["outcomes"]["answered"]["200"], arm["sent"], "{arm}");
    }
    assert!(
        arms["nginx"]["components"]["nginx"]["rss_bytes_max"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    wait_until_nothing_runs(&workspace);
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn killing_the_lab_ends_nginx_and_its_workers() {
    let workspace = Workspace::new();
    let config = std::fs::read_to_string(example("foreign-proxy/nginx.conf.in")).unwrap();
    workspace.write(
        "nginx.conf.in",
        &config.replace("worker_processes 1", "worker_processes 2"),
    );
    workspace.write(
        "nginx.yaml",
        "version: 1\nname: nginx\ncomponents:\n  upstream: { mock: {} }\n  proxy:\n    \
         command: [nginx, -e, stderr, -c, \"${self.dir}/nginx.conf\"]\n    render: [nginx.conf.in]\n    ready: { http: /json/valid }\n\
         scenario: [{ get: /json/valid }]\nload: { target: proxy, rate: 100/s, connections: 4, duration: 60s }\n",
    );
    let mut lab = workspace
        .command(&["run", "nginx.yaml", "--out", "run", "--no-ui"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(lab.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("/s good")));
    signal(lab.id(), "KILL");
    lab.wait().unwrap();
    wait_until_nothing_runs(&workspace);
}
