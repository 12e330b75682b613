//! The API as Toxiproxy 2.12.0 has it.

use crate::serving::{Serving, config, echo};
use plimsoll_fault::{FaultConfig, FaultError, Metrics, run};
use serde_json::Value;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// Method, path and body of a request; status and a part of the body of its answer.
type Exchange = (&'static str, &'static str, &'static str, u16, &'static str);

/// Sends requests in this order.
fn check(serving: &Serving, exchanges: &[Exchange]) {
    for (method, path, body, status, part) in exchanges {
        let answer = serving.call(method, path, body);
        assert_eq!(answer.0, *status, "{method} {path} {body}: {}", answer.1);
        assert!(
            answer.1.contains(part),
            "{method} {path} {body}: {}",
            answer.1
        );
    }
}

/// A proxy's life, and requests that are refused.
const PROXIES: &[Exchange] = &[
    ("GET", "/proxies", "", 200, "{}"),
    (
        "POST",
        "/proxies",
        "",
        400,
        r#""error":"bad request body: EOF","status":400"#,
    ),
    (
        "POST",
        "/proxies",
        "[]",
        400,
        "cannot unmarshal array into Go value of type toxiproxy.Proxy",
    ),
    (
        "POST",
        "/proxies",
        "{}",
        400,
        "missing required field: name",
    ),
    (
        "POST",
        "/proxies",
        r#"{"name": "a"}"#,
        400,
        "missing required field: upstream",
    ),
    (
        "POST",
        "/proxies",
        r#"{"name": "a", "listen": "local", "upstream": "b:1"}"#,
        500,
        "missing port",
    ),
    (
        "POST",
        "/proxies",
        r#"{"NAME": "a", "Listen": "localhost:0", "upstream": "b:1", "x": 1}"#,
        201,
        r#""upstream":"b:1","enabled":true,"Logger":{},"toxics":[]"#,
    ),
    (
        "POST",
        "/proxies",
        r#"{"name": "a", "listen": "localhost:0", "upstream": "b:1"}"#,
        409,
        "proxy already exists",
    ),
    (
        "GET",
        "/proxies/a",
        "",
        200,
        r#""name":"a","listen":"127.0.0.1:"#,
    ),
    ("GET", "/proxies/b", "", 404, "proxy not found"),
    (
        "PATCH",
        "/proxies/a",
        r#"{"enabled": false, "name": "b"}"#,
        200,
        r#""name":"a""#,
    ),
    ("GET", "/proxies/a", "", 200, r#""enabled":false"#),
    (
        "POST",
        "/proxies/a",
        r#"{"enabled": true, "upstream": "c:2"}"#,
        200,
        r#""upstream":"c:2","enabled":true"#,
    ),
    (
        "POST",
        "/proxies/a",
        r#"{"enabled": 1}"#,
        400,
        "cannot unmarshal number 1 into Go struct field Proxy.enabled of type bool",
    ),
    ("DELETE", "/proxies/a", "", 204, ""),
    ("DELETE", "/proxies/a", "", 404, "proxy not found"),
];

#[test]
fn proxies_are_made_changed_and_removed() {
    let serving = Serving::start();
    check(&serving, PROXIES);
}

/// Toxics of a proxy, and requests that are refused.
const TOXICS: &[Exchange] = &[
    ("GET", "/proxies/p/toxics", "", 200, "[]"),
    ("POST", "/proxies/q/toxics", "{}", 404, "proxy not found"),
    ("POST", "/proxies/p/toxics", "{}", 400, "invalid toxic type"),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "latency", "stream": "sideways"}"#,
        400,
        "stream was invalid, can be either upstream or downstream",
    ),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "latency", "attributes": {"latency": "1"}}"#,
        400,
        "bad request body: json: cannot unmarshal string",
    ),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "latency", "attributes": {"latency": 1.5}}"#,
        400,
        "number 1.5",
    ),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "latency", "attributes": {"LATENCY": 7, "other": 1}, "toxicity": 0.3}"#,
        200,
        r#"{"attributes":{"latency":7,"jitter":0},"name":"latency_downstream","type":"latency","stream":"downstream","toxicity":0.3}"#,
    ),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "latency"}"#,
        409,
        "toxic already exists",
    ),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "latency", "stream": "upstream", "name": "latency_downstream"}"#,
        409,
        "toxic already exists",
    ),
    (
        "POST",
        "/proxies/p/toxics",
        r#"{"type": "noop", "stream": "UPSTREAM"}"#,
        200,
        r#""name":"noop_UPSTREAM","type":"noop","stream":"UPSTREAM","toxicity":1"#,
    ),
    (
        "GET",
        "/proxies/p/toxics",
        "",
        200,
        r#"[{"attributes":{},"name":"noop_UPSTREAM""#,
    ),
    (
        "PATCH",
        "/proxies/p/toxics/latency_downstream",
        r#"{"attributes": {"jitter": 2}, "name": "x"}"#,
        200,
        r#"{"latency":7,"jitter":2},"name":"latency_downstream""#,
    ),
    (
        "POST",
        "/proxies/p/toxics/latency_downstream",
        r#"{"toxicity": 1}"#,
        200,
        r#"{"latency":7,"jitter":2}"#,
    ),
    (
        "GET",
        "/proxies/p/toxics/latency_downstream",
        "",
        200,
        r#""toxicity":1}"#,
    ),
    ("GET", "/proxies/p/toxics/x", "", 404, "toxic not found"),
    ("PATCH", "/proxies/p/toxics/x", "{}", 404, "toxic not found"),
    ("DELETE", "/proxies/p/toxics/x", "", 404, "toxic not found"),
    ("DELETE", "/proxies/p/toxics/noop_UPSTREAM", "", 204, ""),
    ("POST", "/reset", "", 204, ""),
    ("GET", "/proxies/p/toxics", "", 200, "[]"),
];

