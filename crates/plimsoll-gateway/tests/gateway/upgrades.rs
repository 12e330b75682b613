//! Switching to another protocol: what of the offer is passed on, when bytes begin to pass, and how it ends.

use crate::support::{Gateway, PATIENCE, Upstream, field, to};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

const OFFER: &str = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: k\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\n";

fn switching(upstream: SocketAddr, rest: &str) -> Gateway {
    let routes = to(upstream).replace(
        "upstream: up }",
        "upstream: up, upgrades: [websocket, \"irc/2\"] }",
    );
    Gateway::start(&format!("{routes}{rest}"))
}

/// An upstream that switches at once and then returns what it gets.
fn echo() -> Upstream {
    Upstream::start(|mut peer, _| {
        peer.read_head().unwrap();
        peer.send(SWITCH);
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = peer.stream.read(&mut piece) {
            peer.stream.write_all(&piece[..count]).unwrap();
        }
    })
}

#[test]
fn after_a_101_bytes_pass_both_ways() {
    let upstream = echo();
    let gateway = switching(upstream.address, "");
    let mut client = gateway.connect();
    let answer = client.ask(OFFER);
    insta::assert_snapshot!(answer.head.replace('\r', ""), @"
    HTTP/1.1 101 Switching Protocols
    Sec-WebSocket-Accept: a
    Connection: Upgrade
    Upgrade: websocket
    ");
    for word in ["GET / HTTP/1.1\r\n\r\n", "\0\u{1}", "x"] {
        client.send(word);
        assert_eq!(client.bytes(word.len()), word);
    }
    assert_eq!(gateway.metric("upgraded_connections{route=\"/\"}"), 1);
    // The end of one direction is passed on, and what comes back still arrives.
    client.send("last");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.bytes(4), "last");
    assert!(client.ends_cleanly());
    gateway.reaches("upgraded_connections{route=\"/\"}", 0);
    assert_eq!(gateway.metric("upgrades_total{route=\"/\"}"), 1);
}

#[test]
fn what_comes_before_the_101_is_held_until_then() {
    let (seen, has_seen) = mpsc::channel();
    let (switch, may_switch) = mpsc::channel::<()>();
    let may_switch = std::sync::Arc::new(std::sync::Mutex::new(may_switch));
    let upstream = Upstream::start(move |mut peer, _| {
        let head = peer.read_head().unwrap();
        seen.send(head).unwrap();
        may_switch.lock().unwrap().recv().unwrap();
        // Nothing has come meanwhile.
        peer.stream.set_nonblocking(true).unwrap();
        let early = peer.stream.read(&mut [0; 1]).map_err(|error| error.kind());
        assert_eq!(
            (peer.unread(), early),
            (0, Err(std::io::ErrorKind::WouldBlock))
        );
        peer.stream.set_nonblocking(false).unwrap();
        peer.send(SWITCH);
        assert_eq!(peer.bytes(5), "early");
        peer.send("thanks");
    });
    let gateway = switching(upstream.address, "");
    let mut client = gateway.connect();
    client.send(&format!("{OFFER}early"));
    let head = has_seen.recv_timeout(PATIENCE).unwrap();
    let shown = ["connection", "upgrade", "sec-websocket-key"].map(|name| field(&head, name));
    assert_eq!(shown, [Some("Upgrade"), Some("websocket"), Some("k")]);
    switch.send(()).unwrap();
    assert_eq!(client.response(false).status(), 101);
    assert_eq!(client.bytes(6), "thanks");
}

#[test]
fn an_offer_that_does_not_count_is_no_part_of_the_request() {
    let upstream = Upstream::echo();
    let gateway = switching(upstream.address, "");
    let check = |request: &str, expected: Option<&str>| {
        let body = gateway.connect().ask(request).body_text();
        let seen = [field(&body, "upgrade"), field(&body, "connection")];
        let connection = expected.map(|_| "Upgrade");
        assert_eq!(seen, [expected, connection], "{request:?}");
    };
    let get = |fields: &str| format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    check(
        &get("Connection: Upgrade\r\nUpgrade: websocket\r\n"),
        Some("websocket"),
    );
    check(
        &get(
            "Connection: x\r\nConnection: upgrade\r\nUpgrade: h2c, IRC/2\r\nUpgrade: websocket, irc/2\r\n",
        ),
        Some("irc/2, websocket"),
    );
    check(&get("Upgrade: websocket\r\n"), None);
    check(
        &get("Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"),
        None,
    );
    check(
        &get("Connection: Upgrade\r\nUpgrade: websocket/13\r\n"),
        None,
    );
    check(&get("Connection: Upgrade\r\nUpgrade:\r\n"), None);
    check(
        "GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        None,
    );
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        None,
    );
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\nx",
        None,
    );
}

