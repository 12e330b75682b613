//! Messages that cross the gateway and how heads change on the way: hop-by-hop rules, forwarding fields, loops, methods.

use crate::support::{Gateway, Nobody, Upstream, field, to};

/// The head that the upstream sees of a `GET /` with `fields`, without what is the same for all requests.
fn seen(gateway: &Gateway, fields: &str) -> String {
    let response = gateway.connect().ask(&format!(
        "GET / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n"
    ));
    assert_eq!(response.status(), 200, "{fields:?}");
    let body = response.body_text();
    let lines = body.lines().filter(|line| {
        let same = ["GET ", "Host: 1", "Via: 1.1 plimsoll-", "X-Forwarded-"];
        !line.is_empty() && !same.iter().any(|start| line.starts_with(start))
    });
    lines.collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_request_is_forwarded_and_its_response_relayed() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    for _ in 0..2 {
        assert_eq!(client.get("/").status(), 200);
    }
    let response = client.ask(
        "POST /a/%62?q=%2F HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nX-Own: 1\r\n\r\nhello",
    );
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
    let new = "upstream_connections_new_total{upstream=\"up\"}";
    let reused = "upstream_connections_reused_total{upstream=\"up\"}";
    assert_eq!((gateway.metric(new), gateway.metric(reused)), (1, 2));
    assert_eq!(
        gateway.metric("requests_total{route=\"/\",class=\"2xx\"}"),
        3
    );
    assert_eq!(gateway.metric("gateway_seconds_count"), 3);
}

#[test]
fn fields_of_one_hop_stay_there_on_requests() {
    let upstream = Upstream::echo();
    let gateway = Gateway::start(&to(upstream.address).replace(
        "upstream: up }",
        "upstream: up, policies: { key: { header: X-Key, keys: [{ name: a, key: k }] } } }",
    ));
    let check = |fields: &str, expected: &str| {
        let actual = seen(&gateway, &format!("X-Key: k\r\n{fields}"));
        assert_eq!(actual.replace("X-Key: k", "KEY"), expected, "{fields:?}");
    };
    check("", "KEY");
    check("Accept: */*\r\n", "KEY | Accept: */*");
    check("Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n", "KEY");
    check("Proxy-Connection: keep-alive\r\n", "KEY");
    check("Proxy-Authorization: Basic eA==\r\n", "KEY");
    check(
        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AA\r\n",
        "KEY",
    );
    check(
        "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n",
        "KEY",
    );
    check("Connection: X-A\r\nX-A: 1\r\nX-B: 2\r\n", "KEY | X-B: 2");
    check(
        "Connection: x-a ,\tX-B\r\nX-A: 1\r\nx-b: 2\r\nX-C: 3\r\n",
        "KEY | X-C: 3",
    );
    check(
        "Connection: X-A\r\nConnection: X-B\r\nX-A: 1\r\nX-B: 2\r\n",
        "KEY",
    );
    check("X-A: 1\r\nX-A: 2\r\nConnection: X-A\r\n", "KEY");
    check("Connection: close, X-A\r\nX-A: 1\r\n", "KEY");
    check("Connection: ,,X-A,\r\nX-A: 1\r\n", "KEY");
    // What the gateway or the upstream's security depends on cannot be named away.
    check(
        "Connection: Authorization\r\nAuthorization: Basic eA==\r\n",
        "KEY | Authorization: Basic eA==",
    );
    check("Connection: Cookie\r\nCookie: a=b\r\n", "KEY | Cookie: a=b");
    check("Connection: X-Key\r\n", "KEY");
    check(
        "Connection: Content-Type\r\nContent-Type: a/b\r\n",
        "KEY | Content-Type: a/b",
    );
    check(
        "X_Forwarded_For: 1.1.1.1\r\nx_real_ip: 1.1.1.1\r\nX_Own: 1\r\n",
        "KEY",
    );
    // What others have traced passes as it came, byte by byte.
    let trace = "traceparent: 00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nTraceState:congo=t61rcWkgMzE ,rojo=00f067aa0ba902b7\r\n";
    check(
        trace,
        "KEY | traceparent: 00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 | TraceState: congo=t61rcWkgMzE ,rojo=00f067aa0ba902b7",
    );
    check("TE: gzip\r\n", "KEY");
    check(
        "TE: gzip, trailers\r\nConnection: TE\r\n",
        "KEY | TE: trailers | Connection: TE",
    );
}

#[test]
fn connection_cannot_remove_what_says_where_a_request_comes_from() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let named = "Connection: Host, X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Via, Content-Length";
    let response = gateway.connect().ask(&format!(
        "POST / HTTP/1.1\r\nHost: a.example\r\n{named}\r\nContent-Length: 2\r\n\r\nhi"
    ));
    let body = response.body_text();
    assert_eq!(field(&body, "x-forwarded-for"), Some("127.0.0.1"));
    assert_eq!(field(&body, "x-forwarded-proto"), Some("http"));
    assert_eq!(field(&body, "x-forwarded-host"), Some("a.example"));
    assert_eq!(field(&body, "content-length"), Some("2"));
    assert!(field(&body, "via").is_some());
    assert!(body.ends_with("\n\nhi"));
}

