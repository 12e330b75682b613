//! Records of requests, and the admin listener that counts them.

use crate::support::{Gateway, Upstream};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

#[test]
fn every_request_leaves_a_record_whose_times_add_up() {
    let upstream = Upstream::echo();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("analytics.jsonl");
    let gateway = Gateway::with_shards(
        2,
        &format!(
            "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}
routes:
  - {{ path: /open, upstream: up }}
  - {{ path: /keyed, upstream: up, policies: {{ key: {{ keys: [{{ name: a, key: secret }}] }} }} }}
analytics: {{ file: {file:?} }}
",
            upstream.address
        ),
    );
    let request = "POST /open/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let length = gateway.connect().ask(request).body.len();
    gateway
        .connect()
        .ask("GET /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: secret\r\n\r\n");
    gateway.connect().get("/keyed");
    gateway.connect().get("/none");
    gateway.connect().get("/a/../b");
    gateway.tell_to_stop();
    gateway.join();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("secret"));
    let mut records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    records.sort_by_key(|record| record["time"].as_str().unwrap().to_owned());
    for record in &records {
        let part = |name: &str| record[name].as_u64().unwrap();
        let sum = part("gateway_us") + part("upstream_us") + part("client_us");
        assert!(sum.abs_diff(part("total_us")) <= 3, "{record}");
    }
    assert_eq!(records[0]["bytes_out"], length);
    assert!(records[0]["upstream_us"].as_u64().unwrap() > 0);
    let shown = records.iter().map(|r| {
        let fields = [
            "route",
            "key_sha256",
            "method",
            "path",
            "status",
            "aborted",
            "bytes_in",
        ];
        fields.map(|name| r[name].to_string()).join(" ") + "\n"
    });
    insta::assert_snapshot!(shown.collect::<String>(), @r#"
    "/open" null "POST" "/open/x" 200 false 5
    "/keyed" "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" "GET" "/keyed" 200 false 0
    "/keyed" null "GET" "/keyed" 401 false 0
    null null "GET" "/none" 404 false 0
    null null "GET" "/a/../b" 400 false 0
    "#);
}

#[test]
fn an_unrecorded_route_leaves_no_records_and_detail_leaves_secrets_out() {
    let upstream = Upstream::echo();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("analytics.jsonl");
    let gateway = Gateway::start(&format!(
        "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}
routes:
  - {{ path: /seen, upstream: up, policies: {{ key: {{ header: X-Own, keys: [{{ name: a, key: hidden }}] }} }} }}
  - {{ path: /unseen, upstream: up, unrecorded: true }}
analytics: {{ file: {file:?}, form: tyk, detailed: {{ body: 4 }} }}
",
        upstream.address
    ));
    gateway.connect().ask(
        "POST /seen?password=hidden HTTP/1.1\r\nHost: a\r\nX-Own: hidden\r\nCookie: c=hidden\r\nContent-Length: 6\r\n\r\n123456",
    );
    gateway.connect().get("/unseen");
    gateway.tell_to_stop();
    gateway.join();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let record: Value = serde_json::from_str(&text).unwrap();
    let decoded = |name: &str| {
        let bytes = BASE64_STANDARD.decode(record[name].as_str().unwrap());
        String::from_utf8(bytes.unwrap()).unwrap().replace('\r', "")
    };
    let request = decoded("raw_request");
    assert!(!request.contains("hidden"), "{request}");
    assert!(request.ends_with("\n\n1234"), "{request}");
    let response = decoded("raw_response");
    assert!(response.starts_with("HTTP/1.1 200 OK\n"), "{response}");
    assert!(response.ends_with("\n\nPOST"), "{response}");
    assert_eq!(record["content_length"], 6);
}

