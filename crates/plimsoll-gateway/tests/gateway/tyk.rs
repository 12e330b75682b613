//! Tyk's files and control API, as clients, upstreams and operators meet them.

mod files;
mod keys;
mod reloads;
mod rules;

pub use files::{Files, REDIS_PASSWORD, SECRET, ask, call, call_as, merge, session, target};

use crate::support::{Gateway, Message, Nobody, Upstream, field};
use plimsoll_gateway::{Surroundings, Tyk};
use plimsoll_testbed::port;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;

#[test]
fn a_keyless_definition_is_a_route() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.api(
        "bench",
        json!({ "proxy": { "target_url": format!("http://{}/v1/", upstream.address) } }),
    );
    files.api("kept", json!({ "proxy": { "target_url": format!("http://{}", upstream.address), "strip_listen_path": false, "preserve_host_header": true } }));
    let gateway = files.start();
    let first_line = |path: &str| {
        ask(&gateway, path, "")
            .body_text()
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(first_line("/bench/x?y=1"), "GET /v1/x?y=1 HTTP/1.1");
    assert_eq!(first_line("/bench"), "GET /v1 HTTP/1.1");
    assert_eq!(first_line("/kept/x"), "GET /kept/x HTTP/1.1");
    let kept = ask(&gateway, "/kept/x", "").body_text();
    assert_eq!(field(&kept, "host"), Some("a"));
    let none = ask(&gateway, "/benches", "");
    assert_eq!(
        (none.status(), none.body_text().as_str()),
        (404, "Not Found")
    );
    assert_eq!(
        none.field("content-type"),
        Some("text/plain; charset=utf-8")
    );
}

#[test]
fn targets_of_a_list_take_turns() {
    let upstreams = [0, 1].map(|_| Upstream::echo());
    let files = Files::new();
    let urls: Vec<String> = upstreams
        .iter()
        .map(|up| format!("http://{}/", up.address))
        .collect();
    files.api(
        "both",
        json!({ "proxy": { "enable_load_balancing": true, "target_list": urls } }),
    );
    let gateway = files.start();
    let hosts = (0..4).map(|_| {
        field(&ask(&gateway, "/both/", "").body_text(), "host")
            .unwrap()
            .to_owned()
    });
    let hosts: Vec<String> = hosts.collect();
    let expected = [0, 1, 0, 1].map(|index: usize| upstreams[index].address.to_string());
    assert_eq!(hosts, expected);
}

#[test]
fn the_secret_is_demanded_and_its_absence_told() {
    let gateway = Files::new().start();
    let refused = (
        403,
        json!({ "status": "error", "message": "Attempted administrative access with invalid or missing key!" }),
    );
    for secret in ["", "wrong", "Sesame-of-the-operator"] {
        assert_eq!(call_as(&gateway, secret, "GET", "/tyk/apis", ""), refused);
    }
    // Nothing of a stranger's body is waited for.
    let unsent = "POST /tyk/keys/create HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";
    let refusal = gateway.connect().ask(unsent);
    assert_eq!(
        (refusal.status(), refusal.field("connection")),
        (403, Some("close"))
    );
    assert_eq!(call(&gateway, "GET", "/tyk/apis", ""), (200, json!([])));
    let error = |message: &str| json!({ "status": "error", "message": message });
    assert_eq!(
        call(&gateway, "PATCH", "/tyk/keys/x", ""),
        (405, error("Method not supported"))
    );
    assert_eq!(call(&gateway, "GET", "/tyk/certs", "").0, 501);
    assert_eq!(call(&gateway, "GET", "/tyk/certs/one", "").0, 501);
    // No key comes of it, and keys may have names that begin so.
    let preview = call(&gateway, "POST", "/tyk/keys/preview", &session(json!({})));
    assert_eq!(preview.0, 501);
    let named_alike = call(
        &gateway,
        "POST",
        "/tyk/keys/preview-of-it",
        &session(json!({})),
    );
    assert_eq!(named_alike.0, 200, "{}", named_alike.1);
    assert_eq!(
        call(&gateway, "DELETE", "/tyk/keys/preview-of-it", "").0,
        200
    );
    assert_eq!(call(&gateway, "GET", "/tyk/nothing", "").0, 404);
    assert_eq!(call(&gateway, "POST", "/tyk/keys/create", "{").0, 500);
    let (status, told) = call(
        &gateway,
        "POST",
        "/tyk/keys/create",
        r#"{ "rate": 1, "per": 1 }"#,
    );
    assert_eq!(status, 400);
    assert_eq!(
        told,
        error("Failed to create key, keys must have at least one Access Rights record set.")
    );
    assert_eq!(
        call(&gateway, "POST", "/tyk/keys/ab", &session(json!({}))).0,
        400
    );
    assert_eq!(call(&gateway, "GET", "/tyk/keys", "").0, 404);
    let hello = ask(&gateway, "/hello", "");
    assert!(
        hello.body_text().contains("\"status\":\"pass\""),
        "{}",
        hello.body_text()
    );
    assert_eq!(ask(&gateway, "/ready", "").status(), 200);
    gateway.tell_to_stop();
    let told = gateway.join();
    assert!(
        told[0].starts_with("control API: wrong or missing secret from 127.0.0.1"),
        "{told:?}"
    );
}

