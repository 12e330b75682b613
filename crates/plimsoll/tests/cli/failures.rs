//! When the host or a component fails: a clear message, the right exit code, everything stopped.

use crate::processes::descendants_with;
use crate::program::{Finished, Workspace};
use plimsoll_testbed::port::Refusing;
use std::net::TcpListener;

/// An experiment whose only component is this block.
fn experiment(component: &str) -> String {
    format!(
        "version: 1\nname: failing\ncomponents:\n  part: {component}\nscenario:\n  - {{ get: / }}\n\
         load: {{ rate: 50/s, connections: 2, duration: 30s }}\n"
    )
}

fn check(component: &str, code: i32, expected: &[&str]) {
    let workspace = Workspace::new();
    workspace.write("failing.yaml", &experiment(component));
    let mut finished = workspace.experiment("failing.yaml", &[]).ended_with(code);
    for text in expected {
        finished = finished.saying(text);
    }
    let left = descendants_with(workspace.path().to_str().unwrap());
    assert!(left.is_empty(), "left running: {left:?}");
}

#[test]
fn a_command_that_is_not_there() {
    check(
        "{ command: [no-such-program-anywhere] }",
        5,
        &["`part`", "no-such-program-anywhere"],
    );
}

#[test]
fn a_command_that_exits_at_once() {
    check(
        r#"{ command: [sh, -c, "echo cannot open the database >&2; exit 3"] }"#,
        5,
        &["`part`", "3", "cannot open the database"],
    );
}

#[test]
fn a_component_that_never_becomes_ready() {
    check(
        "{ command: [sleep, \"600\"], ready: { tcp: true, within: 300ms } }",
        5,
        &["`part`", "0.3 s"],
    );
}

#[test]
fn a_component_that_dies_in_the_middle() {
    // Serves until the load's twentieth connection or so, then says why it ends.
    let workspace = Workspace::new();
    workspace.write_mortal_server("dies.py", 20);
    workspace.write(
        "failing.yaml",
        &experiment("{ command: [python3, dies.py, \"${self.port}\"] }"),
    );
    workspace
        .experiment("failing.yaml", &[])
        .ended_with(4)
        .saying("`part`")
        .saying("out of luck");
    assert_eq!(workspace.json("run/manifest.json")["state"], "interrupted");
}

/// A feeder of three rows at this load, with this end.
fn fed(load: &str, end: &str) -> (Workspace, Finished) {
    let workspace = Workspace::new();
    workspace.write("ids.csv", "id\n1\n2\n3\n");
    let text = format!(
        "version: 1\nname: fed\ncomponents: {{ upstream: {{ mock: {{}} }} }}\n\
         feeders: {{ ids: {{ csv: ids.csv, at_end: {end} }} }}\n\
         scenario: [{{ get: \"/json/valid?id=${{id}}\" }}]\nload: {load}\n"
    );
    workspace.write("fed.yaml", &text);
    let finished = workspace.experiment("fed.yaml", &[]);
    (workspace, finished)
}

#[test]
fn a_feeder_whose_end_is_an_error_keeps_what_was_measured() {
    let load = "{ rate: 50/s, connections: 2, duration: 30s }";
    let (workspace, finished) = fed(load, "error");
    finished
        .ended_with(2)
        .saying("the feeder `ids` has dealt all of its 3 rows");
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["arms"]["main"]["outcomes"]["answered"]["200"], 3);
    // On a machine that is busy with other things three exchanges may not be valid; why there are no more is told all the same.
    let reasons = summary["verdict"]["reasons"].to_string();
    assert!(
        reasons.contains("the feeder `ids` has dealt all"),
        "{reasons}"
    );
    assert!(
        workspace
            .read("run/report.html")
            .contains("ran out of data: the feeder")
    );
    assert_eq!(workspace.json("run/manifest.json")["state"], "interrupted");
}

