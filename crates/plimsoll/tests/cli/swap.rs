//! Swapping the binary: another process takes the sockets and the place of the first, and nobody notices; or it fails, and nobody notices.

mod secured;

use crate::program::{Server, Workspace, get, signal};
use plimsoll_base::counters::{Counter, Totals};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Looks at something that has to come; beyond so many it never will.
pub const LOOKS: usize = 2_000_000;

pub fn configuration(mock: SocketAddr, more: &str) -> String {
    format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\nadmin: {{ address: \"127.0.0.1:0\" }}\n\
         upstreams: {{ mock: {{ endpoints: [\"http://{mock}\"] }} }}\nroutes: [{{ path: /, upstream: mock }}]\n{more}"
    )
}

/// Ends the process that has the place now, whoever that is.
pub struct Place<'a>(pub &'a Workspace);

impl Place<'_> {
    pub fn pid(&self) -> u32 {
        self.0.read("pid").trim().parse().unwrap()
    }

    /// Swaps; the process that serves then.
    pub fn swap(&self) -> u32 {
        let before = self.pid();
        signal(before, "USR2");
        let swapped = (0..LOOKS).any(|_| self.pid() != before);
        assert!(swapped, "{}", self.0.read("log"));
        self.pid()
    }

    /// Waits until the log has this line so many times.
    pub fn says(&self, line: &str, times: usize) {
        let said = (0..LOOKS).any(|_| self.0.read("log").matches(line).count() >= times);
        assert!(said, "{line}: {}", self.0.read("log"));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.0.path().join("pid").exists() {
            signal(self.pid(), "KILL");
        }
    }
}

fn start<'a>(workspace: &'a Workspace, shards: &str) -> (Server, Place<'a>) {
    let arguments = ["gateway", "--config", "gateway.yaml", "--pid-file", "pid"];
    let more = ["--counters", "counters", "--shards", shards];
    let gateway = Server::start_told(workspace, "log", &[&arguments[..], &more].concat());
    let written = (0..LOOKS).any(|_| workspace.path().join("pid").exists());
    assert!(written);
    (gateway, Place(workspace))
}

/// Asks as fast as it can until it is over, over kept connections or one for each request; how many requests were answered with 200. It
/// does not forgive: whatever else happens fails the test.
fn ask(address: SocketAddr, kept: bool, over: &AtomicBool) -> u64 {
    let mut count = 0;
    let mut connection: Option<TcpStream> = None;
    while !over.load(Ordering::SeqCst) {
        let mut stream = connection.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(address).unwrap();
            let patience = Some(Duration::from_secs(20));
            stream.set_read_timeout(patience).unwrap();
            stream
        });
        let end = if kept { "" } else { "Connection: close\r\n" };
        let request = format!("GET /asked HTTP/1.1\r\nHost: a\r\n{end}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let head = head(&mut stream);
        assert!(head.starts_with("http/1.1 200 "), "{head:?}");
        count += 1;
        if kept && !head.contains("connection: close") {
            connection = Some(stream);
        }
    }
    count
}

/// The answer, as far as it came.
pub fn told(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut answer = Vec::new();
    let asked = stream.write_all(request.as_bytes());
    if asked
        .and_then(|()| stream.read_to_end(&mut answer))
        .is_err()
    {
        // Whoever has let go of the socket just then does not answer.
    }
    String::from_utf8(answer).unwrap()
}

/// The head of an answer without a body, in lower case.
fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&bytes)),
        }
    }
    String::from_utf8(bytes).unwrap().to_ascii_lowercase()
}

fn received(workspace: &Workspace, counters: &str) -> u64 {
    let bytes = std::fs::read(workspace.path().join(counters)).unwrap();
    Totals::read(&bytes).unwrap().get(Counter::Received)
}

pub fn mock(workspace: &Workspace) -> Server {
    workspace.write(
        "stubs/mappings/any.json",
        r#"{"request":{"urlPattern":".*"},"response":{"status":200,"headers":{"Content-Length":"0"}}}"#,
    );
    let mock = ["mock", "--port", "0", "--root-dir", "stubs"];
    Server::start(
        workspace,
        &[&mock[..], &["--counters", "of-the-mock"]].concat(),
    )
}

#[test]
fn three_swaps_under_load_fail_no_request() {
    let workspace = Workspace::new();
    let mock = mock(&workspace);
    workspace.write("gateway.yaml", &configuration(mock.main(), ""));
    let (gateway, place) = start(&workspace, "2");
    let first = gateway.pid();
    assert_eq!(place.pid(), first);
    let (address, admin) = (gateway.main(), gateway.listening["admin"]);
    let over = AtomicBool::new(false);
    let answered: u64 = std::thread::scope(|scope| {
        let over = &over;
        let clients =
            [true, true, true, false].map(|kept| scope.spawn(move || ask(address, kept, over)));
        for swap in 1..=3 {
            let before = received(&workspace, "of-the-mock");
            let flowing = (0..LOOKS).any(|_| received(&workspace, "of-the-mock") > before + 50);
            assert!(flowing, "swap {swap}");
            place.swap();
        }
        over.store(true, Ordering::SeqCst);
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum()
    });
    assert_eq!(gateway.ended(), Some(0));
    assert_ne!(place.pid(), first);
    assert_eq!(received(&workspace, "of-the-mock"), answered);
    place.says("drains", 3);
    // The last process has counters of its own, and the one before it has kept its own.
    assert!(workspace.path().join("counters.before").exists());
    assert!(!workspace.path().join("counters.new").exists());
    let metrics = get(admin, "/metrics");
    assert!(
        metrics.contains("plimsoll_gateway_generation 1"),
        "{metrics}"
    );
    let last = place.pid();
    signal(last, "TERM");
    let removed = (0..LOOKS).any(|_| !workspace.path().join("pid").exists());
    assert!(removed);
}