#[test]
fn definitions_are_written_and_served_after_a_reload() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let gateway = files.start_with(2, false);
    let definition = json!({
        "name": "n", "api_id": "n", "use_keyless": true,
        "version_data": { "not_versioned": true, "versions": { "Default": { "name": "Default" } } },
        "proxy": { "listen_path": "/n/", "target_url": format!("http://{}/", upstream.address), "strip_listen_path": true },
    });
    let done = |action: &str| (200, json!({ "key": "n", "status": "ok", "action": action }));
    assert_eq!(
        call(&gateway, "POST", "/tyk/apis", &definition.to_string()),
        done("added")
    );
    assert_eq!(ask(&gateway, "/n/", "").status(), 404);
    let reloaded = (200, json!({ "status": "ok", "message": "" }));
    assert_eq!(
        call(&gateway, "GET", "/tyk/reload/?block=true", ""),
        reloaded
    );
    assert_eq!(ask(&gateway, "/n/", "").status(), 200);
    assert_eq!(
        call(&gateway, "GET", "/tyk/apis/n", ""),
        (200, definition.clone())
    );
    assert_eq!(
        call(&gateway, "PUT", "/tyk/apis/n", &definition.to_string()),
        done("modified")
    );
    assert_eq!(
        call(&gateway, "PUT", "/tyk/apis/m", &definition.to_string()).0,
        400
    );
    let refused = call(
        &gateway,
        "POST",
        "/tyk/apis",
        r#"{ "api_id": "../x", "use_keyless": true, "proxy": { "listen_path": "/x", "target_url": "http://a" } }"#,
    );
    assert_eq!(refused.0, 400, "{}", refused.1);
    files.write("apps/broken.json", "{ not json");
    let (status, told) = call(&gateway, "GET", "/tyk/reload", "");
    assert_eq!(status, 500);
    assert!(
        told["message"]
            .as_str()
            .unwrap()
            .contains("broken.json:1:3: not JSON"),
        "{told}"
    );
    assert_eq!(ask(&gateway, "/n/", "").status(), 200);
    std::fs::remove_file(files.dir.path().join("apps/broken.json")).unwrap();
    assert_eq!(call(&gateway, "DELETE", "/tyk/apis/n", ""), done("deleted"));
    assert_eq!(call(&gateway, "GET", "/tyk/reload/group", ""), reloaded);
    assert_eq!(ask(&gateway, "/n/", "").status(), 404);
    assert_eq!(call(&gateway, "DELETE", "/tyk/apis/n", "").0, 404);
}

#[test]
fn strict_http_adds_what_tyk_leaves_out() {
    let files = Files::new();
    let gone = Nobody::new();
    files.api("open", json!({ "proxy": target(gone.address) }));
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(gone.address) }),
    );
    for (strict, status, challenge) in [(false, 500, None), (true, 502, Some("Bearer"))] {
        let gateway = files.start_with(1, strict);
        let failed = ask(&gateway, "/open/", "");
        assert_eq!(
            failed.refusal(),
            format!("{status} There was a problem proxying the request")
        );
        assert_eq!(
            ask(&gateway, "/keyed/", "").field("www-authenticate"),
            challenge
        );
    }
}