#[test]
fn detail_leaves_out_what_a_server_would_read_as_a_secret() {
    let upstream = Upstream::answering(
        "HTTP/1.1 302 Found\r\nLocation: /cb?state=1&c%6Fde=hidden#access_token=hidden\r\nSet-Cookie: s=hidden\r\nContent-Length: 0\r\n\r\n",
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("analytics.jsonl");
    let gateway = Gateway::before(
        upstream.address,
        &format!(
            "analytics: {{ file: {file:?}, form: tyk, detailed: {{ body: 1KiB }}, redact: [iban] }}\n"
        ),
    );
    let check = |target: &str, fields: &str, body: &str| {
        let request = format!(
            "POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n{fields}\r\n{body}",
            body.len()
        );
        assert_eq!(gateway.connect().ask(&request).status(), 302);
    };
    check("/?acc%65ss_token=hidden&p+=1", "", "");
    check("/?user%5Bpassword%5D=hidden;x=hidden", "", "");
    check(
        "/",
        "rEFERER: https://b/?to%6ben=hidden\r\nX-XSRF-Token: hidden\r\n",
        "",
    );
    let form = "Content-Type: Application/X-WWW-Form-Urlencoded; charset=utf-8\r\n";
    check("/", form, "user=seen&pass%77ord=hidden&new-password=hidden");
    check(
        "/a;jsessionid=hidden/b?sessionId=hidden",
        "X-Session-Id: hidden\r\nDPoP: hidden\r\nX-Iban: hidden\r\n",
        "",
    );
    // What the documents say of other bodies.
    let json = "Content-Type: application/json\r\n";
    check("/", json, "{\"token\":\"in plaintext\"}");
    gateway.tell_to_stop();
    gateway.join();
    let text = std::fs::read_to_string(&file).unwrap();
    let shown = text.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let decoded = |name: &str| {
            let bytes = BASE64_STANDARD.decode(record[name].as_str().unwrap());
            String::from_utf8(bytes.unwrap()).unwrap().replace('\r', "")
        };
        format!("{}{}\n", decoded("raw_request"), decoded("raw_response"))
    });
    let shown: String = shown.collect();
    assert!(!shown.contains("hidden"), "{shown}");
    assert_eq!(
        shown.matches("[redacted]").count(),
        6 * 3 + 6 + 5,
        "{shown}"
    );
    for kept in ["&p+=1", "user=seen&", "in plaintext", "/cb?state=1&"] {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
}

#[test]
fn nothing_is_lost_under_load() {
    let upstream = Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("analytics.jsonl");
    let gateway = Gateway::with_shards(
        2,
        &format!(
            "{}analytics: {{ file: {file:?} }}\n",
            crate::support::to(upstream.address)
        ),
    );
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = gateway.connect();
                for _ in 0..500 {
                    assert_eq!(client.get("/").status(), 200);
                }
            });
        }
    });
    for why in ["refused", "too_fast", "no_room"] {
        let sample = format!("analytics_lost_total{{sink=\"file\",why=\"{why}\"}}");
        assert_eq!(gateway.metric(&sample), 0, "{why}");
    }
    gateway.tell_to_stop();
    gateway.join();
    assert_eq!(
        std::fs::read_to_string(&file).unwrap().lines().count(),
        2000
    );
}