#[test]
fn an_upstream_that_stays_with_http_leaves_the_client_there() {
    let upstream = Upstream::echo();
    let gateway = switching(upstream.address, "");
    let mut client = gateway.connect();
    client.send(&format!("{OFFER}GET /next HTTP/1.1\r\nHost: a\r\n\r\n"));
    assert!(client.response(false).body_text().starts_with("GET /chat "));
    assert!(client.response(false).body_text().starts_with("GET /next "));
    assert_eq!(gateway.metric("upgrades_total{route=\"/\"}"), 0);
}

#[test]
fn a_101_that_answers_no_offer_is_malformed() {
    let check = |request: &str, response: &'static str| {
        let gateway = switching(Upstream::answering(response).address, "");
        let refusal = gateway.connect().ask(request).refusal();
        assert_eq!(
            refusal, "502 the upstream's response is malformed",
            "{response:?}"
        );
    };
    check("GET / HTTP/1.1\r\nHost: a\r\n\r\n", SWITCH);
    check(OFFER, "HTTP/1.1 101 Switching Protocols\r\n\r\n");
    check(
        OFFER,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
    );
    check(
        OFFER,
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: irc/2\r\n\r\n",
    );
    check(
        OFFER,
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket, h2c\r\n\r\n",
    );
}

#[test]
fn silence_ends_a_tunnel_on_both_sides() {
    let (ended, has_ended) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        peer.read_head().unwrap();
        peer.send(SWITCH);
        ended.send(peer.ends_cleanly()).unwrap();
    });
    let gateway = switching(upstream.address, "timeouts: { upgraded: 50ms }\n");
    let mut client = gateway.connect();
    assert_eq!(client.ask(OFFER).status(), 101);
    assert!(client.ends_cleanly());
    assert!(has_ended.recv_timeout(PATIENCE).unwrap());
    gateway.reaches(
        "client_connections_ended_total{reason=\"upgraded_idle\"}",
        1,
    );
}

#[test]
fn a_broken_end_breaks_the_other() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.read_head().unwrap();
        peer.send(SWITCH);
        // To close with bytes unread is to reset.
        peer.stream.read_exact(&mut [0; 4]).unwrap();
    });
    let gateway = switching(upstream.address, "");
    let mut client = gateway.connect();
    assert_eq!(client.ask(OFFER).status(), 101);
    client.send("stop and more");
    assert!(client.is_reset());
    gateway.reaches("aborted_total{route=\"/\"}", 1);
}

#[test]
fn a_slow_end_of_a_tunnel_slows_the_other() {
    const MEBIBYTE: usize = 1024 * 1024;
    let (stalled, has_stalled) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        peer.read_head().unwrap();
        peer.send(SWITCH);
        // A write that is not taken within this time means that everything in between is full.
        peer.stream
            .set_write_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let piece = vec![b'x'; 65536];
        let mut sent = 0;
        while let Ok(count) = peer.stream.write(&piece) {
            sent += count;
        }
        stalled.send(sent).unwrap();
    });
    let gateway = switching(upstream.address, "");
    let mut client = gateway.connect();
    assert_eq!(client.ask(OFFER).status(), 101);
    let sent = has_stalled.recv_timeout(PATIENCE).unwrap();
    assert!(sent < 32 * MEBIBYTE, "{sent}");
}

#[test]
fn a_tunnel_may_go_on_while_the_gateway_drains_until_the_grace_is_over() {
    let upstream = echo();
    let gateway = switching(upstream.address, "timeouts: { drain: 300ms }\n");
    let mut client = gateway.connect();
    assert_eq!(client.ask(OFFER).status(), 101);
    gateway.tell_to_stop();
    client.send("still");
    assert_eq!(client.bytes(5), "still");
    let told = gateway.join().join("\n");
    assert!(told.contains("1 connections were cut off"), "{told}");
}
