//! Upstreams that are away, close, or talk nonsense; stale connections; limits on connections.

use crate::support::{Gateway, Nobody, PATIENCE, Upstream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";

/// An upstream whose first connection answers one request and closes when it has read the second.
fn closing_on_the_second_request() -> (Upstream, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let upstream = Upstream::start(move |mut peer, number| {
        for served in 0.. {
            if peer.request().is_none() {
                return;
            }
            counter.fetch_add(1, Ordering::SeqCst);
            if number == 0 && served == 1 {
                return;
            }
            peer.send(OK);
        }
    });
    (upstream, requests)
}

#[test]
fn a_stale_connection_costs_a_safe_request_nothing() {
    for method in ["GET", "HEAD", "OPTIONS"] {
        let (upstream, requests) = closing_on_the_second_request();
        let gateway = Gateway::before(upstream.address, "");
        let mut client = gateway.connect();
        let request = format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n");
        let statuses = [client.get("/").status(), client.ask(&request).status()];
        assert_eq!(statuses, [200, 200], "{method}");
        assert_eq!(requests.load(Ordering::SeqCst), 3);
        assert_eq!(gateway.metric("retries_total{upstream=\"up\"}"), 1);
    }
}

#[test]
fn what_is_not_safe_to_repeat_is_sent_once() {
    for request in [
        "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
        "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
    ] {
        let (upstream, requests) = closing_on_the_second_request();
        let gateway = Gateway::before(upstream.address, "");
        let mut client = gateway.connect();
        assert_eq!(client.get("/").status(), 200);
        let refused = client.ask(request);
        assert_eq!(
            refused.refusal(),
            "502 the upstream closed the connection",
            "{request:?}"
        );
        assert_eq!(requests.load(Ordering::SeqCst), 2);
        assert_eq!(gateway.metric("retries_total{upstream=\"up\"}"), 0);
    }
}

#[test]
fn a_connection_that_was_closed_while_idle_is_not_used() {
    let (closed, is_closed) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        peer.request().unwrap();
        peer.send(OK);
        drop(peer);
        closed.send(()).unwrap();
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    for _ in 0..5 {
        let response = client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
        assert_eq!(response.status(), 200);
        is_closed.recv_timeout(PATIENCE).unwrap();
    }
}

#[test]
fn an_upstream_that_began_to_answer_is_not_asked_again() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            match counter.fetch_add(1, Ordering::SeqCst) {
                0 => peer.send(OK),
                _ => return peer.send("HTTP/1.1 200"),
            }
        }
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    assert_eq!(
        [client.get("/").status(), client.get("/").status()],
        [200, 502]
    );
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

#[test]
fn upstream_failures_have_their_status() {
    let check = |response: &'static str, expected: &str| {
        let upstream = Upstream::start(move |mut peer, _| {
            peer.request().unwrap();
            peer.send(response);
        });
        let gateway = Gateway::before(upstream.address, "");
        assert_eq!(
            gateway.connect().get("/").refusal(),
            expected,
            "{response:?}"
        );
    };
    let malformed = "502 the upstream's response is malformed";
    check("", "502 the upstream closed the connection");
    check(
        "HTTP/1.1 200 OK\r\nContent-",
        "502 the upstream closed the connection",
    );
    check("nonsense\r\n\r\n", malformed);
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        malformed,
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        malformed,
    );
    check(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        malformed,
    );
    let nobody = Nobody::new();
    let gateway = Gateway::before(nobody.address, "");
    let refused = gateway.connect().get("/");
    assert_eq!(refused.refusal(), "502 the upstream refused the connection");
    assert_eq!(
        gateway.metric("upstream_errors_total{upstream=\"up\",kind=\"connect\"}"),
        1
    );
    assert_eq!(
        gateway.metric("requests_total{route=\"/\",class=\"5xx\"}"),
        1
    );
}

#[test]
fn over_its_limit_an_endpoint_is_left_alone() {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(std::sync::Mutex::new(may_answer));
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asked.send(()).unwrap();
            may_answer.lock().unwrap().recv().unwrap();
            peer.send(OK);
        }
    });
    let gateway = Gateway::start(&format!(
        "upstreams: {{ up: {{ endpoints: [\"http://{}\"], max_pending: 1 }} }}\nroutes: [{{ path: /, upstream: up }}]\n",
        upstream.address
    ));
    let mut first = gateway.connect();
    first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        gateway.connect().get("/").refusal(),
        "503 no endpoint is available"
    );
    answer.send(()).unwrap();
    assert_eq!(first.response(false).status(), 200);
    answer.send(()).unwrap();
    assert_eq!(gateway.connect().get("/").status(), 200);
}

#[test]
fn one_client_too_many_is_turned_away_at_once() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "limits: { connections: 1 }\n");
    let mut first = gateway.connect();
    assert_eq!(first.get("/").status(), 200);
    let mut second = gateway.connect();
    assert_eq!(second.response(false).refusal(), "503 too many connections");
    assert_eq!(first.get("/").status(), 200);
    assert_eq!(
        gateway.metric("client_connections_refused_total{reason=\"total\"}"),
        1
    );
}