#[test]
fn a_client_of_the_admin_listener_that_was_taken_is_answered_by_who_took_it() {
    let workspace = Workspace::new();
    let mock = mock(&workspace);
    workspace.write("gateway.yaml", &configuration(mock.main(), ""));
    let (gateway, place) = start(&workspace, "1");
    let admin = gateway.listening["admin"];
    let mut early = TcpStream::connect(admin).unwrap();
    early.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
    // Clients are taken in their order.
    get(admin, "/healthz");
    place.swap();
    place.says("drains", 1);
    early.write_all(b"Host: 127.0.0.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    early.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("generation 1"), "{answer}");
    assert_eq!(gateway.ended(), Some(0));
}

#[test]
fn while_the_process_before_drains_the_new_one_alone_answers_and_loads_nothing_anew() {
    let workspace = Workspace::new();
    workspace.write(
        "stubs/mappings/any.json",
        r#"{"request":{"urlPattern":".*"},"response":{"status":200,"fixedDelayMilliseconds":60000}}"#,
    );
    let slow = Server::start(&workspace, &["mock", "--port", "0", "--root-dir", "stubs"]);
    workspace.write(
        "gateway.yaml",
        &configuration(
            slow.main(),
            "timeouts: { drain: 60s, shutdown_delay: 60s }\n",
        ),
    );
    let (gateway, place) = start(&workspace, "2");
    let admin = gateway.listening["admin"];
    let mut held = TcpStream::connect(gateway.main()).unwrap();
    held.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    let under_way = (0..LOOKS).any(|_| get(admin, "/metrics").contains("client_connections 1"));
    assert!(under_way);
    place.swap();
    place.says("drains", 1);
    let reload = "POST /reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let refused = (0..LOOKS).any(|_| told(admin, reload).starts_with("HTTP/1.1 422 "));
    assert!(refused);
    for _ in 0..200 {
        assert!(get(admin, "/ready").starts_with("HTTP/1.1 200 "));
        let answer = told(admin, reload);
        assert!(
            answer.contains("the process before this one still drains: try again"),
            "{answer}"
        );
    }
    signal(place.pid(), "HUP");
    place.says("the configuration is reloaded when it has ended", 1);
    assert!(!workspace.read("log").contains("generation 2"));
    signal(gateway.pid(), "KILL");
    assert_eq!(gateway.ended(), None);
    place.says("the configuration was reloaded: generation 2", 1);
    assert!(told(admin, reload).starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_process_that_does_not_get_ready_changes_nothing() {
    let workspace = Workspace::new();
    let mock = mock(&workspace);
    let good = configuration(mock.main(), "timeouts: { swap: 4s }\n");
    workspace.write("gateway.yaml", &good);
    let (gateway, place) = start(&workspace, "1");
    let serves = || {
        assert_eq!(place.pid(), gateway.pid());
        assert!(get(gateway.main(), "/asked").starts_with("HTTP/1.1 200 "));
    };
    let lives_on = "no other process takes this one's place, and it goes on: ";
    workspace.write("gateway.yaml", "version: 2\n");
    signal(gateway.pid(), "USR2");
    place.says(lives_on, 1);
    place.says("it ended before it was ready (exit status: 2)", 1);
    serves();
    // One that would wait a minute for its secret: it is killed, and then it takes too long.
    let (_slow, waiting) = waiting(&workspace, &good);
    workspace.write("gateway.yaml", &waiting);
    signal(gateway.pid(), "USR2");
    place.says(lives_on, 2);
    place.says("it was not ready within 4 s (signal: 9 (SIGKILL))", 1);
    serves();
    assert_eq!(gateway.stop(), Some(0));
}

/// A configuration like this one, for which a gateway would wait a minute for its secret, and who has it wait.
fn waiting(workspace: &Workspace, good: &str) -> (Server, String) {
    workspace.write(
        "stubs/mappings/any.json",
        r#"{"request":{"method":"POST","urlPattern":".*"},"response":{"status":200,"fixedDelayMilliseconds":60000}}"#,
    );
    let slow = Server::start(workspace, &["mock", "--port", "0", "--root-dir", "stubs"]);
    let secrets = format!(
        "secrets: {{ endpoint: \"http://{}\", region: x, wait: 60s, credentials: {{ access_key: a, secret_key: b }} }}\n",
        slow.main()
    );
    let waiting = good.replace(
        "upstream: mock }",
        "upstream: mock, policies: { key: { keys: [{ name: a, key: { aws: { secret: s } } }] } } }",
    ) + &secrets;
    (slow, waiting)
}

#[test]
fn a_process_that_is_killed_before_it_is_ready_changes_nothing() {
    let workspace = Workspace::new();
    let mock = mock(&workspace);
    let good = configuration(mock.main(), "");
    workspace.write("gateway.yaml", &good);
    let (gateway, place) = start(&workspace, "1");
    let (_slow, waiting) = waiting(&workspace, &good);
    workspace.write("gateway.yaml", &waiting);
    signal(gateway.pid(), "USR2");
    place.says("is started, to take this one's place", 1);
    let log = workspace.read("log");
    let new = log.split("gateway: process ").nth(1).unwrap();
    let new: u32 = new.split(' ').next().unwrap().parse().unwrap();
    signal(new, "KILL");
    place.says("it ended before it was ready (signal: 9 (SIGKILL))", 1);
    assert_eq!(place.pid(), gateway.pid());
    assert!(get(gateway.main(), "/asked").starts_with("HTTP/1.1 200 "));
    workspace.write("gateway.yaml", &good);
    assert_ne!(place.swap(), gateway.pid());
    assert_eq!(gateway.ended(), Some(0));
}
