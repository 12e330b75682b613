//! Meaning of Tyk's files where reading them by the letter would mean something else: who gets in, how often and for how long.

mod lists;

use crate::support::{Gateway, Upstream, field};
use crate::tyk::{Files, ask, call, session, target};
use serde_json::{Value, json};

/// An API whose version says this, before `upstream`.
fn versioned(files: &Files, id: &str, upstream: &Upstream, version: Value, more: Value) {
    let mut api = json!({
        "proxy": target(upstream.address),
        "version_data": { "versions": { "Default": version } },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        api[name] = value.clone();
    }
    files.api(id, api);
}

fn status(gateway: &Gateway, path: &str) -> u16 {
    ask(gateway, path, "").status()
}

#[test]
fn paths_are_anchored_where_the_configuration_says_so() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.conf(json!({ "http_server_options": { "enable_path_prefix_matching": true, "enable_path_suffix_matching": true } }));
    let version = json!({ "extended_paths": { "black_list": [{ "path": "/admin" }] } });
    versioned(&files, "a", &upstream, version, json!({}));
    let gateway = files.start();
    for (path, expected) in [("/a/admin", 403), ("/a/x/admin", 200), ("/a/admin/x", 200)] {
        assert_eq!(status(&gateway, path), expected, "{path}");
    }
}

#[test]
fn limits_and_edits_hold_for_one_method_and_below_the_listen_path() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let version = json!({
        "global_response_headers_remove": ["X-Gone"],
        "extended_paths": {
            "transform_headers": [
                { "path": "/t", "add_headers": { "X-Any": "1" } },
                { "path": "^/a/t", "method": "GET", "add_headers": { "X-Whole": "1" } },
                { "path": "^/t", "method": "GET", "add_headers": { "X-Below": "1" } },
            ],
            "transform_response_headers": [{ "path": "/t", "method": "GET", "add_headers": { "X-Gone": "back", "X-Stays": "1" } }],
            "size_limits": [
                { "path": "/s/large", "method": "POST", "size_limit": 100 },
                { "path": "/s", "method": "POST", "size_limit": 3 },
                { "path": "/s", "method": "DELETE", "size_limit": 3 },
            ],
        },
    });
    versioned(&files, "a", &upstream, version, json!({}));
    let gateway = files.start();
    let answer = ask(&gateway, "/a/t", "");
    let sent = answer.body_text();
    let fields = ["x-any", "x-whole", "x-below"].map(|name| field(&sent, name));
    assert_eq!(fields, [None, None, Some("1")]);
    assert_eq!(
        (answer.field("x-gone"), answer.field("x-stays")),
        (None, Some("1"))
    );
    let post = |method: &str, path: &str| {
        let text = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345");
        gateway.connect().ask(&text).status()
    };
    assert_eq!(post("POST", "/a/s/large"), 200);
    // Tyk's own status for it.
    assert_eq!(post("POST", "/a/s"), 400);
    assert_eq!(post("DELETE", "/a/s"), 200);
}

/// How many of a dozen requests with a key are let through.
fn admitted(gateway: &Gateway, path: &str, key: &str) -> usize {
    let passes = |_: &i32| ask(gateway, path, key).status() == 200;
    (0..12).filter(passes).count()
}

#[test]
fn a_policys_limit_is_each_apis_alone_or_nobodys() {
    let upstream = Upstream::echo();
    let files = Files::new();
    for id in ["a", "b"] {
        files.api(
            id,
            json!({ "use_keyless": false, "proxy": target(upstream.address) }),
        );
    }
    let limited = json!({ "rate": 100, "per": 1 });
    let policy = |figures: Value, access: Value, more: Value| {
        let mut policy = json!({ "org_id": "default", "access_rights": access });
        for part in [figures, more] {
            for (name, value) in part.as_object().into_iter().flatten() {
                policy[name] = value.clone();
            }
        }
        policy
    };
    let two = json!({ "rate": 2, "per": 60 });
    let fast = json!({ "rate": 1000, "per": 1 });
    let policies = json!({
        "per-api": policy(two.clone(), json!({ "a": {}, "b": {} }), json!({ "partitions": { "per_api": true } })),
        "over": policy(two.clone(), json!({ "a": { "limit": limited } }), json!({})),
        "slow": policy(two.clone(), json!({ "a": {} }), json!({})),
        "elsewhere": policy(fast.clone(), json!({ "b": {} }), json!({})),
        "foreign": policy(fast.clone(), json!({ "a": {} }), json!({ "org_id": "other" })),
        "both": policy(fast, json!({ "a": {} }), json!({ "partitions": { "per_api": true, "quota": false } })),
    });
    files.write("policies.json", &policies.to_string());
    let gateway = files.start();
    let make = |key: &str, policies: &[&str]| {
        let named = json!({ "apply_policies": policies }).to_string();
        let (status, told) = call(&gateway, "POST", &format!("/tyk/keys/{key}"), &named);
        assert_eq!(status, 200, "{told}");
    };
    make("per-api", &["per-api"]);
    assert_eq!(admitted(&gateway, "/a/", "per-api"), 2);
    assert_eq!(
        admitted(&gateway, "/b/", "per-api"),
        0,
        "counted together: the policy's limit"
    );
    make("over", &["over"]);
    assert_eq!(admitted(&gateway, "/a/", "over"), 2);
    make("several", &["slow", "elsewhere"]);
    assert_eq!(admitted(&gateway, "/a/", "several"), 2);
    assert_eq!(admitted(&gateway, "/b/", "several"), 12);
    make("foreign", &["foreign"]);
    assert_eq!(ask(&gateway, "/a/", "foreign").status(), 403);
    make("mixed", &["slow", "foreign"]);
    assert_eq!(ask(&gateway, "/a/", "mixed").status(), 403);
}

