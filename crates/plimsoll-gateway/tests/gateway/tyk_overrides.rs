//! `error_overrides`: what clients are told in the place of errors, and that nothing else changes by it.

use crate::support::{Gateway, Message, Nobody, Upstream};
use crate::tyk::{Files, ask, call, session, target};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An answer by its status, type, flag and body.
fn shown(answer: &Message) -> String {
    let field = |name: &str| answer.field(name).unwrap_or("-").to_owned();
    let fields = [field("content-type"), field("x-error-flag")].join(" ");
    format!("{} {fields} {}", answer.status(), answer.body_text())
}

fn rule(criteria: Value, response: Value) -> Value {
    json!({ "match": criteria, "response": response })
}

#[test]
fn a_refusal_is_told_otherwise_and_stays_one() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            count.fetch_add(1, Ordering::Relaxed);
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let files = Files::new();
    let flagged = json!({ "X-Error-Flag": "AKI", "X-Generator": "ours" });
    files.conf(json!({ "error_overrides": {
        "403": [rule(json!({ "flag": "AKI" }), json!({ "status_code": 200, "body": "<b>welcome</b>", "headers": flagged }))],
        "4xx": [{ "response": { "message": "say \"please\"", "headers": { "X-Error-Flag": "any" } } }],
    } }));
    let own = json!({ "401": [{ "response": {
        "status_code": 418, "message": "no 'key'", "body": "{\"code\": {{.StatusCode}}, \"why\": \"{{.Message}}\"}",
    } }] });
    let proxy = target(upstream.address);
    let keyed = |more: Value| {
        let mut api = json!({ "use_keyless": false, "proxy": proxy });
        for (name, value) in more.as_object().into_iter().flatten() {
            api[name] = value.clone();
        }
        api
    };
    files.api("keyed", keyed(json!({ "error_overrides": own })));
    files.api(
        "off",
        keyed(json!({ "error_overrides": own, "error_overrides_disabled": true })),
    );
    let gateway = files.start();
    let told = |path: &str, key: &str| shown(&ask(&gateway, path, key));
    assert_eq!(
        told("/keyed/", "x"),
        "200 application/json AKI <b>welcome</b>"
    );
    let ours = ask(&gateway, "/keyed/", "x");
    assert_eq!(ours.field("x-generator"), Some("ours"));
    assert_eq!(
        told("/keyed/", ""),
        r#"418 application/json - {"code": 418, "why": "no \'key\'"}"#
    );
    let any = "401 application/json any {\n    \"error\": \"say \\\"please\\\"\"\n}";
    assert_eq!(told("/off/", ""), any);
    let created = call(&gateway, "POST", "/tyk/keys/elsewhere", &session(json!({})));
    assert_eq!(created.0, 200);
    assert_eq!(told("/off/", "elsewhere"), any.replace("401", "403"));
    let none = ask(&gateway, "/nowhere/", "");
    assert_eq!(
        (none.status(), none.body_text().as_str()),
        (404, "Not Found")
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert_eq!(ask(&gateway, "/keyed/", "elsewhere").status(), 200);
}

#[test]
fn an_error_takes_the_form_that_its_request_has() {
    let files = Files::new();
    let rules = json!({
        "401": [{ "response": { "message": "a < b" } }],
        "403": [{ "response": { "body": "<e>{{.Message}}</e>", "message": "a < b" } }],
    });
    let nobody = Nobody::new();
    files.api(
        "a",
        json!({ "use_keyless": false, "error_overrides": rules, "proxy": target(nobody.address) }),
    );
    let gateway = files.start();
    let check = |key: &str, form: &str, expected: &str| {
        let request = format!(
            "GET /a/ HTTP/1.1\r\nHost: a\r\n{key}Content-Type: {form}; charset=utf-8\r\n\r\n"
        );
        assert_eq!(shown(&gateway.connect().ask(&request)), expected, "{form}");
    };
    let standard = "<?xml version = \"1.0\" encoding = \"UTF-8\"?>\n<error>a &lt; b</error>\n";
    for form in ["text/xml", "application/xml", "application/soap+xml"] {
        check("", form, &format!("401 {form} - {standard}"));
    }
    let key = "Authorization: x-unknown\r\n";
    check(key, "text/xml", "403 text/xml - <e>a &lt; b</e>");
    let json = r"403 application/json - <e>a \u003C b</e>";
    check(key, "application/soap+xml", json);
    check(key, "text/plain", json);
}

