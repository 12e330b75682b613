//! A gateway in a thread, upstreams that follow a script, and clients that read one response at a time.

mod client;

pub use client::{Client, Message, field};

use plimsoll_base::document::Problems;
use plimsoll_gateway::{
    Controls, GatewayConfig, Handover, Output, Reload, Source, Surroundings, run,
};
use plimsoll_testbed::port;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// Beyond this something hangs; no test waits for it otherwise.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A running gateway. Dropping it stops it and waits for its end.
pub struct Gateway {
    addresses: HashMap<String, SocketAddr>,
    stop: watch::Sender<bool>,
    log: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
    /// Configuration for its reloads.
    text: Arc<Mutex<String>>,
    printed: Arc<Mutex<Vec<u8>>>,
    files: Files,
    hangups: watch::Sender<u64>,
}

/// A place that a gateway prints to and a test reads.
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Files that a configuration names; they may be written anew at any time.
pub type Files = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// Reads a configuration with these files around it.
pub fn read(text: &str, files: &Files) -> Result<GatewayConfig, Problems> {
    read_as("gateway.yaml", text, files)
}

/// A route under another name.
pub fn read_as(name: &str, text: &str, files: &Files) -> Result<GatewayConfig, Problems> {
    let around = Surroundings {
        files: &|name| {
            let files = files.lock().unwrap();
            files.get(name).cloned().ok_or(ErrorKind::NotFound.into())
        },
        variables: &|name| variables().get(name).cloned(),
        now: Duration::from_secs(jiff::Timestamp::now().as_second().try_into().unwrap()),
    };
    GatewayConfig::read(name, text, around)
}

/// The environment of every gateway of these tests.
fn variables() -> HashMap<&'static str, String> {
    [
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "not-to-be-shown"),
        ("UPSTREAM_TOKEN", "of-the-environment"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

/// A listener, an admin listener, and this.
pub fn configuration(rest: &str) -> String {
    configuration_at("", rest)
}

/// With the listener at this host.
fn configuration_at(host: &str, rest: &str) -> String {
    format!(
        "version: 1\nlisteners: {{ main: {{ address: \"{host}:0\" }} }}\nadmin: {{ address: \":0\" }}\n{rest}"
    )
}

impl Gateway {
    /// Starts a gateway with one listener; `rest` is the configuration but for its version and listeners.
    pub fn start(rest: &str) -> Self {
        Self::with_shards(1, rest)
    }

    pub fn with_shards(shards: usize, rest: &str) -> Self {
        Self::of(shards, configuration(rest))
    }

    /// Starts a gateway with a whole configuration.
    pub fn of(shards: usize, text: String) -> Self {
        Self::with_files(shards, text, &Files::default())
    }

    /// A gateway with files that it names.
    pub fn with_files(shards: usize, text: String, files: &Files) -> Self {
        let config = read(&text, files).unwrap_or_else(|e| panic!("{e}"));
        Self::run(shards, config, text, files)
    }

    /// One route `/` to `upstream`, `rest`, and counters in `file`.
    pub fn counting(upstream: SocketAddr, shards: usize, file: &Path, rest: &str) -> Self {
        let text = format!(
            "version: 1\nlisteners: {{ main: {{ address: \":0\" }} }}\ntimeouts: {{ drain: 300ms }}\n{}{rest}",
            to(upstream)
        );
        let mut config =
            GatewayConfig::parse("gateway.yaml", &text).unwrap_or_else(|e| panic!("{e}"));
        config.keep_counters(file.to_owned());
        Self::run(shards, config, text, &Files::default())
    }

    fn run(shards: usize, config: GatewayConfig, text: String, files: &Files) -> Self {
        let text = Arc::new(Mutex::new(text));
        let (around, to_read) = (Arc::clone(files), Arc::clone(&text));
        let source = Box::new(move || self::read(&to_read.lock().unwrap(), &around));
        Self::reading(shards, config, source, text, files)
    }

    fn reading(
        shards: usize,
        config: GatewayConfig,
        source: Source,
        text: Arc<Mutex<String>>,
        files: &Files,
    ) -> Self {
        let printed = Arc::default();
        let (stop, stopped) = watch::channel(false);
        let (hangups, hung_up) = watch::channel(0);
        let controls = Controls {
            stop: stopped,
            output: Output(Box::new(Shared(Arc::clone(&printed)))),
            reload: Some(Reload {
                hangups: hung_up,
                source,
            }),
            handover: Handover::default(),
        };
        let (ready, addresses) = mpsc::channel();
        let log = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&log);
        let thread = std::thread::spawn(move || {
            let log = move |line: &str| told.lock().unwrap().push(line.to_owned());
            let on_ready = |names| ready.send(names).unwrap();
            run(&config, shards, on_ready, controls, log).unwrap();
        });
        let addresses = addresses.recv_timeout(PATIENCE).unwrap();
        Self {
            addresses: addresses.into_iter().collect(),
            stop,
            log,
            thread: Some(thread),
            text,
            printed,
            files: Arc::clone(files),
            hangups,
        }
    }

    /// Its standard output.
    pub fn printed(&self) -> Arc<Mutex<Vec<u8>>> {
        Arc::clone(&self.printed)
    }

    /// Writes a file anew that the configuration names, and has the gateway take it over.
    pub fn rewrites(&self, name: &str, content: &str) {
        self.write(name, content);
        let answer = self.reload();
        assert_eq!(answer.status(), 200, "{}", answer.body_text());
    }

    /// Writes a file anew.
    pub fn write(&self, name: &str, content: &str) {
        let mut files = self.files.lock().unwrap();
        files.insert(name.to_owned(), content.as_bytes().to_vec());
    }

    /// Writes the configuration for the gateway's next reload.
    pub fn rewrite(&self, text: impl Into<String>) {
        *self.text.lock().unwrap() = text.into();
    }

    /// Has it reload; its answer.
    pub fn reload(&self) -> Message {
        self.admin()
            .ask("POST /reload HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    /// Reloads with this configuration, which it is to take over.
    pub fn becomes(&self, text: impl Into<String>) {
        self.rewrite(text);
        let answer = self.reload();
        assert_eq!(answer.status(), 200, "{}", answer.body_text());
    }

    /// Has it reload by the signal.
    pub fn hang_up(&self) {
        self.hangups.send_modify(|count| *count += 1);
    }

    /// A gateway of Tyk's files, which it reads anew when it reloads.
    pub fn of_tyk(shards: usize, tyk: plimsoll_gateway::Tyk, config: GatewayConfig) -> Self {
        let source = Box::new(move || tyk.reload());
        Self::reading(shards, config, source, Arc::default(), &Files::default())
    }

    /// One route `/` to `upstream`, and `rest`, at an address where nobody else listens once it has left.
    pub fn alone_before(upstream: SocketAddr, rest: &str) -> Self {
        let host = port::own_host().to_string();
        Self::of(
            1,
            configuration_at(&host, &format!("{}{rest}", to(upstream))),
        )
    }

    /// One route `/` to `upstream`, and `rest`.
    pub fn before(upstream: SocketAddr, rest: &str) -> Self {
        Self::start(&format!("{}{rest}", to(upstream)))
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.addresses["main"])
    }

    pub fn admin(&self) -> Client {
        Client::connect(self.addresses["admin"])
    }

    /// The value of one sample of the metrics page, 0 if there is none.
    pub fn metric(&self, sample: &str) -> u64 {
        let page = self
            .admin()
            .ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let line = page.body_text();
        let line = line.lines().find_map(|line| {
            let value = line
                .strip_prefix("plimsoll_gateway_")?
                .strip_prefix(sample)?;
            value.strip_prefix(' ').map(str::to_owned)
        });
        line.map_or(0, |value| value.parse().unwrap())
    }

    /// Reads a metric until it is `expected`: other shards count an exchange just after its answer has left.
    pub fn reaches(&self, sample: &str, expected: u64) {
        let readings = (0..10_000).map(|_| self.metric(sample));
        let last = readings.take_while(|value| *value != expected).last();
        assert_eq!(self.metric(sample), expected, "{sample}, last {last:?}");
    }

    pub fn address(&self, listener: &str) -> SocketAddr {
        self.addresses[listener]
    }

    pub fn tell_to_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits for the end that [`Self::tell_to_stop`] brings; returns what its operator was told, but for what depends on the host.
    pub fn join(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap();
        let mut told = std::mem::take(&mut *self.log.lock().unwrap());
        told.retain(|line| !line.contains("ulimit"));
        told
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A gateway that failed has let go of its end.
            let _told = self.stop.send(true);
            if thread.join().is_err() && !std::thread::panicking() {
                panic!("the gateway panicked");
            }
        }
    }
}