#[test]
fn toxics_are_added_changed_and_removed() {
    let serving = Serving::start();
    serving.proxy("p", echo());
    check(&serving, TOXICS);
}

#[test]
fn populate_keeps_what_is_as_wanted_and_replaces_what_is_not() {
    let serving = Serving::start();
    let one = serving.proxy("one", echo());
    serving.add("one", r#"{"type": "noop"}"#);
    let (_, before) = serving.call("GET", "/proxies/one", "");
    let before = parsed(&before);
    let list = |second: &str| {
        format!(
            r#"[{{"name": "one", "listen": "localhost:{}", "upstream": {}}}, {second}]"#,
            one.port(),
            before["upstream"]
        )
    };
    let (status, body) = serving.call(
        "POST",
        "/populate",
        &list(r#"{"name": "two", "listen": "localhost:0", "upstream": "x:1", "enabled": false}"#),
    );
    assert_eq!(status, 201, "{body}");
    let made = parsed(&body);
    assert_eq!(
        made["proxies"][0], before,
        "it is as it was, toxic included"
    );
    assert_eq!(made["proxies"][1]["enabled"], false);
    let (status, body) = serving.call("POST", "/populate", &list(r#"{"listen": "localhost:0"}"#));
    assert_eq!(status, 400);
    assert_eq!(
        parsed(&body)["error"],
        "missing required field: name at proxy 2"
    );
    let (status, body) = serving.call(
        "POST",
        "/populate",
        &list(r#"{"name": "three", "listen": "local", "upstream": "x:1"}"#),
    );
    assert_eq!(status, 500);
    assert_eq!(parsed(&body)["proxies"][0]["name"], "one");
    let (_, body) = serving.call(
        "POST",
        "/populate",
        r#"[{"name": "one", "listen": "localhost:0", "upstream": "y:1"}]"#,
    );
    assert_eq!(
        parsed(&body)["proxies"][0]["toxics"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn a_port_that_is_taken_is_an_error_and_no_proxy() {
    let serving = Serving::start();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let body = format!(r#"{{"name": "p", "listen": "{address}", "upstream": "x:1"}}"#);
    let (status, body) = serving.call("POST", "/proxies", &body);
    assert_eq!(status, 500);
    assert!(body.contains("bind: address already in use\""), "{body}");
    assert_eq!(serving.call("GET", "/proxies", "").1, "{}");
}

#[test]
fn reset_enables_what_was_disabled() {
    let serving = Serving::start();
    serving.proxy("p", echo());
    check(
        &serving,
        &[
            (
                "PATCH",
                "/proxies/p",
                r#"{"enabled": false}"#,
                200,
                r#""enabled":false"#,
            ),
            ("POST", "/reset", "", 204, ""),
            ("GET", "/proxies/p", "", 200, r#""enabled":true"#),
        ],
    );
}

#[test]
fn paths_and_methods_are_refused_as_by_go() {
    let serving = Serving::start();
    check(
        &serving,
        &[
            ("GET", "/version", "", 200, "{\"version\": \"2.12.0\"}\n"),
            ("GET", "/", "", 404, "404 page not found\n"),
            ("GET", "/metrics", "", 404, "404 page not found\n"),
            ("PUT", "/proxies", "", 405, ""),
            ("HEAD", "/proxies", "", 405, ""),
            ("GET", "/reset", "", 405, ""),
            ("GET", "/populate", "", 405, ""),
        ],
    );
    let (head, _) = serving.exchange("GET", "/version", "", "");
    assert!(head.contains("X-Toxiproxy-Request-Id: "), "{head}");
    assert!(
        head.contains("Content-Type: application/json;charset=utf-8"),
        "{head}"
    );
}

#[test]
fn browsers_foreign_pages_and_foreign_names_are_refused() {
    let serving = Serving::start();
    let status = |serving: &Serving, fields: &str| -> String {
        let (head, _) = serving.exchange("GET", "/proxies", fields, "");
        head[9..12].to_owned()
    };
    for (fields, expected) in [
        ("User-Agent: Wget/2.1\r\n", "200"),
        ("User-Agent: Mozilla/5.0\r\n", "403"),
        ("Origin: http://evil.example\r\n", "403"),
        ("Host: evil.example\r\n", "403"),
        ("Host: 127.0.0.1:8474\r\n", "200"),
    ] {
        assert_eq!(status(&serving, fields), expected, "{fields}");
    }
    let open = Serving::with(FaultConfig {
        admin_open: true,
        ..config()
    });
    assert_eq!(status(&open, "Host: toxiproxy\r\n"), "200");
    assert_eq!(status(&open, "Origin: http://evil.example\r\n"), "403");
}

#[test]
fn metrics_count_while_connections_live() {
    let serving = Serving::with(FaultConfig {
        metrics: Metrics {
            proxies: true,
            runtime: false,
        },
        ..config()
    });
    let mut client = crate::serving::connect(serving.proxy("p", echo()));
    crate::serving::echoed(&mut client, b"12345");
    // The connection lives on; its last byte is counted when it has gone out, which the client may see first.
    loop {
        let (_, text) = serving.call("GET", "/metrics", "");
        let own =
            |line: &&str| line.starts_with("toxiproxy_proxy_") && line.contains(r#"proxy="p""#);
        let samples = text.lines().filter(own);
        let counts: Vec<_> = samples
            .map(|line| line.rsplit(' ').next().unwrap())
            .collect();
        if counts == ["5"; 4] {
            return;
        }
        assert_eq!(counts[..3], ["5"; 3], "{text}");
    }
}

#[test]
fn fields_that_nobody_knows_are_named_in_the_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let serving = Serving::with(FaultConfig {
        log: Arc::new(move |line| heard.lock().unwrap().push(line.to_owned())),
        ..config()
    });
    let body =
        r#"{"name": "a", "listen": "localhost:0", "upstream": "b:1", "wait": 1, "toxics": []}"#;
    assert_eq!(serving.call("POST", "/proxies", body).0, 201);
    assert_eq!(
        *lines.lock().unwrap(),
        ["fault: the API has no field `wait`: ignored"]
    );
}

#[test]
fn a_configuration_that_is_wrong_is_refused_at_start() {
    let start = |body: &str| {
        let config = FaultConfig {
            proxies: Some(("proxies.json".to_owned(), body.as_bytes().to_vec())),
            ..config()
        };
        let (_stop, stopped) = watch::channel(true);
        run(config, |_| {}, stopped)
    };
    start(r#"[{"name": "a", "listen": "localhost:0", "upstream": "b:1"}]"#).unwrap();
    for (body, message) in [
        ("{}", "this is not a list of proxies"),
        (
            r#"[{"name": "a"}]"#,
            "missing required field: upstream at proxy 1",
        ),
        (
            r#"[{"name": "a", "listen": "x", "upstream": "b:1"}]"#,
            "proxy a: listen tcp x: missing port",
        ),
    ] {
        let Err(FaultError::Config(error)) = start(body) else {
            panic!("accepted: {body}");
        };
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn the_network_may_not_change_faults_unless_it_is_let() {
    let config = FaultConfig {
        api: "0.0.0.0:0".parse().unwrap(),
        ..config()
    };
    let (_stop, stopped) = watch::channel(true);
    let refused = run(config, |_| {}, stopped).unwrap_err();
    assert!(refused.to_string().contains("--admin-open"), "{refused}");
}
