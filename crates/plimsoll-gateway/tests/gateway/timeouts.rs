//! Every phase has a time limit; whose fault it was decides the status.

use crate::support::{Gateway, Upstream};

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
