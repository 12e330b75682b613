//! Every exchange leaves a record, also one that is cut off: by a drain, a revocation, its client or its upstream.

use crate::secured::Realm;
use crate::support::{Gateway, PATIENCE, Upstream, to};
use serde_json::Value;
use std::path::Path;
use std::sync::mpsc;

/// Records in a file, by path: status, whether they were cut off, and how they ended.
fn endings(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut endings: Vec<String> = text
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let word = |name: &str| record[name].as_str().unwrap().to_owned();
            let sum = ["gateway_us", "upstream_us", "client_us"].map(|n| record[n].as_u64());
            let sum: u64 = sum.into_iter().flatten().sum();
            assert!(
                sum.abs_diff(record["total_us"].as_u64().unwrap()) <= 3,
                "{record}"
            );
            format!(
                "{} {} {} {}",
                word("path"),
                record["status"],
                record["aborted"],
                word("ended")
            )
        })
        .collect();
    endings.sort();
    endings
}

/// Answers nothing on `/silent`, half of an answer and then silence on `/half`, half and then the end on `/broken`.
fn upstream() -> (Upstream, mpsc::Receiver<()>) {
    let (asked, is_asked) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345";
            let path = request.head.split(' ').nth(1).unwrap().to_owned();
            match path.as_str() {
                "/half" => peer.send(half),
                "/broken" => return peer.send(half),
                "/silent" => {}
                _ => peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
            }
            asked.send(()).unwrap();
        }
    });
    (upstream, is_asked)
}

#[test]
fn what_a_drain_cuts_off_leaves_records() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records");
    let (upstream, is_asked) = upstream();
    let rest = format!("timeouts: {{ drain: 50ms }}\nanalytics: {{ file: {file:?} }}\n");
    let gateway = Gateway::before(upstream.address, &rest);
    assert_eq!(gateway.connect().get("/whole").status(), 200);
    is_asked.recv_timeout(PATIENCE).unwrap();
    let mut clients = ["/silent", "/half"].map(|path| {
        let mut client = gateway.connect();
        client.send(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        is_asked.recv_timeout(PATIENCE).unwrap();
        client
    });
    // So that its answer has begun.
    assert!(clients[1].read_head().is_some());
    gateway.tell_to_stop();
    gateway.join();
    assert_eq!(
        endings(&file),
        [
            "/half 200 true drained",
            "/silent 0 true drained",
            "/whole 200 false answered"
        ]
    );
}

#[test]
fn what_a_revocation_cuts_off_leaves_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records");
    let (upstream, is_asked) = upstream();
    let realm = Realm::new();
    let own = realm.issue("urn:site:1");
    let rest = format!("{}analytics: {{ file: {file:?} }}\n", to(upstream.address));
    let gateway = realm.gateway("clients: required, ca: ca.pem, crl: ca.crl", &rest);
    let mut client = realm.caller(Some(&own)).connect(gateway.address("main"));
    client.send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    let list = realm.authority.revoked(&[&own], 2099).unwrap();
    gateway.rewrites("ca.crl", &list);
    assert!(client.try_response(false).is_none());
    gateway.tell_to_stop();
    gateway.join();
    assert_eq!(endings(&file), ["/silent 0 true revoked"]);
}

#[test]
fn clients_and_upstreams_that_break_off_leave_records() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records");
    let (upstream, _is_asked) = upstream();
    let rest = format!("analytics: {{ file: {file:?} }}\n");
    let gateway = Gateway::before(upstream.address, &rest);
    let mut client = gateway.connect();
    client.send("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.try_response(false).is_none());
    let mut client = gateway.connect();
    client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
    drop(client);
    gateway.reaches("aborted_total{route=\"/\"}", 2);
    gateway.tell_to_stop();
    gateway.join();
    assert_eq!(
        endings(&file),
        [
            "/broken 200 true upstream_broke",
            "/upload 0 true client_gone"
        ]
    );
}
