//! Clients that leave while their upstream is silent: their exchange ends at once, and the upstream is given up.

use crate::http2::{self, in_runtime};
use crate::secured::Realm;
use crate::support::{Gateway, PATIENCE, Upstream, to};
use crate::tyk::{Files, target};
use h2::Reason;
use serde_json::json;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const REQUEST: &str = "GET /silent HTTP/1.1\r\nHost: a\r\n\r\n";

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
fn reset(stream: TcpStream) {
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

/// Answers to a request as soon as it is told to.
fn answering() -> (Upstream, Receiver<()>, Sender<()>) {
    let ((asks, asked), (tell, told)) = (mpsc::channel(), mpsc::channel());
    let told = Arc::new(Mutex::new(told));
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asks.send(()).unwrap();
            told.lock().unwrap().recv().unwrap();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        }
    });
    (upstream, asked, tell)
}

#[test]
fn one_that_only_has_nothing_more_to_send_is_answered() {
    let (upstream, asked, answer) = answering();
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
fn one_that_has_sent_its_next_request_gets_both_answers() {
    let (upstream, asked, answer) = answering();
    let gateway = Gateway::before(upstream.address, "client_half_close: abort\n");
    let mut client = gateway.connect();
    client.send(REQUEST);
    asked.recv_timeout(PATIENCE).unwrap();
    client.send(REQUEST);
    for _ in 0..2 {
        answer.send(()).unwrap();
        assert_eq!(client.response(false).body_text(), "x");
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
fn it_is_so_over_tls() {
    let (upstream, asked, ended) = silent();
    let realm = Realm::new();
    let rest = format!("{}client_half_close: abort\n", to(upstream.address));
    let gateway = realm.gateway("clients: none", &rest);
    let mut client = realm.caller(None).connect(gateway.address("main"));
    client.send(REQUEST);
    asked.recv_timeout(PATIENCE).unwrap();
    drop(client);
    ended.recv_timeout(PATIENCE).unwrap();
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

/// Waits for what a thread tells, while the runtime goes on.
async fn told(from: Receiver<()>) -> Receiver<()> {
    let waits = move || {
        from.recv_timeout(PATIENCE).unwrap();
        from
    };
    tokio::task::spawn_blocking(waits).await.unwrap()
}
