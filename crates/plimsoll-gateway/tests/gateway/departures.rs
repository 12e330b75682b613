//! Clients that leave while their upstream is silent: their exchange ends at once, and the upstream is given up.

use crate::http2::{self, in_runtime};
use crate::secured::Realm;
use crate::support::{Gateway, PATIENCE, Upstream, to};
use crate::tyk::{Files, target};
use h2::Reason;
use serde_json::json;
use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const REQUEST: &str = "GET /silent HTTP/1.1\r\nHost: a\r\n\r\n";
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";

/// Tells of each request that it is there, and of each connection that it has ended; answers nothing.
fn silent() -> (Upstream, Receiver<()>, Receiver<()>) {
    let ((asks, asked), (ends, ended)) = (mpsc::channel(), mpsc::channel());
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asks.send(()).unwrap();
        }
        ends.send(()).unwrap();
    });
    (upstream, asked, ended)
}

/// Ends a connection with RST.
pub fn reset(stream: TcpStream) {
    let linger = Some(Duration::ZERO);
    rustix::net::sockopt::set_socket_linger(&stream, linger).unwrap();
}

#[test]
fn a_connection_that_breaks_ends_its_exchange() {
    let (upstream, asked, ended) = silent();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("records");
    let gateway = Gateway::before(
        upstream.address,
        &format!("analytics: {{ file: {file:?} }}\n"),
    );
    let body = "POST /silent HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    for request in [REQUEST, body] {
        let mut client = gateway.connect();
        client.send(request);
        asked.recv_timeout(PATIENCE).unwrap();
        reset(client.stream);
        ended.recv_timeout(PATIENCE).unwrap();
    }
    gateway.reaches("aborted_total{route=\"/\"}", 2);
    gateway.tell_to_stop();
    gateway.join();
    let records = std::fs::read_to_string(file).unwrap();
    assert_eq!(records.matches("\"ended\":\"client_gone\"").count(), 2);
}

/// Tells of each request that it is there, and gives this answer when it is told to.
pub fn answering(answer: &'static str) -> (Upstream, Receiver<()>, Sender<()>) {
    let ((asks, asked), (tell, told)) = (mpsc::channel(), mpsc::channel());
    let told = Arc::new(Mutex::new(told));
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asks.send(()).unwrap();
            if told.lock().unwrap().recv().is_err() {
                return; // the test is over
            }
            peer.send(answer);
        }
    });
    (upstream, asked, tell)
}

#[test]
fn one_that_only_has_nothing_more_to_send_is_answered() {
    let (upstream, asked, answer) = answering(ANSWER);
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    client.send(REQUEST);
    asked.recv_timeout(PATIENCE).unwrap();
    client.stream.shutdown(Shutdown::Write).unwrap();
    // By when another is served, its only shard has seen that.
    assert_eq!(gateway.connect().get("/a/../b").status(), 400);
    answer.send(()).unwrap();
    assert_eq!(client.response(false).body_text(), "x");
    assert!(client.ends());
}

#[test]
fn one_that_has_sent_its_next_request_is_not_watched() {
    let (upstream, asked, answer) = answering(ANSWER);
    for (half_close, answers) in [("answer", 2), ("abort", 1)] {
        let more = format!("client_half_close: {half_close}\n");
        let gateway = Gateway::before(upstream.address, &more);
        let mut client = gateway.connect();
        client.send(REQUEST);
        asked.recv_timeout(PATIENCE).unwrap();
        client.send(REQUEST);
        client.stream.shutdown(Shutdown::Write).unwrap();
        for _ in 0..answers {
            answer.send(()).unwrap();
            assert_eq!(client.response(false).body_text(), "x");
        }
        // Behind the second request there is nothing but the close.
        assert!(client.ends());
        asked.recv_timeout(PATIENCE).unwrap();
    }
}

