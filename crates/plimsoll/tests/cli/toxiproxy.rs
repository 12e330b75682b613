//! Faults by a Toxiproxy that somebody else has started: proved, healed, and undone whoever dies. It is our own here, which has the same API.

use crate::program::{Finished, Server, Workspace, signal, within};
use plimsoll_testbed::http::Request;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// A proxy `stock` in front of a mock, and an experiment with a fault of it.
struct Foreign {
    workspace: Workspace,
    proxy: Server,
    _mock: Server,
}

impl Foreign {
    fn start() -> Self {
        let workspace = Workspace::new();
        let stub = json!({ "request": { "url": "/" }, "response": { "body": "x".repeat(300) } });
        workspace.write("stubs/mappings/any.json", &stub.to_string());
        let args = ["mock", "--port", "0", "--root-dir", "stubs"];
        let mock = Server::start(&workspace, &args);
        let proxies = json!([{ "name": "stock", "listen": "127.0.0.1:0", "upstream": mock.main().to_string() }]);
        workspace.write("toxiproxy.json", &proxies.to_string());
        let args = ["fault", "-port", "0", "-config", "toxiproxy.json"];
        Self {
            proxy: Server::start(&workspace, &args),
            workspace,
            _mock: mock,
        }
    }

    fn api(&self) -> SocketAddr {
        let mut all = self.proxy.listening.iter();
        *all.find(|(name, _)| *name == "api").unwrap().1
    }

    /// The proxy as the API has it.
    fn stock(&self) -> Value {
        let answer = Request::get("/proxies/stock").ask(self.api(), PATIENCE);
        serde_json::from_str(&answer.unwrap().body).unwrap()
    }

    fn is_untouched(&self) -> bool {
        let stock = self.stock();
        stock["enabled"] == true && stock["toxics"] == json!([])
    }

    /// Writes an experiment with faults of this proxy, as effects and times.
    fn write(&self, faults: &[(&str, &str)], duration: &str) {
        let faults = faults.iter().enumerate().map(|(number, (effect, times))| {
            format!(
                "  f{number}: {{ toxiproxy: 'http://{}', proxy: stock, {effect}, request: \"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n\", {times} }}\n",
                self.api()
            )
        });
        let faults: String = faults.collect();
        let listen = self.stock()["listen"].as_str().unwrap().to_owned();
        self.workspace.write(
            "foreign.yaml",
            &format!(
                "version: 1
name: foreign
components: {{ stock: {{ external: 'http://{listen}' }} }}
scenario: [{{ get: / }}]
load: {{ rate: 20/s, duration: {duration}, target: stock, timeout: 1s, connections: 100 }}
faults:
{faults}"
            ),
        );
    }

    fn run(&self) -> Finished {
        self.workspace.experiment("foreign.yaml", &["--no-ui"])
    }

    fn faults(&self) -> Vec<Value> {
        let summary = self.workspace.json("run/summary.json");
        summary["arms"]["main"]["faults"]
            .as_array()
            .unwrap()
            .clone()
    }
}

#[test]
fn each_effect_is_proved_and_healed() {
    let foreign = Foreign::start();
    let faults = [
        ("delay: 200ms", "at: 0s, for: 300ms"),
        ("delay: 200ms, jitter: 50ms", "at: 1s, for: 300ms"),
        ("bandwidth: 1kB", "at: 2s, for: 1200ms"),
        ("refuse: true", "at: 4s, for: 300ms"),
        ("reset: true", "at: 5s, for: 300ms"),
        ("silence: true", "at: 6s, for: 500ms"),
    ];
    // Each waits for the end of the one before, which a machine that stalls puts off.
    foreign.write(&faults, "14s");
    let finished = foreign.run();
    // Whether the figures stand is the machine's doing.
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let found = foreign.faults();
    assert_eq!(found.len(), faults.len());
    for fault in &found {
        assert!(fault["proved"].is_number(), "{fault}");
        assert!(fault["healed"].is_number(), "{fault}");
        let target = format!("stock at http://{}", foreign.api());
        assert_eq!(fault["target"], target);
    }
    // Callers who go through it saw the last: their bytes were dropped.
    let failed = found[5]["callers"]["failed"].as_u64();
    assert!(failed > Some(0), "{}", found[5]);
    assert!(foreign.is_untouched());
}

#[test]
fn a_proxy_that_is_not_there_is_said_before_anything_starts() {
    let foreign = Foreign::start();
    let request = Request {
        method: "DELETE",
        ..Request::get("/proxies/stock")
    };
    foreign.write(&[("refuse: true", "at: 0s, for: 300ms")], "2s");
    assert_eq!(request.ask(foreign.api(), PATIENCE).unwrap().status, 204);
    let finished = foreign.run();
    assert_eq!(finished.code, Some(5), "{finished:?}");
    let said = "fault `f0` (toxiproxy) is not possible here: GET /proxies/stock: 404";
    assert!(finished.stderr.contains(said), "{finished:?}");
    assert!(!foreign.workspace.path().join("run").exists());
}

#[test]
fn a_proxy_with_toxics_of_others_is_left_alone() {
    let foreign = Foreign::start();
    let others = r#"{ "name": "others", "type": "latency", "attributes": { "latency": 1 } }"#;
    let request = Request {
        method: "POST",
        body: others,
        ..Request::get("/proxies/stock/toxics")
    };
    assert_eq!(request.ask(foreign.api(), PATIENCE).unwrap().status, 200);
    foreign.write(&[("delay: 30ms", "at: 0s, for: 300ms")], "2s");
    assert_eq!(foreign.run().code, Some(4));
    let fault = &foreign.faults()[0];
    assert_eq!(fault["effect"], "it is disabled or has toxics already");
    assert_eq!(fault["heal"], "it was not touched");
    assert_eq!(foreign.stock()["toxics"][0]["name"], "others");
}

#[test]
fn killing_the_lab_has_its_warden_undo_both_changes() {
    for effect in ["silence: true", "refuse: true"] {
        let foreign = Foreign::start();
        foreign.write(&[(effect, "at: 0s, for: 50s")], "60s");
        let args = ["run", "foreign.yaml", "--out", "run", "--no-ui"];
        let mut command = foreign.workspace.command(&args);
        let mut lab = command.stderr(Stdio::null()).spawn().unwrap();
        assert!(within(PATIENCE, || !foreign.is_untouched()), "{effect}");
        signal(lab.id(), "KILL");
        lab.wait().unwrap();
        assert!(within(PATIENCE, || foreign.is_untouched()), "{effect}");
        // Doing it again does no harm.
        let healed = foreign.workspace.run(&["heal", "run"]);
        healed.ended_with(0).saying("healed: f0");
        // Nor is anything left of a proxy that is gone, as after a new start of Toxiproxy.
        let request = Request {
            method: "DELETE",
            ..Request::get("/proxies/stock")
        };
        assert_eq!(request.ask(foreign.api(), PATIENCE).unwrap().status, 204);
        let healed = foreign.workspace.run(&["heal", "run"]);
        healed.ended_with(0).saying("healed: f0");
    }
}
