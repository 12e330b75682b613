//! How messages are delimited on either side: HEAD, 204, 304, chunks and trailers, HTTP/1.0, interim responses.

use crate::support::{Gateway, Upstream};

/// A gateway before an upstream that answers everything with `response`.
fn answering(response: &'static str) -> Gateway {
    Gateway::before(Upstream::answering(response).address, "")
}

#[test]
fn messages_without_a_body_keep_their_fields_and_the_connection() {
    let check = |request: &str, response: &'static str, expected: &str| {
        let gateway = answering(response);
        let mut client = gateway.connect();
        for _ in 0..2 {
            let head = client.ask(request).head.replace("\r\n", "|");
            assert_eq!(head, expected, "{response:?}");
        }
    };
    let head = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
    let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    check(
        head,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK|Content-Length: 5||",
    );
    check(
        head,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK||",
    );
    check(
        get,
        "HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n",
        "HTTP/1.1 204 No Content|X: 1||",
    );
    check(
        get,
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
        "HTTP/1.1 304 Not Modified|Content-Length: 9||",
    );
    check(
        get,
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK|Content-Length: 0||",
    );
    check(
        get,
        "HTTP/1.1 299 Odd but fine\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 299 Odd but fine|Content-Length: 0||",
    );
}

#[test]
fn chunks_and_trailers_are_relayed() {
    let gateway = answering(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-Sum: 7\r\n\r\n",
    );
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.get("/");
        assert_eq!(response.body_text(), "abcdefg");
        assert_eq!(response.trailers, "X-Sum: 7\r\n");
        assert_eq!(response.field("trailer"), Some("X-Sum"));
    }
}

#[test]
fn a_chunked_request_is_forwarded_with_its_trailers() {
    let upstream = Upstream::start(|mut peer, _| {
        let request = peer.request().unwrap();
        let body = format!("{}|{}", request.body_text(), request.trailers.trim());
        peer.send(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
    });
    let gateway = Gateway::before(upstream.address, "");
    let response = gateway.connect().ask(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 6\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n",
    );
    assert_eq!(response.body_text(), "hello!|X-Sum: 6");
}

#[test]
fn a_body_that_ends_with_its_connection_is_chunked_for_the_client() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.request().unwrap();
        peer.send("HTTP/1.0 200 OK\r\n\r\nold");
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.get("/");
        assert_eq!(response.field("transfer-encoding"), Some("chunked"));
        assert_eq!(response.body_text(), "old");
    }
}

#[test]
fn a_client_of_http_1_0_gets_no_chunks() {
    let gateway = answering(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: 1\r\n\r\n",
    );
    let mut client = gateway.connect();
    let response = client.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(
        response.head,
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(response.body_text(), "abc");
}

#[test]
fn a_client_of_http_1_0_may_keep_its_connection() {
    let gateway = answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(response.field("connection"), Some("keep-alive"));
    }
    let response = client.ask("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(response.field("connection"), Some("close"));
    assert!(client.ends_cleanly());
}

#[test]
fn interim_responses_reach_clients_that_know_them() {
    let gateway = answering(
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    );
    let mut client = gateway.connect();
    let heads = [
        client.get("/"),
        client.response(false),
        client.response(false),
    ];
    assert_eq!(
        heads.each_ref().map(crate::support::Message::status),
        [102, 103, 200]
    );
    assert_eq!(heads[1].field("link"), Some("</a>"));
    let old = gateway.connect().ask("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(old.status(), 200);
}

#[test]
fn continue_is_the_upstreams_to_say() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    let interim = client
        .ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(interim.status(), 100);
    let response = client.ask("hi");
    assert!(response.body_text().contains("Expect: 100-continue\n"));
    assert!(response.body_text().ends_with("hi"));
    assert_eq!(client.get("/").status(), 200);
}

#[test]
fn an_early_answer_is_relayed_and_ends_the_connection() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.read_head().unwrap();
        peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        assert!(peer.is_reset() || peer.request().is_none());
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    let response = client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegin");
    assert_eq!(
        (response.status(), response.field("connection")),
        (413, Some("close"))
    );
    assert_eq!(response.body_text(), "big");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
    for start in ["GET /1 ", "POST /2 ", "GET /3 "] {
        assert!(
            client.response(false).body_text().starts_with(start),
            "{start}"
        );
    }
}

#[test]
fn what_is_not_http_is_refused_and_the_connection_closed() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(
        upstream.address,
        "limits: { body: 10, target: 256, head: 1KiB }\n",
    );
    let check = |request: &str, expected: u16| {
        let mut client = gateway.connect();
        let response = client.ask(request);
        let shown = (response.status(), response.field("connection"));
        assert_eq!(shown, (expected, Some("close")), "{request:?}");
        assert!(client.ends_cleanly(), "{request:?}");
    };
    check("nonsense\r\n\r\n", 400);
    check("GET / HTTP/1.1\r\n\r\n", 400);

    check(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        400,
    );
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n",
        413,
    );
    check(
        &format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(300)),
        414,
    );
    check(
        &format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
            "x".repeat(2000)
        ),
        431,
    );
    // The refusal arrives although the client goes on sending.
    let rest = "x".repeat(1 << 20);
    check(
        &format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n{rest}"),
        413,
    );
    check("GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505);
}
