//! Keys and rate limits, as clients meet them.

use crate::support::{Gateway, Upstream, field};

fn gateway(upstream: &Upstream, shards: usize, policies: &str) -> Gateway {
    Gateway::with_shards(
        shards,
        &format!(
            "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}\nroutes:\n  - path: /\n    upstream: up\n    policies: {policies}\n",
            upstream.address
        ),
    )
}

#[test]
fn only_requests_with_a_key_of_the_route_pass() {
    let upstream = Upstream::echo();
    let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"; // of `secret`
    let gateway = gateway(
        &upstream,
        1,
        &format!(
            "{{ key: {{ keys: [{{ name: a, key: alpha }}, {{ name: b, sha256: {digest} }}, {{ name: c, key: 42 }}] }} }}"
        ),
    );
    let check = |fields: &str, expected: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        let response = gateway.connect().ask(&request);
        let outcome = match response.status() {
            200 => "passed".to_owned(),
            _ => response.refusal(),
        };
        assert_eq!(outcome, expected, "{fields:?}");
    };
    check("Authorization: alpha\r\n", "passed");
    check("authorization: Bearer alpha\r\n", "passed");
    check("Authorization: bearer secret\r\n", "passed");
    check("Authorization: 42\r\n", "passed");
    check("", "401 this route needs one key");
    check("Authorization:\r\n", "401 this route needs one key");
    check("Authorization: Bearer \r\n", "401 this route needs one key");
    check(
        "Authorization: alpha\r\nAuthorization: alpha\r\n",
        "401 this route needs one key",
    );
    check(
        "Authorization: Alpha\r\n",
        "403 this key may not use this route",
    );
    check(
        "Authorization: alpha2\r\n",
        "403 this key may not use this route",
    );
    check(
        &format!("Authorization: {digest}\r\n"),
        "403 this key may not use this route",
    );
    check("X-Api-Key: alpha\r\n", "401 this route needs one key");
    let refused = gateway.connect().get("/");
    assert_eq!(refused.field("www-authenticate"), Some("Bearer"));
    assert_eq!(refused.field("content-type"), Some("application/json"));
}

#[test]
fn a_hidden_key_does_not_reach_the_upstream() {
    let upstream = Upstream::echo();
    for (hide, expected) in [(true, None), (false, Some("k"))] {
        let policy = format!(
            "{{ key: {{ header: X-Api-Key, hide: {hide}, keys: [{{ name: a, key: k }}] }} }}"
        );
        let gateway = gateway(&upstream, 1, &policy);
        let body = gateway
            .connect()
            .ask("GET / HTTP/1.1\r\nHost: a\r\nX-API-KEY: k\r\n\r\n")
            .body_text();
        assert_eq!(field(&body, "x-api-key"), expected);
    }
}

#[test]
fn a_refused_request_keeps_the_connection_when_its_body_is_small() {
    let upstream = Upstream::echo();
    let gateway = gateway(&upstream, 1, "{ key: { keys: [{ name: a, key: k }] } }");
    let mut client = gateway.connect();
    let refused = client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!((refused.status(), refused.field("connection")), (401, None));
    let passed = client.ask("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: k\r\n\r\n");
    assert_eq!(passed.status(), 200);
    for body in [
        "Content-Length: 10000000",
        "Transfer-Encoding: chunked",
        "Content-Length: 5\r\nExpect: 100-continue",
    ] {
        let mut client = gateway.connect();
        let refused = client.ask(&format!("POST / HTTP/1.1\r\nHost: a\r\n{body}\r\n\r\n"));
        assert_eq!(
            (refused.status(), refused.field("connection")),
            (401, Some("close")),
            "{body}"
        );
    }
}

#[test]
fn beyond_the_limit_429_says_when_to_come_back() {
    let upstream = Upstream::echo();
    let gateway = gateway(
        &upstream,
        1,
        "{ key: { keys: [{ name: a, key: a }, { name: b, key: b }] }, rate_limit: { rate: 1/h, burst: 2, per: key } }",
    );
    let mut client = gateway.connect();
    let mut ask = |key: &str| {
        client.ask(&format!(
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: {key}\r\n\r\n"
        ))
    };
    let statuses: Vec<u16> = ["a", "a", "a", "b", "b", "b"]
        .map(|key| ask(key).status())
        .into();
    assert_eq!(statuses, [200, 200, 429, 200, 200, 429]);
    let refused = ask("a");
    assert_eq!(refused.refusal(), "429 rate limit exceeded");
    let wait: u64 = refused.field("retry-after").unwrap().parse().unwrap();
    assert!((3590..=3600).contains(&wait), "{wait}");
    assert_eq!(
        refused.field("ratelimit-policy"),
        Some("\"key\";q=2;w=7200")
    );
    assert_eq!(
        refused.field("ratelimit"),
        Some(&*format!("\"key\";r=0;t={wait}"))
    );
    assert_eq!(gateway.metric("rate_limited_total{route=\"/\"}"), 3);
}

#[test]
fn a_limit_holds_over_all_shards_together() {
    let upstream = Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let gateway = gateway(
        &upstream,
        3,
        "{ rate_limit: { rate: 1/h, burst: 50, per: route } }",
    );
    let passed: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..12)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = gateway.connect();
                    (0..20).filter(|_| client.get("/").status() == 200).count()
                })
            })
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum()
    });
    assert_eq!(passed, 50);
    gateway.reaches("rate_limited_total{route=\"/\"}", 12 * 20 - 50);
}