#[test]
fn every_invalid_file_says_what_is_wrong_and_where() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tyk-invalid");
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    let mut messages = String::new();
    for path in names {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let files = Files::new();
        files.api("first", json!({}));
        match name.split_once('-').unwrap().0 {
            "conf" => files.write("tyk.conf", &text),
            "policies" => files.write("policies.json", &text),
            _ => files.write(&format!("apps/{name}"), &text),
        }
        let problems = files.open(false).map(|_| ()).expect_err(name);
        messages += &format!("{name}\n{problems}\n\n");
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn the_secret_may_be_kept_in_the_environment_in_either_spelling() {
    for secret in [json!("env://TYK_SECRET"), json!({ "env": "TYK_SECRET" })] {
        let files = Files::new();
        files.conf(json!({}));
        let conf = std::fs::read_to_string(files.dir.path().join("tyk.conf")).unwrap();
        let mut conf: Value = serde_json::from_str(&conf).unwrap();
        conf["secret"] = secret;
        files.write("tyk.conf", &conf.to_string());
        files.api("first", json!({}));
        let gateway = files.start();
        assert_eq!(call(&gateway, "GET", "/tyk/apis", "").0, 200);
        let stranger = call_as(&gateway, "env://TYK_SECRET", "GET", "/tyk/apis", "");
        assert_eq!(stranger.0, 403);
    }
}

#[test]
fn what_is_ignored_and_closed_is_told() {
    let files = Files::new();
    files.conf(json!({ "log_level": "info", "storage": { "optimisation_max_idle": 2000 } }));
    files.api("closed", json!({ "active": false, "slug": "closed" }));
    let (_, _, notes) = files.open(false).unwrap();
    let dir = format!("{}/", files.dir.path().display());
    insta::assert_snapshot!(notes.join("\n").replace(&dir, ""));
    assert_eq!(ask(&files.start(), "/closed/", "").status(), 404);
}

#[test]
fn it_says_that_it_will_leave_before_it_does() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let host = port::own_host().to_string();
    files.conf(json!({ "graceful_shutdown_delay_seconds": 2, "listen_address": host }));
    files.api("open", json!({ "proxy": target(upstream.address) }));
    let gateway = files.start_with(2, false);
    let address = gateway.address("main");
    assert_eq!(ask(&gateway, "/ready", "").status(), 200);
    gateway.tell_to_stop();
    let leaving = || ask(&gateway, "/ready", "").status() == 503;
    assert!((0..10_000).any(|_| leaving()));
    let still = ask(&gateway, "/open/", "");
    assert_eq!((still.status(), still.field("connection")), (200, None));
    assert_eq!(ask(&gateway, "/hello", "").status(), 200);
    gateway.join();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_key_expires_and_is_told_so() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start();
    let end = jiff::Timestamp::now().as_second() + 2;
    let short = session(json!({ "expires": end }));
    assert_eq!(call(&gateway, "POST", "/tyk/keys/short", &short).0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "short").status(), 200);
    let expired = |_| ask(&gateway, "/keyed/", "short").status() == 401;
    assert!((0..1_000_000).any(expired));
    assert!(jiff::Timestamp::now().as_second() >= end);
    // Whoever manages keys still finds it, and may renew it.
    assert_eq!(
        call(&gateway, "GET", "/tyk/keys/short", "").1["expires"],
        end
    );
    let renewed = session(json!({ "expires": end + 3600 }));
    assert_eq!(call(&gateway, "PUT", "/tyk/keys/short", &renewed).0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "short").status(), 200);
}

/// Beside `ErrorKind`'s own table: that each is reached, with Tyk's fields.
#[test]
fn what_a_gateway_answers_itself_is_tyks_to_the_byte() {
    let silent = Upstream::start(|mut peer, _| {
        // Until the gateway has had enough of it.
        while peer.request().is_some() {}
    });
    let hasty = Upstream::start(|mut peer, _| {
        peer.request();
    });
    let (echo, gone) = (Upstream::echo(), Nobody::new());
    let files = Files::new();
    files.conf(json!({ "proxy_default_timeout": 0.05 }));
    for (id, address) in [
        ("silent", silent.address),
        ("hasty", hasty.address),
        ("gone", gone.address),
    ] {
        files.api(id, json!({ "proxy": target(address) }));
    }
    let closed = json!({ "white_list": [{ "path": "/open" }] });
    let version = json!({ "use_extended_paths": true, "extended_paths": closed });
    files.api("ruled", json!({ "version_data": { "versions": { "Default": version } }, "proxy": target(echo.address) }));
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(echo.address) }),
    );
    let gateway = files.start();
    let proxying = "There was a problem proxying the request";
    for (path, key, status, message) in [
        ("/gone/", "", 500, proxying),
        ("/hasty/", "", 500, proxying),
        (
            "/silent/",
            "",
            504,
            "Upstream service reached hard timeout.",
        ),
        ("/ruled/", "", 403, "Requested endpoint is forbidden"),
        ("/keyed/", "", 401, "Authorization field missing"),
        (
            "/keyed/",
            "x",
            403,
            "Access to this API has been disallowed",
        ),
    ] {
        let answer = ask(&gateway, path, key);
        let said = [answer.field("content-type"), answer.field("x-generator")];
        assert_eq!(said, [Some("application/json"), Some("tyk.io")], "{path}");
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(
            answer.body_text(),
            format!("{{\n    \"error\": \"{message}\"\n}}")
        );
    }
}

#[test]
fn tyks_own_standalone_files_are_taken_as_they_are() {
    let text = include_str!("../data/tyk.standalone.conf");
    let files = Files::new();
    // Its paths are those of Tyk's image; nothing else is changed.
    let here = |name: &str| files.dir.path().join(name).display().to_string();
    let text = text
        .replace("/opt/tyk-gateway/apps/", &here("apps"))
        .replace(
            "/opt/tyk-gateway/policies/policies.json",
            &here("policies.json"),
        );
    files.write("tyk.conf", &text);
    files.api("bench", json!({}));
    if let Err(problems) = files.open(false) {
        panic!("{problems}");
    }
    // The same off loopback: everybody knows its secret.
    files.write(
        "tyk.conf",
        &text.replace(
            "\"listen_port\"",
            "\"listen_address\": \"0.0.0.0\", \"listen_port\"",
        ),
    );
    let refused = files.open(false).map(|_| ()).unwrap_err();
    assert!(
        refused.contains("tyk.conf:4:13: secret: this is the secret of Tyk's published samples"),
        "{refused}"
    );
}
