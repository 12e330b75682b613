//! Rules, as clients and upstreams meet them.

use crate::support::{Gateway, Message, Upstream, field};

fn gateway(upstream: &Upstream, shards: usize, route: &str) -> Gateway {
    Gateway::with_shards(
        shards,
        &format!(
            "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}\nroutes:\n  - path: /api\n    upstream: up\n{route}",
            upstream.address
        ),
    )
}

fn ask(gateway: &Gateway, line: &str, fields: &str) -> Message {
    let request = format!("{line} HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    gateway.connect().ask(&request)
}

#[test]
fn the_first_rule_about_access_decides() {
    let upstream = Upstream::echo();
    let gateway = gateway(
        &upstream,
        1,
        r#"
    policies: { key: { keys: [{ name: a, key: k }] } }
    rules:
      - { at: /health, methods: [GET], exempt: true }
      - { at: /old, reply: { status: 410, fields: { Content-Type: text/plain, X-Since: "2020" }, body: "gone\n" } }
      - { at: "/orders/{id}/secret", deny: true }
      - { at: /orders, allow: true }
      - { at: /health, allow: true }
"#,
    );
    let check = |line: &str, key: &str, expected: u16| {
        let fields = match key {
            "" => String::new(),
            key => format!("Authorization: {key}\r\n"),
        };
        let response = ask(&gateway, line, &fields);
        assert_eq!(response.status(), expected, "{line} {key:?}");
        response
    };
    check("GET /api/health", "", 200);
    check("GET /api/health/x", "", 200);
    check("HEAD /api/health", "", 401);
    check("GET /api/healthy", "k", 403);
    check("GET /api/orders/7", "k", 200);
    check("GET /api/orders/7", "", 401);
    check("GET /api/orders/7/secret", "k", 403);
    check("GET /api/orders/7/%73ecret/x", "k", 403);
    check("GET /api/orders;a=b/7/secret;x", "k", 403);
    check("GET /api/orders/7/%73ecret%3Bx/y", "k", 403);
    check("GET /api/orders/7;x", "k", 200);
    check("GET /api/health;x", "k", 403);
    check("GET /api/other", "k", 403);
    check("GET /api", "k", 403);
    let gone = check("POST /api/old/thing", "", 410);
    assert_eq!(gone.body_text(), "gone\n");
    assert_eq!(gone.field("x-since"), Some("2020"));
    assert_eq!(gone.field("content-type"), Some("text/plain"));
}

/// A gateway with a rule of each kind that restricts or permits, and a route that demands nothing.
fn spelled(upstream: &Upstream) -> Gateway {
    Gateway::start(&format!(
        r#"
upstreams: {{ up: {{ endpoints: ["http://{}"] }} }}
routes:
  - path: /
    upstream: up
    policies: {{ key: {{ keys: [{{ name: a, key: k }}] }} }}
    rules:
      - {{ at: /deny, deny: true }}
      - {{ at: /gone, reply: {{ status: 410 }} }}
      - {{ at: /small, body: 1 }}
      - {{ at: /exempt, exempt: true }}
  - {{ path: /closed, upstream: up, allow_weaker_auth: true, rules: [{{ at: /pub, allow: true }}] }}
  - {{ path: /spaced%20out, upstream: up, allow_weaker_auth: true }}
"#,
        upstream.address
    ))
}

#[test]
fn no_spelling_gets_past_a_rule_that_restricts() {
    let upstream = Upstream::echo();
    let gateway = spelled(&upstream);
    let check = |spelling: &str, refused: Option<u16>| {
        for (rule, expected) in [("deny", 403), ("gone", 410), ("small", 413)] {
            let line = format!("POST {}", spelling.replace('X', rule));
            let fields = "Authorization: k\r\nContent-Length: 2\r\n\r\nab";
            let request = format!("{line} HTTP/1.1\r\nHost: a\r\n{fields}");
            let response = gateway.connect().ask(&request);
            assert_eq!(response.status(), refused.unwrap_or(expected), "{line}");
        }
    };
    for spelling in [
        "/X",
        "/X/x",
        "/X;",
        "/X;a=b/x",
        "/;/X",
        "/;a=b/X/x",
        "/;/;/X",
        "/X;/;",
        "/%3B/X",
        "/%3Bx/X%3by",
        "/%253Bx/X",
        "/X%253Bx",
        "/X.",
        "/X..;y/x",
        "/X%20",
        "/X.%20.",
        "/%20X",
        "/X%3Fx",
        "/X%23x",
        "/X%2500.txt",
        "/X%255Cx",
        "/%255CX",
        "/x%252F..%252FX",
        "/X%252Fx",
        "/X%25u002fx",
        "/X%C0%AFx",
        "/x/%252e%252e/X",
        "/x/%252E.;y/X",
        "/x/..%20/X",
        "/%252e;x/X",
        "/x/y;/%252e%252e/;/%252E%252E/X",
    ] {
        check(spelling, None);
    }
    // What every server reads as something else is refused before.
    for spelling in [
        "//X",
        "/..;/X",
        "/x/..;a=b/X",
        "/x/../X",
        "/%5CX",
        "/x\\..\\X",
        "/x%2FX",
        "/X%00",
    ] {
        check(spelling, Some(400));
    }
    for other in ["/Xy", "/x/X", "/Xy;X", "/x/;/X", "/x;/X", "/DX"] {
        check(other, Some(200));
    }
}

#[test]
fn no_spelling_gets_into_a_rule_that_permits_or_into_another_route() {
    let upstream = Upstream::echo();
    let gateway = spelled(&upstream);
    let check = |path: &str, expected: u16| {
        assert_eq!(
            ask(&gateway, &format!("GET {path}"), "").status(),
            expected,
            "{path}"
        );
    };
    check("/exempt", 200);
    check("/exempt/;/x;y", 200);
    check("/exempt/x%20y.", 200);
    check("/exempt;x", 401);
    check("/;/exempt", 401);
    check("/exempt/%252e%252e/x", 401);
    check("/exempt/;/..%20/x", 401);
    check("/exempt/x%252F..%252F..%252Fx", 401);
    check("/closed/pub/x", 200);
    check("/closed/pub;x", 403);
    check("/closed/pub/%252e%252e/x", 403);
    check("/closed/x/%252e%252e/pub", 403);
    // A path that is another route's to some.
    check("/closed;x/pub", 400);
    check("/;/closed/pub", 400);
    check("/closed/%252e%252e/x", 400);
    check("/exempt/%252e%252e/closed/pub", 400);
    check("/spaced%20out/x", 200);
    check("/spaced%20out/x;y", 200);
    check("/spaced%20out%20/x;y", 400);
    check("/a;b%253Bc/d./%252E%252E%20/%3F%255C/;/c%C0%AFd", 400);
}

#[test]
fn bodies_beyond_a_limit_are_refused_before_they_are_read() {
    let upstream = Upstream::echo();
    let gateway = gateway(
        &upstream,
        1,
        "    rules: [{ at: /small, body: 4 }]\n    prepend: /v1/\n",
    );
    let check = |path: &str, framing: &str, expected: u16| {
        let line = format!("POST {path}");
        let response = ask(&gateway, &line, framing);
        assert_eq!(response.status(), expected, "{path} {framing:?}");
    };
    check("/api/small", "Content-Length: 5\r\n", 413);
    check("/api/small", "Transfer-Encoding: chunked\r\n", 411);
    check("/api/small", "", 200);
    let small = ask(&gateway, "POST /api/small", "Content-Length: 4\r\n\r\nfour");
    assert!(small.body_text().starts_with("POST /v1/api/small "));
    assert!(small.body_text().ends_with("four"));
    let large = "POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nlarge";
    assert_eq!(gateway.connect().ask(large).status(), 200);
}

#[test]
fn fields_are_removed_and_set_both_ways() {
    let upstream = Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            let body = request.head.replace('\r', "");
            let head = format!(
                "HTTP/1.1 200 OK\r\nServer: secret/1\r\nX-Cache: no\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            peer.send(&(head + &body));
        }
    });
    let gateway = gateway(
        &upstream,
        1,
        r"
    rules:
      - { at: /, request_fields: { remove: [X-Debug], set: { X-Env: prod } } }
      - { at: /, response_fields: { remove: [Server], set: { X-Cache: maybe } } }
",
    );
    let response = ask(
        &gateway,
        "GET /api/x",
        "x-debug: 1\r\nX-Env: mine\r\nX-Own: 1\r\n",
    );
    let seen = response.body_text();
    assert_eq!(field(&seen, "x-debug"), None);
    assert_eq!(field(&seen, "x-env"), Some("prod"));
    assert_eq!(field(&seen, "x-own"), Some("1"));
    assert_eq!(seen.matches("X-Env").count(), 1);
    assert_eq!(response.field("server"), None);
    assert_eq!(response.field("x-cache"), Some("maybe"));
}

