//! Keys that are made, shown, changed and withdrawn, with rates and quotas.

use super::*;

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
