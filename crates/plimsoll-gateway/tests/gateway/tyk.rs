//! Tyk's files and control API, as clients, upstreams and operators meet them.

use crate::support::{Gateway, Message, Nobody, Upstream, field};
use plimsoll_gateway::{Surroundings, Tyk};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;

pub const SECRET: &str = "sesame-of-the-operator";
/// In the environment of every gateway of Tyk's files.
pub const REDIS_PASSWORD: &str = "sesame-of-redis";

/// A directory with Tyk's files.
pub struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("apps")).unwrap();
        let files = Self { dir };
        files.conf(json!({}));
        files
    }

    /// Writes `tyk.conf` with these fields besides those that it needs.
    pub fn conf(&self, more: Value) {
        let path = |name: &str| self.dir.path().join(name).display().to_string();
        let mut conf = json!({
            "listen_port": 0, "secret": SECRET, "app_path": path("apps"), "hash_keys": true,
            "policies": { "policy_source": "file", "policy_record_name": path("policies.json") },
        });
        merge(&mut conf, more);
        self.write("tyk.conf", &conf.to_string());
        if !self.dir.path().join("policies.json").exists() {
            self.write("policies.json", "{}");
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    pub fn api(&self, id: &str, more: Value) {
        let mut api = json!({
            "name": id, "api_id": id, "org_id": "default", "active": true, "use_keyless": true,
            "auth": { "auth_header_name": "Authorization" },
            "definition": { "location": "header", "key": "x-api-version" },
            "version_data": { "not_versioned": true, "versions": { "Default": { "name": "Default", "use_extended_paths": true } } },
            "proxy": { "listen_path": format!("/{id}/"), "target_url": "http://127.0.0.1:9/", "strip_listen_path": true },
        });
        merge(&mut api, more);
        self.write(
            &format!("apps/{id}.json"),
            &serde_json::to_string_pretty(&api).unwrap(),
        );
    }

    pub fn start(&self) -> Gateway {
        self.start_with(1, false)
    }

    /// With these keys from the start.
    pub fn start_with_keys(&self, keys: &str) -> Gateway {
        let (tyk, config, _) = self.open(false).unwrap();
        tyk.make_keys("keys.json", keys).unwrap();
        Gateway::of_tyk(1, tyk, config)
    }

    pub fn start_with(&self, shards: usize, strict: bool) -> Gateway {
        let (tyk, config, _) = self
            .open(strict)
            .unwrap_or_else(|problems| panic!("{problems}"));
        Gateway::of_tyk(shards, tyk, config)
    }

    pub fn open(
        &self,
        strict: bool,
    ) -> Result<(Tyk, plimsoll_gateway::GatewayConfig, Vec<String>), String> {
        let shown = |problems: plimsoll_base::document::Problems| {
            let dir = format!("{}/", self.dir.path().display());
            problems.to_string().replace(&dir, "")
        };
        let around = Surroundings {
            variables: &|name| match name {
                "TYK_SECRET" => Some(SECRET.to_owned()),
                "REDIS_PASSWORD" => Some(REDIS_PASSWORD.to_owned()),
                _ => None,
            },
            ..Surroundings::none()
        };
        Tyk::open(&self.dir.path().join("tyk.conf"), strict, around).map_err(shown)
    }
}

pub fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

pub fn target(upstream: SocketAddr) -> Value {
    json!({ "target_url": format!("http://{upstream}/") })
}

/// One call of the control API.
pub fn call(gateway: &Gateway, method: &str, path: &str, body: &str) -> (u16, Value) {
    call_as(gateway, SECRET, method, path, body)
}

fn call_as(gateway: &Gateway, secret: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    let response = gateway.connect().ask(&format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nx-tyk-authorization: {secret}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let text = response.body_text();
    (
        response.status(),
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    )
}

pub fn ask(gateway: &Gateway, path: &str, key: &str) -> Message {
    let key = match key {
        "" => String::new(),
        key => format!("Authorization: {key}\r\n"),
    };
    gateway
        .connect()
        .ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n{key}\r\n"))
}

pub fn session(more: Value) -> String {
    let mut session = json!({ "rate": 1000, "per": 1, "quota_max": -1, "access_rights": { "keyed": { "api_id": "keyed", "api_name": "keyed", "versions": ["Default"] } } });
    merge(&mut session, more);
    session.to_string()
}

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
fn keys_are_made_and_shown() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.api("keyed", json!({ "use_keyless": false, "use_standard_auth": true, "strip_auth_data": true, "proxy": target(upstream.address) }));
    files.api(
        "other",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start_with(2, false);
    let (status, made) = call(
        &gateway,
        "POST",
        "/tyk/keys/create",
        &session(json!({ "alias": "me" })),
    );
    assert_eq!(
        (status, &made["status"], &made["action"]),
        (200, &json!("ok"), &json!("added"))
    );
    let key = made["key"].as_str().unwrap();
    let hash = made["key_hash"].as_str().unwrap();
    assert_eq!((key.len(), hash.len()), (32, 32));
    let passed = ask(&gateway, "/keyed/", &format!("Bearer {key}"));
    assert_eq!(passed.status(), 200);
    assert_eq!(field(&passed.body_text(), "authorization"), None);
    assert_eq!(
        ask(&gateway, "/other/", key).refusal(),
        "403 Access to this API has been disallowed"
    );
    let (_, shown) = call(&gateway, "GET", &format!("/tyk/keys/{hash}?hashed=1"), "");
    assert_eq!(
        (&shown["alias"], &shown["rate"]),
        (&json!("me"), &json!(1000))
    );
    let other = gateway
        .connect()
        .ask("GET /other/ HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(other.refusal(), "401 Authorization field missing");
}

#[test]
fn a_key_is_changed_and_withdrawn_at_once() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start_with(2, false);
    let key = "a-key-of-mine";
    let path = format!("/tyk/keys/{key}");
    assert_eq!(call(&gateway, "POST", &path, &session(json!({}))).0, 200);
    assert_eq!(ask(&gateway, "/keyed/", key).status(), 200);
    let inactive = session(json!({ "is_inactive": true }));
    assert_eq!(
        call(&gateway, "PUT", &path, &inactive).1["action"],
        "modified"
    );
    assert_eq!(
        ask(&gateway, "/keyed/", key).refusal(),
        "403 Key is inactive, please renew"
    );
    let expired = session(json!({ "expires": 1_000_000_000 }));
    assert_eq!(call(&gateway, "PUT", &path, &expired).0, 200);
    assert_eq!(
        ask(&gateway, "/keyed/", key).refusal(),
        "401 Key has expired, please renew"
    );
    assert_eq!(
        call(&gateway, "DELETE", &path, "").1,
        json!({ "key": key, "status": "ok", "action": "deleted" })
    );
    assert_eq!(
        ask(&gateway, "/keyed/", key).refusal(),
        "403 Access to this API has been disallowed"
    );
    for (method, message) in [
        ("DELETE", "There is no such key found"),
        ("GET", "Key not found"),
        ("PUT", "Key is not found"),
    ] {
        let answer = call(&gateway, method, &path, &session(json!({})));
        assert_eq!(
            answer,
            (404, json!({ "status": "error", "message": message })),
            "{method}"
        );
    }
    assert_eq!(
        ask(&gateway, "/keyed/", "").refusal(),
        "401 Authorization field missing"
    );
}

#[test]
fn keys_have_rates_and_quotas() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.write("policies.json", r#"{ "gold": { "org_id": "default", "rate": 3, "per": 3600, "access_rights": { "keyed": {} }, "key_expires_in": 60 } }"#);
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    files.api("capped", json!({ "global_rate_limit": { "rate": 2, "per": 3600 }, "proxy": target(upstream.address) }));
    let gateway = files.start_with(2, false);
    let statuses = |path: &str, key: &str| -> Vec<u16> {
        (0..4).map(|_| ask(&gateway, path, key).status()).collect()
    };
    let make = |key: &str, body: String| {
        assert_eq!(
            call(&gateway, "POST", &format!("/tyk/keys/{key}"), &body).0,
            200
        )
    };
    make("rate-key", session(json!({ "rate": 2, "per": 3600 })));
    assert_eq!(statuses("/keyed/", "rate-key"), [200, 200, 429, 429]);
    let limited = ask(&gateway, "/keyed/", "rate-key");
    assert_eq!(
        (limited.refusal().as_str(), limited.field("retry-after")),
        ("429 Rate Limit Exceeded", None)
    );
    make(
        "quota-key",
        session(json!({ "quota_max": 2, "quota_renewal_rate": 60 })),
    );
    let first = ask(&gateway, "/keyed/", "quota-key");
    assert_eq!(
        (
            first.field("x-ratelimit-limit"),
            first.field("x-ratelimit-remaining")
        ),
        (Some("2"), Some("1"))
    );
    assert_eq!(statuses("/keyed/", "quota-key"), [200, 403, 403, 403]);
    assert_eq!(
        ask(&gateway, "/keyed/", "quota-key").refusal(),
        "403 Quota exceeded"
    );
    let keep = session(json!({ "quota_max": 3, "quota_renewal_rate": 60 }));
    assert_eq!(
        call(
            &gateway,
            "PUT",
            "/tyk/keys/quota-key?suppress_reset=1",
            &keep
        )
        .0,
        200
    );
    assert_eq!(statuses("/keyed/", "quota-key"), [200, 403, 403, 403]);
    assert_eq!(call(&gateway, "PUT", "/tyk/keys/quota-key", &keep).0, 200);
    assert_eq!(statuses("/keyed/", "quota-key"), [200, 200, 200, 403]);
    make("policy-key", r#"{ "apply_policies": ["gold"] }"#.to_owned());
    assert_eq!(statuses("/keyed/", "policy-key"), [200, 200, 200, 429]);
    let (_, shown) = call(&gateway, "GET", "/tyk/keys/policy-key", "");
    assert!(
        shown["expires"].as_u64().unwrap() > 1_700_000_000,
        "{shown}"
    );
    assert_eq!(statuses("/capped/", ""), [200, 200, 429, 429]);
    assert_eq!(
        ask(&gateway, "/capped/", "").refusal(),
        "429 API Rate Limit Exceeded"
    );
}

/// An API with lists of every kind before `upstream`, and a key that opens everything.
fn ruled(upstream: SocketAddr) -> Gateway {
    let files = Files::new();
    let paths = json!({
        "ignored": [{ "path": "/health$", "method_actions": { "GET": { "action": "no_action", "code": 200, "data": "", "headers": {} } } }],
        "black_list": [{ "path": "/admin", "method": "" }],
        "white_list": [{ "path": "^/open" }, { "path": "/fails" }, { "path": "/old", "disabled": true }],
        "mock_response": [{ "path": "/mock", "method": "GET", "code": 202, "body": "mocked", "headers": { "X-Mock": "1" } }],
        "transform_headers": [{ "path": "/open", "method": "GET", "delete_headers": ["X-Bad"], "add_headers": { "X-Own": "2" } }],
        "transform_response_headers": [{ "path": "/open", "method": "GET", "delete_headers": ["X-Old"], "add_headers": {} }],
        "circuit_breakers": [{ "path": "/fails", "method": "GET", "threshold_percent": 0.5, "samples": 2, "return_to_service_after": 3600 }],
        "size_limits": [{ "path": "/open", "method": "POST", "size_limit": 4 }],
    });
    let version = json!({ "use_extended_paths": true, "extended_paths": paths, "global_headers": { "X-Global": "g" } });
    files.api("ruled", json!({
        "use_keyless": false, "version_data": { "versions": { "Default": version } },
        "proxy": target(upstream), "response_processors": [{ "name": "header_injector", "options": {} }],
    }));
    files.conf(json!({ "allow_master_keys": true }));
    let gateway = files.start();
    assert_eq!(call(&gateway, "POST", "/tyk/keys/master", "{}").0, 200);
    gateway
}

#[test]
fn extended_paths_are_rules() {
    let upstream = Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            let status = if request.head.contains("/fails") {
                500
            } else {
                200
            };
            let body = request.head.replace('\r', "");
            peer.send(&format!(
                "HTTP/1.1 {status} X\r\nX-Old: 1\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    });
    let gateway = ruled(upstream.address);
    let check = |path: &str, key: &str, expected: u16| {
        let response = ask(&gateway, path, key);
        assert_eq!(
            response.status(),
            expected,
            "{path} {}",
            response.body_text()
        );
        response
    };
    check("/ruled/health", "", 200);
    check("/ruled/open/x", "", 401);
    let denied = check("/ruled/admin", "master", 403);
    assert_eq!(denied.refusal(), "403 Requested endpoint is forbidden");
    check("/ruled/%61dmin", "master", 403);
    check("/ruled/old", "master", 403);
    let mocked = check("/ruled/mock", "", 202);
    assert_eq!(
        (mocked.body_text().as_str(), mocked.field("x-mock")),
        ("mocked", Some("1"))
    );
    let request = "GET /ruled/open HTTP/1.1\r\nHost: a\r\nAuthorization: master\r\nX-Bad: 1\r\nX-Own: 1\r\n\r\n";
    let open = gateway.connect().ask(request);
    let seen = open.body_text();
    assert_eq!(
        (
            field(&seen, "x-bad"),
            field(&seen, "x-own"),
            field(&seen, "x-global")
        ),
        (None, Some("2"), Some("g"))
    );
    assert_eq!(open.field("x-old"), None);
    let statuses: Vec<u16> = (0..3)
        .map(|_| ask(&gateway, "/ruled/fails", "master").status())
        .collect();
    assert_eq!(statuses, [500, 500, 503]);
    assert_eq!(
        ask(&gateway, "/ruled/fails", "master").refusal(),
        "503 Service temporarily unavailable."
    );
    let large = "POST /ruled/open HTTP/1.1\r\nHost: a\r\nAuthorization: master\r\nContent-Length: 5\r\n\r\nlarge";
    assert_eq!(
        gateway.connect().ask(large).refusal(),
        "400 Request is too large"
    );
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
fn policies_and_definitions_count_when_the_reload_succeeds() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let policy = |inactive: bool| {
        json!({ "p": { "org_id": "default", "is_inactive": inactive, "access_rights": { "keyed": {} } } }).to_string()
    };
    files.write("policies.json", &policy(false));
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start();
    let named = session(json!({ "apply_policies": ["p"] }));
    assert_eq!(call(&gateway, "POST", "/tyk/keys/a-key", &named).0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 200);
    files.write("policies.json", &policy(true));
    // No name has so long a part: this can be read, and not be carried out.
    let nowhere = format!("http://{}/", "a".repeat(64));
    files.api("other", json!({ "proxy": { "target_url": nowhere } }));
    let (status, told) = call(&gateway, "GET", "/tyk/reload", "");
    assert_eq!(status, 500, "{told}");
    let told = told["message"].as_str().unwrap();
    assert!(told.contains("cannot be resolved"), "{told}");
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 200);
    assert_eq!(call(&gateway, "GET", "/tyk/apis/other", "").0, 404);
    files.api("other", json!({ "proxy": target(upstream.address) }));
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 403);
    assert_eq!(call(&gateway, "GET", "/tyk/apis/other", "").0, 200);
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
fn a_reload_tells_what_is_ignored_and_closed_by_then() {
    let files = Files::new();
    files.conf(json!({ "log_level": "info" }));
    let plain = json!({ "definition": null });
    files.api("plain", plain.clone());
    let gateway = files.start();
    let mut doubtful = plain.clone();
    doubtful["slug"] = json!("a-slug");
    files.api("doubtful", doubtful);
    // What is not served is not told.
    files.write("apps/broken.json", "{");
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 500);
    files.write("apps/broken.json", "{ \"active\": false, \"proxy\": { \"listen_path\": \"/b\", \"target_url\": \"http://127.0.0.1:9\" } }");
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    gateway.hang_up();
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    gateway.tell_to_stop();
    let told = gateway.join();
    let dir = format!("{}/apps/", files.dir.path().display());
    let of_files = told.iter().filter_map(|line| line.strip_prefix(&dir));
    let counts = |line: &&str| !line.contains("not JSON") && !line.starts_with("plain.json");
    let of_files: Vec<&str> = of_files.filter(counts).collect();
    let each = [
        "doubtful.json: fields: 11 supported, 2 ignored (version_data.versions.Default.name, slug), 0 refused",
        "broken.json: `active` is false, so this API is closed; Tyk would serve it",
    ];
    assert!(of_files.len() >= 4, "{told:?}");
    assert!(of_files.chunks(2).all(|told| told == each), "{told:?}");
}

#[test]
fn it_says_that_it_will_leave_before_it_does() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.conf(json!({ "graceful_shutdown_delay_seconds": 2 }));
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