#[test]
fn a_breaker_opens_for_all_shards_and_asks_the_upstream_no_more() {
    let upstream = Upstream::answering("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    let gateway = gateway(
        &upstream,
        2,
        "    rules: [{ at: /x, breaker: { failure_ratio: 100%, samples: 5, open_for: 1h } }]\n",
    );
    let status = || ask(&gateway, "GET /api/x", "").status();
    let before = (0..10).take_while(|_| status() == 500).count();
    // A window of the ten seconds may end among them, and counting begins anew.
    assert!((5..10).contains(&before), "{before}");
    assert_eq!([status(), status()], [503, 503]);
    let rejected = ask(&gateway, "GET /api/x", "");
    assert_eq!(rejected.field("retry-after"), Some("3600"));
    assert_eq!(ask(&gateway, "GET /api/y", "").status(), 500);
}

#[test]
fn a_timeout_of_a_path_overrides_the_upstreams() {
    let upstream = Upstream::start(|mut peer, _| {
        // Never answers; ends with its client.
        while peer.request().is_some() {}
    });
    let gateway = gateway(&upstream, 1, "    rules: [{ at: /slow, timeout: 20ms }]\n");
    let late = ask(&gateway, "GET /api/slow", "");
    assert_eq!(late.refusal(), "504 the upstream took too long");
}
