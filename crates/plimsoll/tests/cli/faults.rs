//! Faults during a load: each is proved, healed, and undone whoever dies.

use crate::processes::wait_until_nothing_runs;
use crate::program::{Finished, Workspace, signal, within};
use plimsoll_testbed::authority::Authority;
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

/// A gateway in front of a mock, with whatever else its listener has.
fn gateway(secured: &str) -> String {
    format!(
        "version: 1
listeners: {{ main: {{ address: 127.0.0.1:0{secured} }} }}
upstreams:
  stock: {{ endpoints: [\"${{stock.url}}\"] }}
routes:
  - {{ path: /, upstream: stock }}
"
    )
}

/// A run of a gateway in front of a mock, with these faults.
fn run(faults: &str, duration: &str) -> (Workspace, Finished) {
    let workspace = written(faults, duration);
    let finished = workspace.experiment("faults.yaml", &["--no-ui"]);
    (workspace, finished)
}

fn written(faults: &str, duration: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("gateway.yaml", &gateway(""));
    workspace.write(
        "faults.yaml",
        &format!(
            "version: 1
name: faults
components:
  stock: {{ mock: {{}} }}
  edge: {{ gateway: {{ config: gateway.yaml }} }}
scenario: [{{ get: /json/valid }}]
load: {{ rate: 50/s, duration: {duration}, target: edge, timeout: 1s, connections: 200 }}
faults:
{faults}
"
        ),
    );
    workspace
}

/// The faults of the only arm, by name.
fn faults(workspace: &Workspace) -> Vec<Value> {
    let summary = workspace.json("run/summary.json");
    let faults = summary["arms"]["main"]["faults"].as_array();
    faults.unwrap().clone()
}

fn criterion(workspace: &Workspace) -> Value {
    let summary = workspace.json("run/summary.json");
    let mut rows = summary["validity"].as_array().unwrap().iter();
    let row = rows.find(|row| row["criterion"] == 16);
    row.unwrap().clone()
}

#[test]
fn faults_without_root_are_proved_and_healed() {
    let (workspace, finished) = run(
        "  crash: { kill: stock, at: 500ms, for: 500ms }
  pause: { freeze: edge, at: 2s, for: 500ms }
  slow: { link: edge -> stock, delay: 30ms, at: 3s, for: 500ms }
  shaky: { link: edge -> stock, delay: 30ms, jitter: 10ms, at: 4s, for: 500ms }
  narrow: { link: edge -> stock, bandwidth: 100kB, at: 5s, for: 1200ms }
  hushed: { link: edge -> stock, silence: true, at: 7s, for: 500ms }
  cut: { link: edge -> stock, reset: true, at: 8s, for: 500ms }
  closed: { link: edge -> stock, refuse: true, at: 9s, for: 500ms }
  sham: { nothing: true, at: 9s, for: 500ms }
  theirs: { run: { inject: [touch, broken], verify: [test, -e, broken], heal: [rm, -f, broken], healed: [test, '!', -e, broken] }, at: 9s, for: 500ms }",
        // Some seconds are without a fault, though the last heal be late.
        "14s",
    );
    // Whether the figures stand is the machine's doing.
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let faults = faults(&workspace);
    assert_eq!(faults.len(), 10);
    for fault in &faults {
        assert!(fault["proved"].is_number(), "{fault}");
        assert!(fault["healed"].is_number(), "{fault}");
        assert!(fault["proved"].as_f64() > fault["injected"].as_f64());
        assert!(fault["callers"]["seconds"].as_f64() > Some(0.0), "{fault}");
    }
    assert_eq!(criterion(&workspace)["ok"], true);
    let named = |name: &str| faults.iter().find(|fault| fault["name"] == name).unwrap();
    // While nobody is behind the gateway, it answers for it.
    let crash = named("crash");
    assert!(crash["callers"]["failed"].as_u64() > Some(0), "{crash}");
    let hushed = named("hushed");
    let longest = hushed["callers"]["response_time"]["max"].as_f64();
    assert!(longest > Some(0.3), "{hushed}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert!(arm["without_faults"]["good_per_s"].as_f64().unwrap() > 0.0);
    let record = workspace.read("run/faults.jsonl");
    assert_eq!(
        record
            .lines()
            .filter(|line| line.contains("\"over\""))
            .count(),
        10
    );
    assert_eq!(
        record
            .lines()
            .filter(|line| line.contains("\"close\""))
            .count(),
        1
    );
    let report = workspace.read("run/report.html");
    assert!(report.contains("bytes do not come back within 200 ms"));
    assert!(
        finished
            .stdout
            .contains("crash: proved: no process is left"),
        "{}",
        finished.stdout
    );
    wait_until_nothing_runs(&workspace);
}

#[test]
fn a_fault_without_effect_makes_the_run_invalid() {
    let (workspace, finished) = run(
        "  weak: { run: { inject: ['true'], verify: ['false'], heal: ['true'], healed: ['true'] }, at: 0s, for: 1s }",
        "12s",
    );
    assert_eq!(finished.code, Some(4), "{finished:?}");
    let row = criterion(&workspace);
    assert_eq!(
        (&row["ok"], &row["value"]),
        (&false.into(), &1.0.into()),
        "{row}"
    );
    assert!(
        finished.stdout.contains("Not proved: `weak`: `verify`"),
        "{}",
        finished.stdout
    );
    assert!(faults(&workspace)[0]["proved"].is_null());
}

#[test]
fn a_fault_that_does_not_heal_ends_the_run_and_names_the_remedy() {
    let (workspace, finished) = run(
        "  stuck: { run: { inject: ['true'], verify: ['true'], heal: ['false'], healed: ['true'] }, at: 0s, for: 300ms }",
        "20s",
    );
    let finished = finished.ended_with(5);
    assert!(
        finished
            .stderr
            .contains("fault `stuck` is not healed: `heal`: false"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("plimsoll heal run"),
        "{}",
        finished.stderr
    );
    // Measured until then.
    assert!(workspace.json("run/summary.json")["arms"]["main"]["sent"].as_u64() > Some(0));
    workspace
        .run(&["heal", "run"])
        .ended_with(5)
        .saying("fault `stuck`: false");
}

#[test]
fn killing_the_lab_has_its_warden_undo_what_is_open() {
    let workspace = written(
        "  theirs: { run: { inject: [touch, broken], verify: [test, -e, broken], heal: [rm, -f, broken], healed: [test, '!', -e, broken] }, at: 0s, for: 50s }
  pause: { freeze: stock, at: 0s, for: 50s }",
        "60s",
    );
    let args = ["run", "faults.yaml", "--out", "run", "--no-ui"];
    let mut lab = workspace
        .command(&args)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let broken = workspace.path().join("broken");
    let patience = Duration::from_secs(20);
    let frozen = || {
        std::fs::read_to_string(workspace.path().join("run/events.jsonl"))
            .is_ok_and(|events| events.contains("stand still"))
    };
    assert!(within(patience, || broken.exists() && frozen()));
    signal(lab.id(), "KILL");
    lab.wait().unwrap();
    assert!(
        within(patience, || !broken.exists()),
        "the warden has undone it"
    );
    wait_until_nothing_runs(&workspace);
    // What the record says is open is undone again, without harm.
    workspace
        .run(&["heal", "run"])
        .ended_with(0)
        .saying("healed: theirs");
    // Its commands are run, so nobody else may have written it.
    let record = workspace.path().join("run/faults.jsonl");
    std::fs::set_permissions(&record, Permissions::from_mode(0o666)).unwrap();
    workspace
        .run(&["heal", "run"])
        .ended_with(2)
        .saying("anybody may have written it");
}

#[test]
fn an_interrupted_run_heals_first() {
    let workspace = written("  pause: { freeze: stock, at: 0s, for: 50s }", "60s");
    let args = ["run", "faults.yaml", "--out", "run", "--no-ui"];
    let finished = workspace.run_until(&args, |line| line.contains("stand still"));
    let finished = finished.ended_with(130);
    assert!(
        finished.stderr.contains("is healed: it goes on"),
        "{}",
        finished.stderr
    );
    let fault = &faults(&workspace)[0];
    assert!(
        fault["proved"].is_number() && fault["healed"].is_number(),
        "{fault}"
    );
    wait_until_nothing_runs(&workspace);
}

/// Answers over TLS, and reads its certificate anew on SIGHUP.
const SECURED: &str = "import http.server, signal, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
load = lambda *_: context.load_cert_chain('server.pem', 'server.key')
load()
signal.signal(signal.SIGHUP, load)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
";

/// A server over TLS whose certificate is replaced, and that certificate.
fn secured(server: &str, flaw: &str, lasts: &str) -> (Workspace, String) {
    let workspace = Workspace::new();
    let issued = Authority::equip(workspace.path(), &["localhost", "127.0.0.1"]).unwrap();
    workspace.write("server.py", SECURED);
    let tls = ", tls: { certificate: \"${experiment.dir}/server.pem\", key: \"${experiment.dir}/server.key\" }";
    workspace.write("gateway.yaml", &gateway(tls));
    workspace.write(
        "faults.yaml",
        &format!(
            "version: 1
name: faults
components:
  stock: {{ mock: {{}} }}
  edge: {server}
scenario: [{{ get: /json/valid }}]
load: {{ rate: 20/s, duration: 55s, target: edge, connections: 20, connection_per: exchange, tls: {{ ca: ca.pem }} }}
faults:
  cert: {{ certificate: edge, file: server.pem, as: {flaw}, authority: ca.pem, authority_key: ca.key, reload: HUP, at: 500ms, for: {lasts} }}
"
        ),
    );
    (workspace, issued.certificate)
}

/// Whether the certificate's file has been set aside.
fn is_set_aside(workspace: &Workspace) -> bool {
    let entries = std::fs::read_dir(workspace.path()).unwrap().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.ends_with(".set-aside"))
}

const PYTHON: &str = "{ command: [python3, server.py, '${self.port}'] }";

#[test]
fn certificates_that_clients_refuse_come_and_go() {
    for (flaw, objection) in [
        ("expired", "expired"),
        ("not_yet_valid", "not valid yet"),
        ("wrong_name", "not valid for name"),
        ("unknown_issuer", "UnknownIssuer"),
    ] {
        let (workspace, certificate) = secured(PYTHON, flaw, "1s");
        let finished =
            workspace.experiment("faults.yaml", &["--no-ui", "--set", "load.duration=3s"]);
        assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
        let fault = &faults(&workspace)[0];
        assert!(
            fault["proved"].is_number() && fault["healed"].is_number(),
            "{fault}"
        );
        let effect = fault["effect"].as_str().unwrap();
        assert!(effect.contains(objection), "{flaw}: {effect}");
        let arm = &workspace.json("run/summary.json")["arms"]["main"];
        let refused = &arm["reasons"]["tls_failed"];
        let refused = refused
            .as_object()
            .is_some_and(|reasons| !reasons.is_empty());
        assert!(refused, "{flaw}: {arm}");
        assert_eq!(workspace.read("server.pem"), certificate);
        assert!(!is_set_aside(&workspace));
    }
}

#[test]
fn a_server_that_does_not_take_the_certificate_is_no_proof() {
    // Our gateway keeps the old one.
    let gateway = "{ gateway: { config: gateway.yaml } }";
    let (workspace, certificate) = secured(gateway, "expired", "1s");
    let finished = workspace.experiment("faults.yaml", &["--no-ui", "--set", "load.duration=13s"]);
    assert_eq!(finished.code, Some(4), "{finished:?}");
    let fault = &faults(&workspace)[0];
    assert!(
        fault["proved"].is_null() && fault["healed"].is_number(),
        "{fault}"
    );
    assert_eq!(workspace.read("server.pem"), certificate);
}

#[test]
fn a_certificate_is_put_back_when_the_lab_is_killed() {
    let (workspace, certificate) = secured(PYTHON, "expired", "50s");
    let args = ["run", "faults.yaml", "--out", "run", "--no-ui"];
    let mut lab = workspace
        .command(&args)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let patience = Duration::from_secs(20);
    assert!(within(patience, || is_set_aside(&workspace)));
    signal(lab.id(), "KILL");
    lab.wait().unwrap();
    assert!(within(patience, || workspace.read("server.pem")
        == certificate
        && !is_set_aside(&workspace)));
    wait_until_nothing_runs(&workspace);
}

/// A server on a host, which asks another for what it is asked for, by its name, and writes into its directory.
const ON_HOST: &str = "import http.server, os, sys, urllib.request
host, port, other, directory = sys.argv[1:]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        status = 200
        try:
            if self.path == '/db':
                urllib.request.urlopen('http://db-a:' + other + '/json/valid', timeout=0.3).read()
            if self.path == '/write':
                path = os.path.join(directory, 'f')
                with open(path, 'wb') as file:
                    file.write(b'x' * 5000)
                os.remove(path)
        except OSError:
            status = 503
        self.send_response(status)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
";

#[test]
#[ignore = "needs root, ip and nft: run scripts/test"]
fn hosts_lose_each_other_their_names_their_disks_and_their_power() {
    let workspace = Workspace::new();
    workspace.write("server.py", ON_HOST);
    workspace.write(
        "faults.yaml",
        "version: 1
name: hosts
network: { zones: { a: [app-a, db-a], b: [other-b] } }
components:
  db: { mock: {}, host: db-a }
  api: { command: [python3, server.py, '${self.host}', '${self.port}', '${db.port}', '${self.dir}'], ready: { http: / }, host: app-a, disk: 1MiB }
scenario: [{ get: /db }, { get: /write }]
load: { rate: 20/s, duration: 22s, target: api, timeout: 1s, connections: 300 }
faults:
  cut: { partition: [app-a, db-a], at: 0s, for: 1200ms }
  away: { partition: [client, zone/a], direction: one_way, at: 2500ms, for: 1500ms }
  hole: { blackhole: [app-a, rest], at: 6s, for: 1200ms }
  torn: { rst: [app-a, db-a], at: 9s, for: 500ms }
  lossy: { loss: [client, app-a], share: 20%, at: 10s, for: 1200ms }
  lied: { dns: app-a, name: db-a, answer: nxdomain, at: 13s, for: 500ms }
  full: { disk_full: api, at: 14s, for: 500ms }
  power: { power_off: db-a, at: 15s, for: 1500ms }
  crash: { kill: db, at: 19s, for: 500ms }
  pause: { freeze: api, at: 21s, for: 300ms }
",
    );
    let before = std::fs::read_dir("/sys/class/net").unwrap().count();
    let finished = workspace.experiment("faults.yaml", &["--no-ui"]);
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let faults = faults(&workspace);
    assert_eq!(faults.len(), 10);
    for fault in &faults {
        assert!(fault["proved"].is_number(), "{fault}");
        assert!(fault["healed"].is_number(), "{fault}");
        let spared = ["lossy", "torn", "pause"].contains(&fault["name"].as_str().unwrap());
        let failed = fault["callers"]["failed"].as_u64();
        assert!(spared || failed > Some(0), "{fault}");
    }
    // Listeners are looked at from within their host.
    let summary = workspace.json("run/summary.json");
    for name in ["api", "db"] {
        let component = &summary["arms"]["main"]["components"][name];
        assert!(component["listen_drops"].is_number(), "{component}");
    }
    wait_until_nothing_runs(&workspace);
    assert_eq!(std::fs::read_dir("/sys/class/net").unwrap().count(), before);
}