#[test]
fn a_full_disk_costs_records_and_is_told() {
    let upstream = Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let gateway = Gateway::before(upstream.address, "analytics: { file: /dev/full }\n");
    let mut client = gateway.connect();
    assert_eq!(client.get("/").status(), 200);
    let lost = "analytics_lost_total{sink=\"file\",why=\"refused\"}";
    gateway.reaches(lost, 1);
    assert_eq!(client.get("/").status(), 200);
    gateway.reaches(lost, 2);
    assert_eq!(gateway.metric("analytics_written_total{sink=\"file\"}"), 0);
    gateway.tell_to_stop();
    insta::assert_snapshot!(gateway.join().join("\n"), @r"
    /dev/full: analytics cannot be written and are lost until they can: No space left on device (os error 28)
    /dev/full: 2 records were lost: 2 that it did not take, 0 that came too fast, 0 that there was no room for while it was away
    ");
}

#[test]
fn the_admin_listener_answers_known_names_only() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    let check = |request: &str, expected: u16| {
        assert_eq!(
            gateway.admin().ask(request).status(),
            expected,
            "{request:?}"
        );
    };
    check("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200);
    check("HEAD /metrics HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", 200);
    check(
        "GET /metrics HTTP/1.1\r\nHost: [::1]:9\r\nOrigin: http://localhost:3000\r\n\r\n",
        200,
    );
    check("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421);
    check(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
        403,
    );
    check(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n",
        403,
    );
    check("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    check("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404);
}

#[test]
#[expect(clippy::too_many_lines, reason = "the page has so many")]
fn the_metrics_page_is_prometheus_text() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "");
    assert_eq!(gateway.connect().get("/").status(), 200);
    let page = gateway.admin().get_from("localhost", "/metrics");
    assert_eq!(
        page.field("content-type"),
        Some("text/plain; version=0.0.4")
    );
    let text = page.body_text();
    let stable = text.lines().filter(|line| {
        ![
            "seconds_bucket",
            "seconds_sum",
            "client_connections ",
            "_idle{",
        ]
        .iter()
        .any(|varies| line.contains(varies))
    });
    insta::assert_snapshot!(stable.collect::<Vec<_>>().join("\n"), @r#"
    # HELP plimsoll_gateway_requests_total Answers by route and status class; route `none` is for requests that no route covers.
    # TYPE plimsoll_gateway_requests_total counter
    plimsoll_gateway_requests_total{route="/",class="2xx"} 1
    plimsoll_gateway_requests_total{route="/",class="3xx"} 0
    plimsoll_gateway_requests_total{route="/",class="4xx"} 0
    plimsoll_gateway_requests_total{route="/",class="5xx"} 0
    plimsoll_gateway_requests_total{route="none",class="2xx"} 0
    plimsoll_gateway_requests_total{route="none",class="3xx"} 0
    plimsoll_gateway_requests_total{route="none",class="4xx"} 0
    plimsoll_gateway_requests_total{route="none",class="5xx"} 0
    # HELP plimsoll_gateway_upgrades_total Client connections that switched to another protocol.
    # TYPE plimsoll_gateway_upgrades_total counter
    plimsoll_gateway_upgrades_total{route="/"} 0
    plimsoll_gateway_upgrades_total{route="none"} 0
    # HELP plimsoll_gateway_aborted_total Exchanges that broke off before their end.
    # TYPE plimsoll_gateway_aborted_total counter
    plimsoll_gateway_aborted_total{route="/"} 0
    plimsoll_gateway_aborted_total{route="none"} 0
    # HELP plimsoll_gateway_rate_limited_total Requests refused by a rate limit.
    # TYPE plimsoll_gateway_rate_limited_total counter
    plimsoll_gateway_rate_limited_total{route="/"} 0
    plimsoll_gateway_rate_limited_total{route="none"} 0
    # HELP plimsoll_gateway_upgraded_connections Connections that speak another protocol now.
    # TYPE plimsoll_gateway_upgraded_connections gauge
    plimsoll_gateway_upgraded_connections{route="/"} 0
    plimsoll_gateway_upgraded_connections{route="none"} 0
    # HELP plimsoll_gateway_upstream_errors_total Failures of an upstream, by kind.
    # TYPE plimsoll_gateway_upstream_errors_total counter
    plimsoll_gateway_upstream_errors_total{upstream="up",kind="connect"} 0
    plimsoll_gateway_upstream_errors_total{upstream="up",kind="tls"} 0
    plimsoll_gateway_upstream_errors_total{upstream="up",kind="timeout"} 0
    plimsoll_gateway_upstream_errors_total{upstream="up",kind="closed"} 0
    plimsoll_gateway_upstream_errors_total{upstream="up",kind="malformed"} 0
    plimsoll_gateway_upstream_errors_total{upstream="up",kind="unavailable"} 0
    # HELP plimsoll_gateway_retries_total Requests sent again on a new connection.
    # TYPE plimsoll_gateway_retries_total counter
    plimsoll_gateway_retries_total{upstream="up"} 0
    # HELP plimsoll_gateway_retries_refused_total Requests not sent again because the retry budget was used up.
    # TYPE plimsoll_gateway_retries_refused_total counter
    plimsoll_gateway_retries_refused_total{upstream="up"} 0
    # HELP plimsoll_gateway_upstream_connections_new_total Connections made.
    # TYPE plimsoll_gateway_upstream_connections_new_total counter
    plimsoll_gateway_upstream_connections_new_total{upstream="up"} 1
    # HELP plimsoll_gateway_upstream_connections_reused_total Exchanges on an idle connection.
    # TYPE plimsoll_gateway_upstream_connections_reused_total counter
    plimsoll_gateway_upstream_connections_reused_total{upstream="up"} 0
    # HELP plimsoll_gateway_upstream_connections_idle Connections that are idle.
    # TYPE plimsoll_gateway_upstream_connections_idle gauge
    # HELP plimsoll_gateway_upstream_ejections_total Endpoints put out of use because they failed again and again.
    # TYPE plimsoll_gateway_upstream_ejections_total counter
    plimsoll_gateway_upstream_ejections_total{upstream="up"} 0
    # HELP plimsoll_gateway_upstream_failed_checks_total Health checks that failed.
    # TYPE plimsoll_gateway_upstream_failed_checks_total counter
    plimsoll_gateway_upstream_failed_checks_total{upstream="up"} 0
    # HELP plimsoll_gateway_upstream_endpoints_ejected Endpoints that are ejected.
    # TYPE plimsoll_gateway_upstream_endpoints_ejected gauge
    plimsoll_gateway_upstream_endpoints_ejected{upstream="up"} 0
    # HELP plimsoll_gateway_upstream_endpoints_down Endpoints that fail their health checks.
    # TYPE plimsoll_gateway_upstream_endpoints_down gauge
    plimsoll_gateway_upstream_endpoints_down{upstream="up"} 0
    # HELP plimsoll_gateway_generation Which reading of the configuration is served by, from 1.
    # TYPE plimsoll_gateway_generation gauge
    plimsoll_gateway_generation 1
    # HELP plimsoll_gateway_client_connections_refused_total Client connections turned away because there were too many, by of what.
    # TYPE plimsoll_gateway_client_connections_refused_total counter
    plimsoll_gateway_client_connections_refused_total{reason="total"} 0
    plimsoll_gateway_client_connections_refused_total{reason="address"} 0
    plimsoll_gateway_client_connections_refused_total{reason="identity"} 0
    # HELP plimsoll_gateway_http2_streams_refused_total Streams of HTTP/2 refused because their connection had too many exchanges.
    # TYPE plimsoll_gateway_http2_streams_refused_total counter
    plimsoll_gateway_http2_streams_refused_total 0
    # HELP plimsoll_gateway_client_connections_ended_total Client connections that were ended or broken off, by why.
    # TYPE plimsoll_gateway_client_connections_ended_total counter
    plimsoll_gateway_client_connections_ended_total{reason="idle"} 0
    plimsoll_gateway_client_connections_ended_total{reason="slow_head"} 0
    plimsoll_gateway_client_connections_ended_total{reason="broken_head"} 0
    plimsoll_gateway_client_connections_ended_total{reason="malformed"} 0
    plimsoll_gateway_client_connections_ended_total{reason="slow_body"} 0
    plimsoll_gateway_client_connections_ended_total{reason="unread"} 0
    plimsoll_gateway_client_connections_ended_total{reason="revoked"} 0
    plimsoll_gateway_client_connections_ended_total{reason="distrusted"} 0
    plimsoll_gateway_client_connections_ended_total{reason="expired"} 0
    plimsoll_gateway_client_connections_ended_total{reason="upgraded_idle"} 0
    plimsoll_gateway_client_connections_ended_total{reason="flood"} 0
    # HELP plimsoll_gateway_descriptors_exhausted_total Times that a client had to wait to be accepted because no descriptor was left.
    # TYPE plimsoll_gateway_descriptors_exhausted_total counter
    plimsoll_gateway_descriptors_exhausted_total 0
    # HELP plimsoll_gateway_client_connections_panicked_total Client connections that ended by a defect of the gateway.
    # TYPE plimsoll_gateway_client_connections_panicked_total counter
    plimsoll_gateway_client_connections_panicked_total 0
    # HELP plimsoll_gateway_gateway_seconds Time that the gateway itself took for a forwarded exchange.
    # TYPE plimsoll_gateway_gateway_seconds histogram
    plimsoll_gateway_gateway_seconds_count 1
    # HELP plimsoll_gateway_upstream_seconds Time that a forwarded exchange waited for its upstream.
    # TYPE plimsoll_gateway_upstream_seconds histogram
    plimsoll_gateway_upstream_seconds_count 1
    "#);
}