#[test]
fn a_feeder_that_ends_its_users_says_so_in_the_report() {
    let (workspace, finished) = fed("{ users: 2, duration: 30s }", "stop");
    // Three exchanges take a few milliseconds, too few to be valid on a machine that is busy with other things.
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let notes = &workspace.json("run/summary.json")["arms"]["main"]["notes"];
    let told = "ran out of data: the feeder `ids` has dealt all of its 3 rows, and users who would have got another stopped";
    assert!(notes.as_array().unwrap().contains(&told.into()), "{notes}");
    let on_page = told.replace("`ids`", "<code>ids</code>");
    assert!(workspace.read("run/report.html").contains(&on_page));
    assert!(workspace.read("run/report.md").contains("ran out of data"));
    assert!(workspace.read("run/events.jsonl").contains(told));
}

#[test]
fn an_external_target_that_cannot_be_reached() {
    let closed = Refusing::hold().unwrap();
    let address = closed.address.to_string();
    check(
        &format!("{{ external: \"http://{address}\" }}"),
        5,
        &["`part`", &address],
    );
}

/// It is nobody's child that the lab could see end: that nobody listens there any more shows in its connections.
#[test]
fn an_external_target_that_goes_away_ends_the_run() {
    let workspace = Workspace::new();
    workspace.write_mortal_server("mortal.py", 150);
    let at = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut server = std::process::Command::new("python3")
        .args(["mortal.py", &at.port().to_string()])
        .current_dir(workspace.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while std::net::TcpStream::connect(at).is_err() {
        std::thread::yield_now();
    }
    let experiment = format!(
        "version: 1\nname: gone\ncomponents: {{ part: {{ external: \"http://{at}\", probe: none }} }}\nscenario: [{{ get: / }}]\n\
         load: {{ rate: 100/s, connections: 2, warmup: 0s, duration: 60s }}\n"
    );
    workspace.write("gone.yaml", &experiment);
    let finished = workspace.experiment("gone.yaml", &["--no-ui"]);
    server.wait().unwrap();
    finished
        .ended_with(4)
        .saying("component `part` died")
        .saying("refuses every connection");
    assert_eq!(workspace.json("run/manifest.json")["state"], "interrupted");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert!(arm["seconds"].as_f64().unwrap() < 30.0, "{arm}");
    assert_eq!(arm["outcomes"]["answered"]["200"], 150, "{arm}");
}

#[test]
fn a_mock_on_a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    Workspace::new()
        .run(&["mock", "--port", &port])
        .ended_with(5)
        .saying(&port)
        .saying("in use");
}

#[test]
fn a_gateway_on_a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let workspace = Workspace::new();
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"{addr}\" }} }}\nupstreams: {{ u: {{ endpoints: [\"http://{addr}\"] }} }}\nroutes: [{{ path: /, upstream: u }}]\n"
    );
    workspace.write("gateway.yaml", &config);
    workspace
        .run(&["gateway", "--config", "gateway.yaml"])
        .ended_with(5)
        .saying(&addr.to_string())
        .saying("in use");
}

#[test]
fn a_malformed_stub() {
    let workspace = Workspace::new();
    workspace.write(
        "stubs/mappings/broken.json",
        r#"{"request":{"url":"/"},"response":{"statos":200}}"#,
    );
    workspace.write("failing.yaml", &experiment("{ mock: { root: stubs } }"));
    workspace
        .experiment("failing.yaml", &[])
        .ended_with(2)
        .saying("broken.json")
        .saying("/response/statos");
}

#[test]
#[ignore = "needs root to mount a small file system: run scripts/test as root"]
fn a_full_disk_in_the_run_directory() {
    let workspace = Workspace::new();
    let small = workspace.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let shell = |command: String| {
        std::process::Command::new("sh")
            .args(["-c", &command])
            .status()
            .unwrap()
            .success()
    };
    assert!(shell(format!(
        "mount -t tmpfs -o size=64k none {}",
        small.display()
    )));
    workspace.write("full.yaml", &experiment("{ mock: {} }"));
    let finished = workspace.run(&[
        "run",
        "full.yaml",
        "--out",
        "small/run",
        "--set",
        "load.duration=4s",
    ]);
    let half_written: Vec<_> = std::fs::read_dir(small.join("run"))
        .map(|entries| {
            entries
                .map(|entry| entry.unwrap().file_name())
                .filter(|name| name.to_string_lossy().contains("tmp"))
                .collect()
        })
        .unwrap_or_default();
    assert!(shell(format!("umount {}", small.display())));
    finished.ended_with(5).saying("No space left");
    assert!(half_written.is_empty(), "{half_written:?}");
}
