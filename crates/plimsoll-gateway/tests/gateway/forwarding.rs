//! What crosses the gateway and how it changes on the way.

use crate::support::{Gateway, Upstream};

#[test]
fn a_request_is_forwarded_and_its_response_relayed() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    for _ in 0..2 {
        assert_eq!(client.get("/").status(), 200);
    }
    let response = client.ask("POST /a/%62?q=%2F HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nX-Own: 1\r\n\r\nhello");
    let body = response
        .body_text()
        .replace(&upstream.address.to_string(), "UPSTREAM");
    let via = body.find("plimsoll-").unwrap();
    let body = body.replace(&body[via..via + 17], "GATEWAY");
    insta::assert_snapshot!(body, @"
        POST /a/b?q=%2F HTTP/1.1
        Host: UPSTREAM
        X-Own: 1
        X-Forwarded-For: 127.0.0.1
        X-Forwarded-Proto: http
        X-Forwarded-Host: a.example
        Via: 1.1 GATEWAY
        Content-Length: 5

        hello
    ");
    assert_eq!(
        gateway.metric("upstream_connections_new_total{upstream=\"up\"}"),
        1
    );
    assert_eq!(
        gateway.metric("upstream_connections_reused_total{upstream=\"up\"}"),
        2
    );
    assert_eq!(
        gateway.metric("requests_total{route=\"/\",class=\"2xx\"}"),
        3
    );
}