#[test]
fn half_a_close_is_a_departure_where_that_is_said_and_with_tyks_files() {
    let (upstream, asked, ended) = silent();
    let told = Gateway::before(upstream.address, "client_half_close: abort\n");
    let files = Files::new();
    files.api("api", json!({ "proxy": target(upstream.address) }));
    let tyks = files.start();
    for (gateway, path) in [(&told, "/"), (&tyks, "/api/")] {
        let mut client = gateway.connect();
        client.send(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        asked.recv_timeout(PATIENCE).unwrap();
        client.stream.shutdown(Shutdown::Write).unwrap();
        ended.recv_timeout(PATIENCE).unwrap();
        assert!(client.ends());
    }
}

#[test]
fn over_tls_nothing_more_comes_when_that_is_said_or_the_connection_ends() {
    let (upstream, asked, answer) = answering(ANSWER);
    let realm = Realm::new();
    let begun = |half_close: &str| {
        let rest = format!("{}client_half_close: {half_close}\n", to(upstream.address));
        let text = Realm::text("clients: none", &rest);
        let gateway = Gateway::with_files(1, text, &realm.files);
        let mut client = realm.caller(None).connect(gateway.address("main"));
        client.send(REQUEST);
        asked.recv_timeout(PATIENCE).unwrap();
        (gateway, client)
    };
    for says_so in [true, false] {
        for half_close in ["answer", "abort"] {
            let (gateway, mut client) = begun(half_close);
            if says_so {
                client.stream.conn.send_close_notify();
                client.stream.flush().unwrap();
            } else {
                client.stream.sock.shutdown(Shutdown::Write).unwrap();
            }
            match half_close {
                "abort" => assert!(client.try_response(false).is_none()),
                // By when another is served, its only shard has seen the close.
                _ => {
                    let another = realm.caller(None).asks(gateway.address("main"), "/a/../b");
                    assert_eq!(another.0, 400);
                }
            }
            answer.send(()).unwrap();
            if half_close == "answer" {
                assert_eq!(client.response(false).body_text(), "x");
            }
            let left = u64::from(half_close == "abort");
            gateway.reaches("aborted_total{route=\"/\"}", left);
        }
    }
}

#[test]
fn a_stream_that_its_client_resets_ends_its_exchange() {
    let (upstream, asked, ended) = silent();
    let gateway = Gateway::before(upstream.address, "http2: {}\n");
    in_runtime(async {
        let client = http2::Client::connect(&gateway).await;
        let (mut asked, mut ended) = (asked, ended);
        for request in [http2::get("/silent"), http2::post("/silent")] {
            let mut sender = client.sender.clone().ready().await.unwrap();
            let (_response, mut sending) = sender.send_request(request, false).unwrap();
            sending.send_data("abc".into(), true).unwrap();
            asked = told(asked).await;
            sending.send_reset(Reason::CANCEL);
            ended = told(ended).await;
        }
        let mut sender = client.sender.clone().ready().await.unwrap();
        let _under_way = sender.send_request(http2::get("/silent"), true).unwrap();
        told(asked).await;
        drop((sender, client));
        told(ended).await;
    });
    gateway.reaches("aborted_total{route=\"/\"}", 3);
}

/// Asks for bodies of many sizes, which a stream's client has whole before the exchange knows that it is over.
fn get_bodies(gateway: &Gateway) {
    in_runtime(async {
        let mut client = http2::Client::connect(gateway).await;
        for kib in [1, 16, 64, 100, 128, 132, 256] {
            for _ in 0..5 {
                let path = format!("/{}", kib * 1024);
                let got = client.ask(http2::get(&path), "").await.unwrap();
                assert_eq!((got.status, got.body.len()), (200, kib * 1024));
            }
        }
    });
    gateway.reaches("requests_total{route=\"/\",class=\"2xx\"}", 35);
    assert_eq!(gateway.metric("aborted_total{route=\"/\"}"), 0);
    assert_eq!(
        gateway.metric("upstream_connections_new_total{upstream=\"up\"}"),
        1
    );
}

#[test]
fn a_stream_that_has_its_whole_response_has_not_left() {
    let upstream = Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            let length = request.head.split([' ', '/']).nth(2).unwrap();
            let body = "x".repeat(length.parse().unwrap());
            peer.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
            ));
        }
    });
    get_bodies(&Gateway::before(upstream.address, "http2: {}\n"));
}

/// Waits for what a thread tells, while the runtime goes on.
async fn told(from: Receiver<()>) -> Receiver<()> {
    let waits = move || {
        from.recv_timeout(PATIENCE).unwrap();
        from
    };
    tokio::task::spawn_blocking(waits).await.unwrap()
}

/// Answers `/fails` with 500 and `/` with 200, tells of `/silent` and never answers it.
fn failing() -> (Upstream, Receiver<()>) {
    let (asks, asked) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let status = match request.head.split(' ').nth(1).unwrap() {
                "/silent" => {
                    asks.send(()).unwrap();
                    continue;
                }
                "/fails" => 500,
                _ => 200,
            };
            peer.send(&format!(
                "HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n"
            ));
        }
    });
    (upstream, asked)
}

#[test]
fn a_breakers_try_whose_client_leaves_passes_to_the_next() {
    let (upstream, asked) = failing();
    let breaker = "breaker: { failure_ratio: 100%, samples: 1, open_for: 1s }";
    let gateway = Gateway::start(&format!(
        "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}\nroutes:\n  - path: /\n    upstream: up\n    rules: [{{ at: /, {breaker} }}]\n",
        upstream.address
    ));
    assert_eq!(gateway.connect().get("/fails").status(), 500);
    // It is rejected as long as the breaker is open.
    let mut client = gateway.connect();
    client.send(REQUEST);
    let moment = Duration::from_millis(50);
    while asked.recv_timeout(moment).is_err() {
        client.stream.set_read_timeout(Some(moment)).unwrap();
        if client.stream.peek(&mut [0]).is_ok() {
            client = gateway.connect();
            client.send(REQUEST);
        }
    }
    reset(client.stream);
    gateway.reaches("aborted_total{route=\"/\"}", 1);
    assert_eq!(gateway.connect().get("/").status(), 200);
}

#[test]
fn with_tyks_files_a_departure_is_a_failure_to_a_breaker() {
    let (upstream, asked) = failing();
    let files = Files::new();
    let breaker = json!({ "path": "/", "method": "GET", "threshold_percent": 0.5, "samples": 1, "return_to_service_after": 3600 });
    let versions = json!({ "Default": { "extended_paths": { "circuit_breakers": [breaker] } } });
    let api = json!({ "proxy": target(upstream.address), "version_data": { "not_versioned": true, "versions": versions } });
    files.api("api", api);
    let gateway = files.start();
    assert_eq!(gateway.connect().get("/api/").status(), 200);
    let mut client = gateway.connect();
    client.send("GET /api/silent HTTP/1.1\r\nHost: a\r\n\r\n");
    asked.recv_timeout(PATIENCE).unwrap();
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert!(client.ends());
    assert_eq!(gateway.connect().get("/api/").status(), 503);
}
