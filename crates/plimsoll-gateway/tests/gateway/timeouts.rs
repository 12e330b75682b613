//! Every phase has a time limit; whose fault it was decides the status.

use crate::support::{Gateway, Upstream};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

/// An upstream that accepts, sends `response` and then keeps silent.
fn silent_after(response: &'static str) -> Upstream {
    Upstream::start(move |mut peer, _| {
        peer.read_head();
        peer.send(response);
        peer.request();
    })
}

const POST: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nbe";

#[test]
fn a_slow_head_is_the_clients_fault() {
    let gateway = Gateway::before(
        Upstream::echo().address,
        "timeouts: { request_head: 50ms }\n",
    );
    let mut client = gateway.connect();
    assert_eq!(
        client.ask("GET / HT").refusal(),
        "408 the request's head took too long"
    );
    assert!(client.ends_cleanly());
    let mut mute = gateway.connect();
    assert!(mute.ends_cleanly());
}

#[test]
fn an_idle_connection_ends_quietly_and_a_begun_head_gets_its_own_time() {
    let timeouts = "timeouts: { idle: 50ms, request_head: 50ms }\n";
    let gateway = Gateway::before(Upstream::echo().address, timeouts);
    let mut client = gateway.connect();
    assert_eq!(client.get("/").status(), 200);
    assert!(client.ends_cleanly());
    let mut client = gateway.connect();
    assert_eq!(client.get("/").status(), 200);
    assert_eq!(
        client.ask("GET / HT").refusal(),
        "408 the request's head took too long"
    );
}

#[test]
fn a_head_that_has_begun_has_its_own_time_however_long_the_connection_may_be_idle() {
    // `idle` is longer than the test waits for an answer.
    let timeouts = "timeouts: { idle: 60s, request_head: 50ms }\n";
    let gateway = Gateway::before(Upstream::echo().address, timeouts);
    for requests_before in 0..3 {
        let mut client = gateway.connect();
        for _ in 0..requests_before {
            assert_eq!(client.get("/").status(), 200);
        }
        assert_eq!(
            client.ask("GET / HT").refusal(),
            "408 the request's head took too long",
            "after {requests_before}"
        );
        assert!(client.ends_cleanly());
    }
}

#[test]
fn a_slow_request_body_is_the_clients_fault() {
    let gateway = Gateway::before(silent_after("").address, "timeouts: { idle: 50ms }\n");
    let mut client = gateway.connect();
    assert_eq!(
        client.ask(POST).refusal(),
        "408 the request's body took too long"
    );
    assert!(client.ends_cleanly());
}

#[test]
fn a_slow_response_head_is_the_upstreams_fault() {
    let upstream = silent_after("");
    let gateway = Gateway::before(upstream.address, "timeouts: { response_head: 50ms }\n");
    let mut client = gateway.connect();
    for _ in 0..2 {
        let refused = client.get("/");
        assert_eq!(refused.refusal(), "504 the upstream took too long");
        assert_eq!(refused.field("connection"), None);
    }
    assert_eq!(
        gateway.metric("upstream_errors_total{upstream=\"up\",kind=\"timeout\"}"),
        2
    );
}

/// The timer that the first exchange set is not looked at when the second begins, and ends it all the same.
#[test]
fn a_timer_that_is_set_already_ends_a_later_exchange() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.read_head();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        peer.request();
        peer.request();
    });
    let gateway = Gateway::before(upstream.address, "timeouts: { response_head: 200ms }\n");
    let mut client = gateway.connect();
    assert_eq!(client.get("/").status(), 200);
    assert_eq!(client.get("/").refusal(), "504 the upstream took too long");
}

#[test]
fn an_interim_response_does_not_end_the_exchange_time_limit() {
    let upstream = silent_after("HTTP/1.1 103 Early Hints\r\n\r\n");
    let gateway = Gateway::before(upstream.address, "timeouts: { total: 50ms }\n");
    let mut client = gateway.connect();
    assert_eq!(client.get("/").status(), 103);
    assert_eq!(
        client.response(false).refusal(),
        "504 the upstream took too long"
    );
}

#[test]
fn a_response_that_stops_midway_is_broken_off() {
    let upstream = silent_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    for timeouts in ["idle: 50ms", "total: 50ms"] {
        let gateway = Gateway::before(upstream.address, &format!("timeouts: {{ {timeouts} }}\n"));
        let mut client = gateway.connect();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(client.is_reset(), "{timeouts}");
    }
}

#[test]
fn a_drip_earns_no_time() {
    let limits = "timeouts: { idle: 50ms }\nlimits: { body_rate: 1GiB }\n";
    let gateway = Gateway::before(silent_after("").address, limits);
    let mut client = TcpStream::connect(gateway.address("main")).unwrap();
    client.set_nodelay(true).unwrap();
    client
        .write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
        .unwrap();
    client.set_nonblocking(true).unwrap();
    // One byte after the other, until the gateway has something to say about it.
    while client.peek(&mut [0]).is_err() {
        client.write_all(b"x").ok();
    }
    client.set_nonblocking(false).unwrap();
    let mut told = [0; 12];
    client.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 408");
    gateway.reaches("client_connections_ended_total{reason=\"slow_body\"}", 1);
}

#[test]
fn a_client_that_does_not_take_its_answer_is_cut_off_and_the_upstream_is_not_blamed() {
    let upstream = Upstream::start(|mut peer, _| {
        let piece = "x".repeat(64_000);
        peer.read_head();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 64000000\r\n\r\n");
        for _ in 0..1000 {
            peer.send(&piece);
        }
    });
    let gateway = Gateway::before(upstream.address, "timeouts: { idle: 50ms }\n");
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    gateway.reaches("client_connections_ended_total{reason=\"unread\"}", 1);
    let blamed = "upstream_errors_total{upstream=\"up\",kind=\"timeout\"}";
    assert_eq!(gateway.metric(blamed), 0);
    gateway.tell_to_stop();
    insta::assert_snapshot!(
        gateway.join().join("\n"),
        @"1 connections ended: an answer was not taken"
    );
}

#[test]
fn a_client_that_has_nothing_more_to_say_is_answered() {
    let gateway = Gateway::before(Upstream::echo().address, "");
    let mut client = TcpStream::connect(gateway.address("main")).unwrap();
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    client
        .write_all(format!("{request}{request}").as_bytes())
        .unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
}
