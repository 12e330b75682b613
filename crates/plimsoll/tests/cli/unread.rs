//! A gateway whose standard output is a pipe that nobody reads: its access log blocks, and nothing else does.

use crate::program::{Server, Workspace, get, signal, within};
use crate::swap::{LOOKS, Place, configuration, mock, told};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Records that are more than a pipe takes.
const RECORDS: u64 = 400;
/// Bytes of the path of each; a pipe has 64 KiB.
const PATH: usize = 1000;
/// Time that the gateway grants its standard output, and as much again for a busy host.
const BOUND: Duration = Duration::from_secs(15);

/// The mock and the gateway, whose standard output is full.
fn start(workspace: &Workspace) -> (Server, Server) {
    let mock = mock(workspace);
    let more = "analytics: { stdout: true }\n";
    workspace.write("gateway.yaml", &configuration(mock.main(), more));
    let arguments = ["gateway", "--config", "gateway.yaml", "--pid-file", "pid"];
    let more = ["--shards", "2"];
    let gateway = Server::start_unread(workspace, "log", &[&arguments[..], &more].concat());
    let written = (0..LOOKS).any(|_| workspace.path().join("pid").exists());
    assert!(written);
    let mut client = TcpStream::connect(gateway.main()).unwrap();
    let request = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(PATH));
    for number in 0..RECORDS {
        client.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 200 "), "{number}: {head:?}");
    }
    (mock, gateway)
}

/// How many records its log says that it lost.
fn lost(log: &str) -> u64 {
    let line = log.lines().find(|line| line.contains("records were lost"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("that it had not taken at the end"), "{line}");
    let count = line.split_once("standard output: ").unwrap().1;
    count.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn it_ends_in_time_and_says_what_was_lost() {
    let workspace = Workspace::new();
    let (_mock, mut gateway) = start(&workspace);
    signal(gateway.pid(), "TERM");
    let ended = gateway.ends_within(BOUND);
    let log = workspace.read("log");
    assert_eq!(ended, Some(Some(0)), "{log}");
    assert!(log.contains("is not waited for any longer"), "{log}");
    let fits = 64 * 1024 / PATH as u64;
    let lost = lost(&log);
    assert!((RECORDS - fits..=RECORDS).contains(&lost), "{lost}");
    assert!(!workspace.path().join("pid").exists());
}

#[test]
fn another_process_takes_its_place_and_loads_anew() {
    let workspace = Workspace::new();
    let (_mock, mut gateway) = start(&workspace);
    let admin = gateway.listening["admin"];
    let place = Place(&workspace);
    assert_ne!(place.swap(), gateway.pid());
    let ended = gateway.ends_within(BOUND);
    assert_eq!(ended, Some(Some(0)), "{}", workspace.read("log"));
    lost(&workspace.read("log"));
    let reload = "POST /reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let reloaded = (0..LOOKS).any(|_| told(admin, reload).starts_with("HTTP/1.1 200 "));
    assert!(reloaded, "{}", workspace.read("log"));
    assert!(get(gateway.main(), "/asked").starts_with("HTTP/1.1 200 "));
    signal(place.pid(), "TERM");
    let pid = workspace.path().join("pid");
    assert!(within(BOUND, || !pid.exists()));
}