/// An upstream block and a route `/` to it.
pub fn to(upstream: SocketAddr) -> String {
    format!(
        "upstreams: {{ up: {{ endpoints: [\"http://{upstream}\"] }} }}\nroutes:\n  - {{ path: /, upstream: up }}\n"
    )
}

/// An upstream that hands each of its connections to a script, one after another in threads of their own.
pub struct Upstream {
    pub address: SocketAddr,
}

impl Upstream {
    /// `script` gets each connection and its number, from 0.
    pub fn start(script: impl Fn(Client, usize) + Send + Sync + Clone + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let script = script.clone();
                let stream = stream.unwrap();
                std::thread::spawn(move || script(Client::new(stream), number));
            }
        });
        Self { address }
    }

    /// Answers every request with 200 and the request's own head (lines ended by LF) and body.
    pub fn echo() -> Self {
        Self::start(|mut peer, _| {
            while let Some(request) = peer.request() {
                let body = format!("{}{}", request.head.replace('\r', ""), request.body_text());
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let head_only = request.head.starts_with("HEAD ");
                peer.send(&head);
                if !head_only {
                    peer.send(&body);
                }
            }
        })
    }

    /// Answers every request with `response`, as it is.
    pub fn answering(response: &'static str) -> Self {
        Self::start(move |mut peer, _| {
            while peer.request().is_some() {
                peer.send(response);
            }
        })
    }
}

/// An address at which nobody listens, and nobody will for as long as this lives: a connection that goes elsewhere has it.
pub struct Nobody {
    pub address: SocketAddr,
    _connection: (TcpStream, TcpListener),
}

impl Nobody {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        Self {
            address: stream.local_addr().unwrap(),
            _connection: (stream, listener),
        }
    }
}