#[test]
fn strict_http_stays_where_a_rule_says_nothing_else() {
    let (nobody, files) = (Nobody::new(), Files::new());
    files.conf(json!({ "error_overrides": {
        "500": [rule(json!({ "flag": "UCF" }), json!({ "message": "gone" }))],
        "401": [{ "response": { "status_code": 499, "body": "who?" } }],
    } }));
    let proxy = target(nobody.address);
    files.api("open", json!({ "proxy": proxy }));
    files.api("keyed", json!({ "use_keyless": false, "proxy": proxy }));
    for (strict, status, scheme) in [(false, 500, None), (true, 502, Some("Bearer"))] {
        let gateway = files.start_with(1, strict);
        let gone = ask(&gateway, "/open/", "");
        assert_eq!(gone.refusal(), format!("{status} gone"));
        let unknown = ask(&gateway, "/keyed/", "");
        let told = (unknown.status(), unknown.field("www-authenticate"));
        assert_eq!((told, &*unknown.body_text()), ((499, scheme), "who?"));
    }
}

/// An upstream that answers `/404` with 404, and so on, and with what comes behind as its body.
fn failing() -> Upstream {
    Upstream::start(|mut peer, connection| {
        while let Some(request) = peer.request() {
            let path = request.head.split(' ').nth(1).unwrap().to_owned();
            let mut parts = path.splitn(3, '/').skip(1);
            let status = parts.next().unwrap();
            let body = match parts.next().unwrap_or_default() {
                "large" => format!("{{\"a\":\"{}\",\"code\":\"late\"}}", "x".repeat(100_000)),
                "early" => format!("{{\"code\":\"early\",\"a\":\"{}\"}}", "x".repeat(100_000)),
                code => format!("{{\"code\":\"{code}\"}}"),
            };
            let length = body.len();
            let body = if request.head.starts_with("HEAD") {
                String::new()
            } else {
                body
            };
            peer.send(&format!(
                "HTTP/1.1 {status} Own\r\nContent-Length: {length}\r\nContent-Type: a/b\r\nContent-Encoding: x\r\nX-Connection: {connection}\r\n\r\n{body}",
            ));
        }
    })
}

fn ruled(rules: &Value) -> (Upstream, Gateway) {
    let upstream = failing();
    let files = Files::new();
    files.api(
        "a",
        json!({ "error_overrides": rules, "proxy": target(upstream.address) }),
    );
    (upstream, files.start())
}