#[test]
fn keys_leave_when_their_lifetime_is_over() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.api(
        "keyed",
        json!({ "use_keyless": false, "session_lifetime": 2, "proxy": target(upstream.address) }),
    );
    let gateway = files.start();
    let before = jiff::Timestamp::now().as_second();
    assert_eq!(
        call(&gateway, "POST", "/tyk/keys/short", &session(json!({}))).0,
        200
    );
    let longer = session(json!({ "session_lifetime": 600 }));
    assert_eq!(call(&gateway, "POST", "/tyk/keys/longer", &longer).0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "short").status(), 200);
    let after = jiff::Timestamp::now().as_second();
    loop {
        let asked = jiff::Timestamp::now().as_second();
        let status = ask(&gateway, "/keyed/", "short").status();
        let answered = jiff::Timestamp::now().as_second();
        match status {
            200 | 429 => assert!(asked < after + 2, "it lives on"),
            status => {
                assert!(
                    status == 403 && answered >= before + 2,
                    "{status} too early"
                );
                break;
            }
        }
    }
    assert_eq!(call(&gateway, "GET", "/tyk/keys/short", "").0, 404);
    assert_eq!(
        call(&gateway, "PUT", "/tyk/keys/short", &session(json!({}))).0,
        404
    );
    assert_eq!(call(&gateway, "DELETE", "/tyk/keys/short", "").0, 404);
    assert_eq!(ask(&gateway, "/keyed/", "longer").status(), 200);
}

#[test]
fn fields_count_in_any_case_and_once() {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.api(
        "a",
        json!({ "use_keyless": null, "USE_KEYLESS": true, "proxy": target(upstream.address) }),
    );
    let told = files.open(false).map(|_| ()).unwrap_err();
    assert!(
        told.contains("USE_KEYLESS: this is `use_keyless` once more: keep one")
            || told.contains("use_keyless: this is `USE_KEYLESS` once more: keep one"),
        "{told}"
    );
    let text = json!({
        "API_ID": "a", "Use_Keyless": false, "VERSION_DATA": { "Not_Versioned": true, "versions": { "Default": { "NAME": "Default", "Paths": { "Ignored": ["/x"] } } } },
        "proxy": { "Listen_Path": "/a/", "target_URL": format!("http://{}/", upstream.address) },
    });
    files.write("apps/a.json", &text.to_string());
    let gateway = files.start();
    assert_eq!(
        (status(&gateway, "/a/x"), status(&gateway, "/a/y")),
        (200, 401)
    );
}

#[test]
fn an_api_goes_by_its_id_and_not_by_its_files_name() {
    let files = Files::new();
    files.api("first", json!({}));
    let text = |id: &str| {
        json!({
            "api_id": id, "use_keyless": true, "proxy": { "listen_path": format!("/{id}/"), "target_url": "http://127.0.0.1:9/" },
            "version_data": { "not_versioned": true, "versions": { "Default": { "name": "Default" } } },
        })
        .to_string()
    };
    files.write("apps/second.json", &text("third"));
    let gateway = files.start();
    assert_eq!(call(&gateway, "DELETE", "/tyk/apis/second", "").0, 404);
    let (status, told) = call(&gateway, "POST", "/tyk/apis", &text("second"));
    assert_eq!(status, 500, "{told}");
    assert!(
        told["message"]
            .as_str()
            .unwrap()
            .contains("holds another API"),
        "{told}"
    );
    assert_eq!(
        call(&gateway, "PUT", "/tyk/apis/third", &text("third")).0,
        200
    );
    assert_eq!(call(&gateway, "DELETE", "/tyk/apis/third", "").0, 200);
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    assert_eq!(call(&gateway, "GET", "/tyk/apis/third", "").0, 404);
    assert_eq!(call(&gateway, "GET", "/tyk/apis/first", "").0, 200);
}

