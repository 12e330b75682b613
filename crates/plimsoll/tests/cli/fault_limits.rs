//! Faults that take something away from a component, and hosts that do not permit it.

use crate::program::{Finished, Workspace};
use std::process::Command;

#[test]
#[ignore = "needs root, control groups and libfaketime: run scripts/test"]
fn limits_and_clocks_are_proved_by_what_they_do() {
    let workspace = Workspace::new();
    // A server with work to do, that dates its answers and takes memory when it is told to.
    workspace.write(
        "server.py",
        "import http.server, sys
kept = []
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        sum(range(40000))
        if self.path == '/eat':
            kept.append(bytearray(1 << 20))
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
",
    );
    workspace.write(
        "faults.yaml",
        "version: 1
name: faults
components:
  busy: { command: [python3, server.py, '${self.port}'], ready: { http: / } }
  hungry: { command: [python3, server.py, '${self.port}'], ready: { http: / } }
arms:
  busy: { target: busy, scenario: [{ get: / }] }
  hungry: { target: hungry, scenario: [{ get: /eat }] }
scenario: [{ get: / }]
load: { rate: 20/s, duration: 8s, connections: 200, timeout: 1s }
faults:
  starved: { cpu: busy, cores: 0.02, at: 500ms, for: 1s, arms: [busy] }
  ahead: { clock: busy, by: 1h, at: 5s, for: 1s, arms: [busy] }
  tight: { memory: hungry, limit: 80MiB, at: 500ms, for: 6s, arms: [hungry] }
",
    );
    let finished = workspace.experiment("faults.yaml", &["--no-ui"]);
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let summary = workspace.json("run/summary.json");
    let of = |arm: &str| summary["arms"][arm]["faults"].as_array().unwrap().clone();
    let all = [of("busy"), of("hungry")].concat();
    assert_eq!(all.len(), 3);
    for fault in &all {
        assert!(
            fault["proved"].is_number() && fault["healed"].is_number(),
            "{fault}"
        );
    }
    let tight = &of("hungry")[0];
    assert_eq!(tight["heal"], "it was started anew and is ready", "{tight}");
}

/// A component whose clock is wrong waits as long as it would: runtimes wait for conditions by the clock that only counts on. On ARM
/// libfaketime ends these waits at once.
#[test]
#[cfg(target_arch = "x86_64")]
#[ignore = "needs libfaketime: run scripts/test"]
fn waits_last_as_long_when_the_clock_is_wrong() {
    let workspace = Workspace::new();
    workspace.write(
        "server.py",
        "import ctypes, http.server, sys, time
libc = ctypes.CDLL(None)
class timespec(ctypes.Structure):
    _fields_ = [('s', ctypes.c_long), ('ns', ctypes.c_long)]
attributes, condition, mutex = [ctypes.create_string_buffer(64) for _ in range(3)]
libc.pthread_condattr_init(attributes)
libc.pthread_condattr_setclock(attributes, time.CLOCK_MONOTONIC)
libc.pthread_cond_init(condition, attributes)
libc.pthread_mutex_init(mutex, None)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        until = time.monotonic_ns() + 5_000_000
        libc.pthread_mutex_lock(mutex)
        libc.pthread_cond_timedwait(condition, mutex, ctypes.byref(timespec(*divmod(until, 10 ** 9))))
        libc.pthread_mutex_unlock(mutex)
        self.send_response(200 if time.monotonic_ns() >= until else 500)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
",
    );
    workspace.write(
        "faults.yaml",
        "version: 1
name: faults
components: { waits: { command: [python3, server.py, '${self.port}'], ready: { http: / } } }
scenario: [{ get: /, check: { status: 200 } }]
load: { rate: 20/s, duration: 4s, connections: 100, timeout: 5s }
faults: { ahead: { clock: waits, by: 1h, at: 1s, for: 1s } }
",
    );
    let finished = workspace.experiment("faults.yaml", &["--no-ui"]);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let summary = workspace.json("run/summary.json");
    let arm = &summary["arms"]["main"];
    assert!(arm["faults"][0]["proved"].is_number(), "{arm}");
    assert_eq!(arm["failed"], 0, "{arm}");
}

/// One that ends by itself within its limit has not met it: nothing was tried.
#[test]
#[ignore = "needs root and control groups: run scripts/test"]
fn who_ends_by_himself_has_met_no_limit() {
    let workspace = Workspace::new();
    workspace.write_mortal_server("server.py", 45);
    workspace.write(
        "faults.yaml",
        "version: 1
name: faults
components:
  mortal: { command: [python3, server.py, '${self.port}'] }
scenario: [{ get: / }]
load: { rate: 20/s, duration: 5s, connections: 200, timeout: 1s }
faults:
  tight: { memory: mortal, limit: 1GiB, at: 500ms, for: 3s }
",
    );
    let finished = workspace
        .experiment("faults.yaml", &["--no-ui"])
        .ended_with(4);
    assert!(!finished.stderr.contains("out of luck"), "{finished:?}");
    let summary = workspace.json("run/summary.json");
    let tight = &summary["arms"]["main"]["faults"][0];
    assert!(tight["proved"].is_null(), "{finished:?}");
    let effect = tight["effect"].as_str().unwrap();
    assert!(effect.starts_with("not exercised"), "{effect}");
    assert!(tight["healed"].is_number(), "{tight}");
}

/// Missing rights are told before anything starts, with a remedy, and of a file that is valid otherwise.
#[test]
#[ignore = "needs root, whose capabilities it gives up: run scripts/test"]
fn what_a_host_does_not_permit_is_said_at_once() {
    let workspace = Workspace::new();
    workspace.write(
        "hosts.yaml",
        "version: 1
name: hosts
network: { zones: { a: [app-a], b: [db-b] } }
components: { app: { mock: {}, host: app-a } }
scenario: [{ get: /json/valid }]
load: { rate: 20/s, duration: 3s }
faults: { cut: { partition: [app-a, db-b], at: 0s, for: 1s } }
",
    );
    workspace.run(&["validate", "hosts.yaml"]).ended_with(0);
    let without = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(["--bounding-set=-all", "--inh-caps=-all"])
            .arg(env!("CARGO_BIN_EXE_plimsoll"))
            .args(args)
            .current_dir(workspace.path())
            .env("XDG_STATE_HOME", workspace.path().join("state"));
        Finished::of(command.output().unwrap())
    };
    let validated = without(&["validate", "hosts.yaml"]).ended_with(5);
    assert!(validated.stdout.contains("a valid experiment"));
    validated.saying("run it as root");
    without(&["run", "hosts.yaml", "--out", "run"])
        .ended_with(5)
        .saying("run it as root");
    assert!(!workspace.path().join("run").exists());
}
