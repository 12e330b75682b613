//! Our servers, each in a thread of its own: a mock that knows the canary, and a gateway in front of it.

use crate::exchange::{CANARY, Delivery, outcome, send};
use plimsoll_base::counters::{Counter, Totals};
use plimsoll_gateway::GatewayConfig;
use plimsoll_mock::MockConfig;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;

/// Beyond this something hangs; no test waits for it otherwise.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Everything but `/smuggled` is answered, so that a smuggled request shows among the unmatched ones.
const STUBS: &str = r#"{"mappings": [
    {"priority": 1, "request": {"urlPath": "/canary"}, "response": {"status": 299}},
    {"priority": 2, "request": {"urlPattern": "(?!/smuggled).*"}, "response": {"status": 200, "body": "fine"}}
]}"#;

/// A server of ours. Dropping it stops it and waits for its end.
pub struct Running {
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(
        body: impl FnOnce(mpsc::Sender<SocketAddr>, watch::Receiver<bool>) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (ready, address) = mpsc::channel();
        let thread = std::thread::spawn(move || body(ready, stopped));
        Self {
            address: address.recv_timeout(PATIENCE).unwrap(),
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        let ended = self.thread.take().unwrap().join();
        assert!(
            ended.is_ok() || std::thread::panicking(),
            "a server panicked"
        );
    }
}

/// A mock, and where it counts.
pub struct Mock {
    pub running: Running,
    counters: PathBuf,
    _root: TempDir,
}

impl Mock {
    pub fn start() -> Self {
        let root = TempDir::new().unwrap();
        let mappings = root.path().join("mappings");
        std::fs::create_dir(&mappings).unwrap();
        std::fs::write(mappings.join("stubs.json"), STUBS).unwrap();
        let counters = root.path().join("counters");
        let mut config = MockConfig::new("127.0.0.1:0".parse().unwrap());
        // The cases are about HTTP/1.
        config.http2_in_clear = false;
        config.root_dir = Some(root.path().to_owned());
        config.counters = Some(counters.clone());
        let running = Running::start(move |ready, stopped| {
            plimsoll_mock::run(config, |names| ready.send(names[0].1).unwrap(), stopped).unwrap();
        });
        Self {
            running,
            counters,
            _root: root,
        }
    }

    /// How many smuggled requests were seen so far.
    pub fn smuggled(&self) -> u64 {
        let bytes = std::fs::read(&self.counters).unwrap();
        Totals::read(&bytes).unwrap().get(Counter::Unmatched)
    }
}

/// A gateway with the one route `/` to `upstream`.
pub fn gateway(upstream: SocketAddr) -> Running {
    let text = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\n\
         upstreams: {{ up: {{ endpoints: [\"http://{upstream}\"] }} }}\nroutes: [{{ path: /, upstream: up }}]\n"
    );
    let config = GatewayConfig::parse("gateway.yaml", &text).unwrap_or_else(|e| panic!("{e}"));
    Running::start(move |ready, stopped| {
        let on_ready = |names: Vec<(String, SocketAddr)>| {
            let (_, address) = names.into_iter().find(|(name, _)| name == "main").unwrap();
            ready.send(address).unwrap();
        };
        plimsoll_gateway::run(&config, 1, on_ready, stopped, |_| ()).unwrap();
    })
}

/// Whether a client with a connection of its own gets the canary's answer: nothing is out of step behind `server`.
pub fn is_in_step(server: SocketAddr) -> bool {
    let received = send(server, CANARY.as_bytes(), false, Delivery::Whole, PATIENCE);
    outcome(received.as_deref(), false) == "open"
}