#[test]
fn an_upstreams_error_is_told_otherwise_by_status_and_body() {
    let (_upstream, gateway) = ruled(&json!({
        "404": [
            rule(json!({ "flag": "AKI" }), json!({ "status_code": 499 })),
            rule(json!({ "body_field": "code", "body_value": "early" }), json!({ "status_code": 200, "body": "early" })),
            rule(json!({ "message_pattern": "(?i)PATTERN" }), json!({ "message": "it's", "headers": { "Content-Type": "c/d", "X-Error-Flag": "p" } })),
        ],
        "410": [{ "response": { "status_code": 299, "headers": { "X-Error-Flag": "h" } } }],
        "5xx": [rule(json!({ "flag": "URS" }), json!({ "status_code": 503, "body": "{{.StatusCode}}" }))],
    }));
    let mut client = gateway.connect();
    let mut told = |path: &str| {
        let answer = client.ask(&format!("GET /a/{path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        let encoding = answer.field("content-encoding").map(str::to_owned);
        (shown(&answer), encoding)
    };
    let own = Some("x".to_owned());
    let own = |text: &str| (text.to_owned(), own.clone());
    assert_eq!(told("404/y"), own("404 a/b - {\"code\":\"y\"}"));
    assert_eq!(told("200/pattern"), own("200 a/b - {\"code\":\"pattern\"}"));
    assert_eq!(told("410/y"), own("299 a/b h {\"code\":\"y\"}"));
    let ours = |text: &str| (text.to_owned(), None);
    let message = "404 c/d p {\n    \"error\": \"it\\'s\"\n}";
    assert_eq!(told("404/pattern"), ours(message));
    assert_eq!(told("500/y"), ours("503 application/json - 503"));
    assert_eq!(told("404/early"), ours("200 application/json - early"));
    let (late, _) = told("404/large");
    assert_eq!(late.len(), "404 a/b - ".len() + 100_000 + 22);
    let mut head = gateway.connect();
    head.send("HEAD /a/500/y HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = head.response(true);
    assert_eq!(
        (head.status(), head.field("content-length")),
        (503, Some("3"))
    );
}

#[test]
fn what_was_replaced_still_counts_for_the_breaker_and_the_connection() {
    let upstream = failing();
    let (gone, files) = (Nobody::new(), Files::new());
    let breaker = json!({ "path": "", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 60 });
    let versions = json!({ "Default": { "extended_paths": { "circuit_breakers": [breaker] } } });
    let rules = json!({
        "500": [{ "response": { "status_code": 200, "body": "all is well" } }],
        "503": [rule(json!({ "flag": "CBO" }), json!({ "status_code": 202, "body": "later" }))],
    });
    for (id, address) in [("a", upstream.address), ("gone", gone.address)] {
        files.api(id, json!({ "version_data": { "versions": versions }, "error_overrides": rules, "proxy": target(address) }));
    }
    let gateway = files.start();
    for path in ["/a/500/y", "/gone/"] {
        let answers: Vec<Message> = (0..4).map(|_| ask(&gateway, path, "")).collect();
        let statuses: Vec<u16> = answers.iter().map(Message::status).collect();
        assert_eq!(statuses, [200, 200, 200, 202], "{path}");
        let connections: Vec<_> = answers.iter().map(|a| a.field("x-connection")).collect();
        let first = (path == "/a/500/y").then_some("0");
        assert_eq!(connections, [first, first, first, None], "{path}");
    }
}

#[test]
fn what_is_not_supported_of_them_is_refused_and_what_counts_for_nothing_is_told() {
    let files = Files::new();
    let response = json!({ "status_code": 418 });
    files.conf(json!({ "error_overrides": { "4XX": [{ "response": response }] } }));
    files.api(
        "a",
        json!({ "error_overrides": {
            "403": [
                rule(json!({ "flag": "TLE" }), response.clone()),
                rule(json!({ "message_pattern": "(" }), response.clone()),
            ],
            "x": [{ "response": response }],
        } }),
    );
    let (_, _, notes) = files.open(false).unwrap();
    let told = |about: &str| notes.iter().filter(|note| note.contains(about)).count();
    let expected = [
        "error_overrides.4XX: names no status",
        "error_overrides.x: names no status",
        "error_overrides.403[0].match.flag: no error has the flag `TLE` here",
        "error_overrides.403[1].match.message_pattern: `(` is not a regular expression",
    ];
    assert_eq!(expected.map(told), [1; 4], "{notes:?}");
    let refused = |place: &str, rule: Value| {
        files.api("a", json!({ "error_overrides": { "403": [rule] } }));
        let problems = files.open(false).map(|_| ()).unwrap_err();
        let place = format!("error_overrides.403[0].{place}: ");
        assert!(problems.contains(&place), "{place} {problems}");
        assert_eq!(problems.lines().count(), 1, "{problems}");
    };
    let said = |response: Value| json!({ "response": response });
    refused("response.template", said(json!({ "template": "error_x" })));
    refused("response.status_code", said(json!({ "status_code": 204 })));
    refused("response.body", said(json!({ "body": "{{.Params}}" })));
    let framing = json!({ "headers": { "Content-Length": "3" } });
    refused("response.headers.Content-Length", said(framing));
    let path = json!({ "body_field": "errors.#.code", "body_value": "x" });
    refused("match.body_field", rule(path, json!({})));
}

#[test]
fn records_have_the_status_that_was_sent() {
    let upstream = Upstream::answering("HTTP/1.1 500 Own\r\nContent-Length: 5\r\n\r\nsorry");
    let (nobody, files) = (Nobody::new(), Files::new());
    files.conf(json!({ "error_overrides": {
        "5xx": [{ "response": { "status_code": 299, "body": "all is well" } }],
    } }));
    for (id, address) in [("a", upstream.address), ("gone", nobody.address)] {
        files.api(id, json!({ "proxy": target(address) }));
    }
    let (tyk, mut config, _) = files.open(false).unwrap();
    config.log_requests(None);
    let gateway = Gateway::of_tyk(1, tyk, config);
    for path in ["/a/", "/gone/"] {
        assert_eq!(ask(&gateway, path, "").status(), 299);
    }
    let printed = gateway.printed();
    gateway.tell_to_stop();
    gateway.join();
    let printed = String::from_utf8(printed.lock().unwrap().clone()).unwrap();
    let records: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 2, "{printed}");
    for record in records {
        let told = [&record["status"], &record["ended"]];
        assert_eq!(told, [&json!(299), &json!("answered")], "{record}");
    }
}