#[test]
fn fields_of_one_hop_stay_there_on_responses() {
    let check = |fields: &'static str, expected: &str| {
        let upstream = Upstream::start(move |mut peer, _| {
            while peer.request().is_some() {
                peer.send(&format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{fields}\r\n"
                ));
            }
        });
        let gateway = Gateway::before(upstream.address, "");
        let head = gateway.connect().get("/").head;
        let lines = head.lines().skip(1).filter(|line| !line.is_empty());
        let shown = lines.collect::<Vec<_>>().join(" | ");
        assert_eq!(shown, expected, "{fields:?}");
    };
    check("X-A: 1\r\n", "X-A: 1 | Content-Length: 0");
    check(
        "Keep-Alive: timeout=5\r\nConnection: keep-alive\r\n",
        "Content-Length: 0",
    );
    check(
        "Connection: X-A\r\nConnection: X-B\r\nX-A: 1\r\nX-B: 2\r\nX-C: 3\r\n",
        "X-C: 3 | Content-Length: 0",
    );
    check(
        "Connection: Set-Cookie\r\nSet-Cookie: a=b\r\n",
        "Set-Cookie: a=b | Content-Length: 0",
    );
    check(
        "Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\n",
        "Content-Length: 0",
    );
    check("Connection: close\r\n", "Content-Length: 0");
    check("Trailer: X\r\n", "Content-Length: 0");
}

#[test]
fn words_about_earlier_hops_are_believed_only_from_trusted_proxies() {
    let upstream = Upstream::echo();
    let claims = "X-Forwarded-For: 203.0.113.9, 198.51.100.1\r\nX-Forwarded-For: 192.0.2.5\r\nX-Forwarded-Proto: https\r\n\
                  X-Forwarded-Host: outer.example\r\nX-Forwarded-Port: 443\r\nForwarded: for=1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\n";
    let seen = |trusted: &str| {
        let gateway = Gateway::start(&format!(
            "trusted_proxies: [{trusted}]\n{}",
            to(upstream.address)
        ));
        let request = format!("GET / HTTP/1.1\r\nHost: a.example\r\n{claims}\r\n");
        let body = gateway.connect().ask(&request).body_text();
        let lines = body
            .lines()
            .filter(|line| line.contains("orwarded") || line.contains("Real"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    insta::assert_snapshot!(seen("10.0.0.0/8"), @"
    X-Forwarded-For: 127.0.0.1
    X-Forwarded-Proto: http
    X-Forwarded-Host: a.example
    ");
    insta::assert_snapshot!(seen("127.0.0.0/8"), @"
    X-Forwarded-Proto: https
    X-Forwarded-Host: outer.example
    X-Forwarded-Port: 443
    Forwarded: for=1.1.1.1
    X-Real-IP: 1.1.1.1
    X-Forwarded-For: 203.0.113.9, 198.51.100.1, 192.0.2.5, 127.0.0.1
    ");
}

#[test]
fn a_request_that_comes_back_is_refused() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    let body = client.get("/").body_text();
    let via = field(&body, "via").unwrap().to_owned();
    let ask = |via: &str| {
        format!("GET / HTTP/1.1\r\nHost: a\r\nVia: 1.0 fred, 1.1 other (x)\r\nVia: {via}\r\n\r\n")
    };
    assert_eq!(client.ask(&ask("1.1 someone-else")).status(), 200);
    assert_eq!(client.ask(&ask(&via)).status(), 508);
    assert_eq!(
        client
            .ask(&ask(&format!("1.1 a, {via} (comment)")))
            .status(),
        508
    );
}

#[test]
fn a_list_of_connection_options_without_end_is_refused() {
    let gateway = Gateway::before(Upstream::echo().address, "");
    let ask = |count: usize| {
        let options = vec!["x"; count].join(",");
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: {options}\r\n\r\n");
        gateway.connect().ask(&request).status()
    };
    assert_eq!([ask(32), ask(33), ask(10_000)], [200, 400, 400]);
}

#[test]
fn the_host_is_the_endpoints_unless_it_is_preserved() {
    let upstream = Upstream::echo();
    let preserving = to(upstream.address).replace("\"] }", "\"], preserve_host: true }");
    let host = |rest: &str| {
        let body = Gateway::start(rest).connect().get("/").body_text();
        field(&body, "host").unwrap().to_owned()
    };
    assert_eq!(host(&to(upstream.address)), upstream.address.to_string());
    assert_eq!(host(&preserving), "a.example");
}

#[test]
fn methods_that_turn_the_connection_into_something_else_are_refused() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let refusal = |request: &str| gateway.connect().ask(request).refusal();
    assert_eq!(
        refusal("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"),
        "501 CONNECT is not available in this version"
    );
    assert_eq!(
        refusal("TRACE / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        "501 TRACE is not available in this version"
    );
}

#[test]
fn endpoints_take_turns_and_a_dead_one_is_passed_over() {
    let [a, b] = [
        Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"),
        Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"),
    ];
    let nobody = Nobody::new();
    let dead = nobody.address;
    for balance in ["round_robin", "least_pending"] {
        let gateway = Gateway::start(&format!(
            "upstreams: {{ up: {{ endpoints: [\"http://{}\", \"http://{dead}\", \"http://{}\"], balance: {balance} }} }}\n\
             routes:\n  - {{ path: /, upstream: up }}\n",
            a.address, b.address
        ));
        let mut client = gateway.connect();
        let answers: String = (0..6).map(|_| client.get("/").body_text()).collect();
        assert_eq!(answers, "ababab", "{balance}");
        assert_eq!(
            gateway.metric("upstream_errors_total{upstream=\"up\",kind=\"connect\"}"),
            3
        );
    }
}