#[test]
fn without_a_name_there_are_no_policies_and_a_directory_has_one_in_each_file() {
    let files = Files::new();
    files.conf(json!({ "policies": { "policy_source": "file", "policy_record_name": "" } }));
    files.api("first", json!({}));
    files.open(false).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write(
        "one.json",
        r#"{ "id": "p", "org_id": "default", "access_rights": { "first": {} } }"#,
    );
    files.conf(json!({ "policies": { "policy_path": directory.path(), "policy_record_name": "nowhere.json" } }));
    files.open(false).unwrap();
    write("two.json", r#"{ "ID": "p", "access_rights": {} }"#);
    let told = files.open(false).map(|_| ()).unwrap_err();
    assert!(
        told.contains("another file has a policy `p` already"),
        "{told}"
    );
    write("two.json", r#"{ "access_rights": {} }"#);
    let told = files.open(false).map(|_| ()).unwrap_err();
    assert!(told.contains("add `id`"), "{told}");
}

#[test]
fn what_tyk_would_do_and_is_not_done_here_is_refused_by_name() {
    let files = Files::new();
    let scripts = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(scripts.path().join("a/post_auth")).unwrap();
    std::fs::write(scripts.path().join("a/post_auth/check.js"), "").unwrap();
    files.conf(json!({ "middleware_path": scripts.path() }));
    let check = |more: Value, expected: &str| {
        files.api("a", more);
        let told = files.open(false).map(|_| ()).expect_err(expected);
        assert!(told.contains(expected), "{expected}: {told}");
    };
    check(json!({}), "check.js");
    files.conf(json!({ "middleware_path": "" }));
    files.api("a", json!({}));
    files.open(false).unwrap();
    check(
        json!({ "version_data": { "versions": null } }),
        "without a version Tyk answers no request",
    );
    check(
        json!({ "version_data": { "not_versioned": false } }),
        "an API has one version here",
    );
    check(
        json!({ "CORS": { "options_passthrough": true } }),
        "CORS.options_passthrough",
    );
    check(
        json!({ "definition": { "strip_path": true } }),
        "definition.strip_path",
    );
    check(
        json!({ "version_data": { "versions": { "Default": { "global_headers": { "X-A": "env://KEY" } } } } }),
        "`env://` is not followed",
    );
    check(
        json!({ "strip_auth_data": true, "use_keyless": false, "auth_configs": { "jwt": {} } }),
        "strip_auth_data",
    );
    check(
        json!({ "cache_options": { "enable_cache": true, "cache_all_safe_requests": true } }),
        "cache_all_safe_requests",
    );
    check(
        json!({ "version_data": { "versions": { "Default": { "extended_paths": { "cache": [""] } } } } }),
        "extended_paths.cache",
    );
}

#[test]
fn code_is_refused_unless_tyk_would_not_run_it_either() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let code = |driver: &str, hook: Value| json!({ "use_keyless": false, "proxy": target(upstream.address), "custom_middleware": { "driver": driver, "pre": [hook] } });
    let problem = |more: Value| {
        files.api("a", more);
        files.open(false).map(|_| ()).err().unwrap_or_default()
    };
    let hook = json!({ "name": "check", "path": "check.py" });
    let disabled = json!({ "name": "check", "path": "check.js", "disabled": true });
    for driver in ["", "otto", "goplugin", "javascript"] {
        let told = problem(code(driver, hook.clone()));
        assert!(
            told.contains("custom_middleware.pre: code is not run here"),
            "{driver}: {told}"
        );
        assert_eq!(problem(code(driver, disabled.clone())), "", "{driver}");
    }
    assert_eq!(problem(code("python", hook.clone())), "");
    let mut checking = code("python", hook.clone());
    checking["enable_coprocess_auth"] = json!(true);
    assert_eq!(problem(checking.clone()), "");
    let (_, _, notes) = files.open(false).unwrap();
    let told = notes
        .iter()
        .filter(|note| note.contains("`coprocess_options.enable_coprocess` is off"))
        .count();
    assert_eq!(told, 2, "{notes:?}");
    assert_eq!(
        status(&files.start(), "/a/"),
        401,
        "keys are asked for instead"
    );
    files.conf(json!({ "coprocess_options": { "enable_coprocess": true } }));
    let told = problem(checking);
    assert!(
        told.contains("enable_coprocess_auth: code is not run")
            && told.contains("custom_middleware.pre"),
        "{told}"
    );
    let bundle = json!({ "custom_middleware": null, "custom_middleware_bundle": "b.zip" });
    assert!(problem(bundle.clone()).contains("custom_middleware_bundle"));
}

#[test]
fn a_domain_counts_where_domains_are_on() {
    let files = Files::new();
    let domain = json!({ "domain": "a.example" });
    files.api("a", domain.clone());
    files.open(false).unwrap();
    files.conf(json!({ "enable_custom_domains": true }));
    let told = files.open(false).map(|_| ()).unwrap_err();
    assert!(
        told.contains("domain: every API answers to every name here"),
        "{told}"
    );
    files.api(
        "a",
        json!({ "domain": "a.example", "domain_disabled": true }),
    );
    files.open(false).unwrap();
}

#[test]
fn a_name_without_an_address_fails_requests_of_its_api_and_nothing_else() {
    let upstream = Upstream::echo();
    let here = format!("http://{}/", upstream.address);
    // No host is called so, and no server of names needs to be asked.
    let nowhere = "http://-nowhere/";
    let files = Files::new();
    let one = |url: &str| json!({ "proxy": { "target_url": url } });
    files.api("here", one(&here));
    files.api("nowhere", one(nowhere));
    let listed = json!({ "enable_load_balancing": true, "target_list": [nowhere, here] });
    files.api("listed", json!({ "proxy": listed }));
    let gateway = files.start();
    let lost = "{\n    \"error\": \"Upstream host lookup failed\"\n}";
    for _ in 0..2 {
        assert_eq!(status(&gateway, "/here/"), 200);
        assert_eq!(status(&gateway, "/listed/"), 200);
        let answer = ask(&gateway, "/nowhere/", "");
        let got = (answer.status(), answer.body_text());
        assert_eq!(got, (500, lost.to_owned()));
    }
    files.api("nowhere", one(&here));
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    assert_eq!(status(&gateway, "/nowhere/"), 200);
    gateway.tell_to_stop();
    let told = gateway.join();
    let of = |upstream: &str| {
        let line = format!(
            "endpoint `-nowhere:80` of upstream `{upstream}` has no address: it is looked up when requests come, which fail until then"
        );
        told.iter().filter(|told| **told == line).count()
    };
    assert_eq!(
        (of("nowhere"), of("listed"), of("here")),
        (1, 2, 0),
        "{told:?}"
    );
    files.api("nowhere", one(nowhere));
    assert_eq!(status(&files.start_with(1, true), "/nowhere/"), 502);
}

#[test]
fn companions_lie_beside_their_definitions() {
    let files = Files::new();
    files.api("a", json!({}));
    files.write("apps/a-oas.json", "{}");
    files.open(false).unwrap();
    files.write("apps/b-oas.json", "{}");
    let told = files.open(false).map(|_| ()).unwrap_err();
    assert!(told.contains("b-oas.json"), "{told}");
}

#[test]
fn answers_name_the_date_on_which_an_api_expires_until_then() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let lists = json!({
        "black_list": [{ "path": "/closed", "method_actions": { "GET": { "action": "no_action" } } }],
        "mock_response": [{ "path": "/mocked", "method": "GET", "code": 200, "body": "ours" }],
    });
    for (id, expires) in [
        ("late", "2090-01-02 15:04"),
        ("past", "2000-01-02 15:04"),
        ("never", "-1"),
        ("odd", "soon"),
    ] {
        let version = json!({ "expires": expires, "extended_paths": lists });
        let api = json!({
            "use_keyless": false, "version_data": { "versions": { "Default": version } }, "proxy": target(upstream.address),
        });
        files.api(id, api);
    }
    let gateway = files.start();
    let opens = json!({ "late": {}, "past": {}, "never": {}, "odd": {} });
    let made = call(
        &gateway,
        "POST",
        "/tyk/keys/a-key",
        &json!({ "access_rights": opens }).to_string(),
    );
    assert_eq!(made.0, 200, "{}", made.1);
    let check = |path: &str, key: &str, status: u16, expected: Option<&str>| {
        let answered = ask(&gateway, path, key);
        let named = answered.field("X-Tyk-Api-Expires");
        assert_eq!((answered.status(), named), (status, expected), "{path}");
    };
    let date = Some("Mon, 02 Jan 2090 15:04:00 UTC");
    check("/late/x", "a-key", 200, date);
    check("/late/x", "", 401, date);
    check("/late/x", "no-key", 403, date);
    // Tyk answers these before it looks at the date.
    check("/late/closed", "a-key", 403, None);
    check("/late/mocked", "a-key", 200, None);
    for api in ["past", "never", "odd"] {
        check(&format!("/{api}/x"), "a-key", 200, None);
    }
}
