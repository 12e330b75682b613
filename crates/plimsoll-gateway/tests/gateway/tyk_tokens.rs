//! `enable_jwt` in Tyk's definitions: who gets in with a token, how often, and what everybody else is told.

use crate::support::{Gateway, Upstream, field};
use crate::tyk::{Files, ask, call, target};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use serde_json::{Value, json};

const SECRET: &[u8] = b"sesame-of-the-issuer";
/// Far away: seconds since 1970.
const LATER: u64 = 4_000_000_000;

/// A token with these claims.
pub fn token(claims: Value) -> String {
    signed(SECRET, "HS256", &claims)
}

fn signed(secret: &[u8], algorithm: &str, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({ "alg": algorithm })), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes()));
    format!("{message}.{signature}")
}

/// Files with policies for the API `a`, which takes tokens and says this besides.
fn files(upstream: &Upstream, more: Value) -> Files {
    let files = Files::new();
    policies(&files, json!({}));
    token_api(&files, "a", upstream, more);
    files
}

/// An API that takes tokens, and says this besides.
pub fn token_api(files: &Files, id: &str, upstream: &Upstream, more: Value) {
    let mut api = json!({
        "use_keyless": false, "enable_jwt": true, "jwt_signing_method": "hmac",
        "jwt_source": STANDARD.encode(SECRET), "jwt_policy_field_name": "pol",
        "proxy": target(upstream.address),
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        api[name] = value.clone();
    }
    files.api(id, api);
}

fn policies(files: &Files, more: Value) {
    let policy = |rate: u32, organisation: &str| {
        json!({
            "org_id": organisation, "rate": rate, "per": 3600, "quota_max": -1, "active": true,
            "access_rights": { "a": { "api_id": "a", "versions": ["Default"] }, "b": { "api_id": "b" } },
        })
    };
    let mut all = json!({
        "two": policy(2, "default"), "three": policy(3, "default"), "foreign": policy(9, "others"),
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    files.write("policies.json", &all.to_string());
}

/// Answer to a token, in short.
fn told(gateway: &Gateway, token: &str) -> String {
    let response = ask(gateway, "/a/", token);
    match response.status() {
        200 => "200".to_owned(),
        _ => response.refusal(),
    }
}

const LIMITED: &str = "429 Rate Limit Exceeded";

#[test]
fn whoever_a_token_names_has_the_rate_of_the_policy_that_it_names() {
    let upstream = Upstream::echo();
    let gateway = files(&upstream, json!({})).start_with(2, false);
    let ada = |id: u32| token(json!({ "sub": "ada", "pol": "two", "exp": LATER, "jti": id }));
    assert_eq!(told(&gateway, &format!("Bearer {}", ada(1))), "200");
    assert_eq!(told(&gateway, &format!("bEARER {}", ada(2))), "200");
    assert_eq!(told(&gateway, &ada(3)), LIMITED);
    let grace = token(json!({ "sub": "grace", "pol": "three" }));
    let answers: Vec<String> = (0..4).map(|_| told(&gateway, &grace)).collect();
    assert_eq!(answers, ["200", "200", "200", LIMITED]);
    // Another policy is another rate, and what was spent stays spent.
    let joan = |policy: &str| told(&gateway, &token(json!({ "sub": "joan", "pol": policy })));
    let answers = ["two", "three", "three"].map(joan);
    assert_eq!(answers, ["200", "200", LIMITED]);
}

#[test]
fn tokens_that_name_no_policy_have_those_of_the_api() {
    let upstream = Upstream::echo();
    let defaults = json!({ "jwt_default_policies": ["two"], "jwt_identity_base_field": "user.id" });
    let gateway = files(&upstream, defaults).start();
    let ada = token(json!({ "user": { "id": "ada" }, "sub": "x" }));
    let answers: Vec<String> = (0..3).map(|_| told(&gateway, &ada)).collect();
    assert_eq!(answers, ["200", "200", LIMITED]);
    assert_eq!(told(&gateway, &token(json!({ "sub": "x" }))), "200");
    let unknown = files(
        &upstream,
        json!({ "jwt_default_policies": ["foreign", "two"] }),
    );
    let (_, _, notes) = unknown.open(false).unwrap();
    let note = "jwt_default_policies: `default` has no policy `foreign`, so tokens that name none are refused";
    assert!(notes.iter().any(|line| line.ends_with(note)), "{notes:?}");
    assert_eq!(
        told(&unknown.start(), &ada),
        "403 key not authorized: no matching policy"
    );
    let none = files(&upstream, json!({})).start();
    assert_eq!(
        told(&none, &token(json!({ "sub": "ada" }))),
        "403 key not authorized: no matching policy found"
    );
}

#[test]
fn who_has_no_good_token_is_told_so_in_tyks_words() {
    let upstream = Upstream::echo();
    let skew = json!({ "jwt_not_before_validation_skew": 5 });
    let gateway = files(&upstream, skew).start();
    let good = json!({ "sub": "ada", "pol": "two" });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        token(claims)
    };
    let unknown = "403 key not authorized: no matching policy";
    for (token, expected) in [
        (String::new(), "400 Authorization field missing"),
        ("Bearer".to_owned(), "403 Key not authorized"),
        ("nonsense".to_owned(), "403 Key not authorized"),
        (signed(b"another", "HS256", &good), "403 Key not authorized"),
        (signed(SECRET, "HS384", &good), "403 Key not authorized"),
        (
            signed(SECRET, "none", &good),
            "403 Key not authorized: Unexpected signing method",
        ),
        (
            signed(SECRET, "RS256", &good),
            "403 Key not authorized: Unexpected signing method",
        ),
        (
            with("exp", json!(1_000_000_000)),
            "401 Key not authorized: token has expired",
        ),
        (
            with("iat", json!(LATER)),
            "401 Key not authorized: token used before issued",
        ),
        (
            with("nbf", json!(LATER)),
            "401 Key not authorized: token is not valid yet",
        ),
        (
            with("sub", json!("")),
            "403 found an empty user ID in sub claim",
        ),
        (
            with("sub", json!(7)),
            "403 no suitable claims for user ID were found",
        ),
        (with("pol", json!("nobodys")), unknown),
        (with("pol", json!("foreign")), unknown),
        (token(good.clone()), "200"),
    ] {
        assert_eq!(told(&gateway, &token), expected, "{token}");
    }
    let twice = gateway.connect().ask(&format!(
        "GET /a/ HTTP/1.1\r\nHost: a\r\nAuthorization: {0}\r\nAuthorization: {0}\r\n\r\n",
        token(good)
    ));
    assert_eq!(twice.refusal(), "400 Authorization field missing");
}

#[test]
fn the_session_of_a_token_is_seen_and_closed_by_its_name_and_opens_nothing_by_it() {
    let upstream = Upstream::echo();
    let files = files(&upstream, json!({}));
    files.api(
        "b",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start();
    let ada = |expires: u64| token(json!({ "sub": "ada", "pol": "three", "exp": expires }));
    assert_eq!(told(&gateway, &ada(LATER)), "200");
    // The organisation, and the MD5 of `ada`.
    let name = "default8c8d357b5e872bbacd45197626bd5759";
    let path = format!("/tyk/keys/{name}");
    let (status, mut shown) = call(&gateway, "GET", &path, "");
    assert_eq!(status, 200, "{shown}");
    assert_eq!(
        (&shown["alias"], &shown["expires"], &shown["apply_policies"]),
        (&json!("ada"), &json!(LATER), &json!(["three"]))
    );
    assert_eq!(shown["meta_data"], json!({ "TykJWTSessionID": name }));
    let by_name = ask(&gateway, "/b/", name);
    assert_eq!(
        by_name.refusal(),
        "403 Access to this API has been disallowed"
    );
    shown["is_inactive"] = json!(true);
    let (status, answer) = call(&gateway, "PUT", &path, &shown.to_string());
    assert_eq!(status, 200, "{answer}");
    let inactive = "403 Key is inactive, please renew";
    assert_eq!(told(&gateway, &ada(LATER)), inactive);
    // Neither a longer life nor another policy opens it again.
    assert_eq!(told(&gateway, &ada(LATER + 1)), inactive);
    let other = token(json!({ "sub": "ada", "pol": "two", "exp": LATER }));
    assert_eq!(told(&gateway, &other), inactive);
    let (_, shown) = call(&gateway, "GET", &path, "");
    assert_eq!(
        (&shown["expires"], &shown["apply_policies"]),
        (&json!(LATER + 1), &json!(["two"]))
    );
}

#[test]
fn a_quota_is_kept_through_other_policies() {
    let upstream = Upstream::echo();
    let files = files(&upstream, json!({}));
    let quota = |per_api: bool| {
        json!({
            "org_id": "default", "quota_max": 2, "quota_renewal_rate": 3600,
            "partitions": { "per_api": per_api },
            "access_rights": { "a": { "limit": { "quota_max": 2, "quota_renewal_rate": 3600 } } },
        })
    };
    policies(&files, json!({ "own": quota(true), "all": quota(false) }));
    let gateway = files.start();
    let with = |policy: &str| told(&gateway, &token(json!({ "sub": "ada", "pol": policy })));
    for (policy, expected) in [
        ("own", "200"),
        ("all", "200"),
        ("own", "200"),
        ("all", "200"),
        ("own", "403 Quota exceeded"),
        ("all", "403 Quota exceeded"),
    ] {
        assert_eq!(with(policy), expected, "{policy}");
    }
}

#[test]
fn the_field_of_the_token_is_named_and_hidden() {
    let upstream = Upstream::echo();
    let named = json!({
        "auth_configs": { "jwt": { "auth_header_name": "X-Token" } }, "strip_auth_data": true,
        "base_identity_provided_by": "jwt_claim",
    });
    let gateway = files(&upstream, named).start();
    let token = token(json!({ "sub": "ada", "pol": "two" }));
    assert_eq!(told(&gateway, &token), "400 Authorization field missing");
    let passed = gateway.connect().ask(&format!(
        "GET /a/ HTTP/1.1\r\nHost: a\r\nX-Token: {token}\r\n\r\n"
    ));
    assert_eq!(passed.status(), 200);
    assert_eq!(field(&passed.body_text(), "x-token"), None);
}

#[test]
fn what_is_not_base64_opens_nothing_and_keyless_goes_before() {
    let upstream = Upstream::echo();
    let unreadable = files(&upstream, json!({ "jwt_source": "header" }));
    let (_, _, notes) = unreadable.open(false).unwrap();
    let note = "jwt_source: it is not Base64, so no token opens this API, as in Tyk";
    assert!(notes.iter().any(|line| line.ends_with(note)), "{notes:?}");
    let gateway = unreadable.start();
    let token = signed(b"", "HS256", &json!({ "sub": "ada", "pol": "two" }));
    assert_eq!(told(&gateway, &token), "403 Key not authorized");
    let keyless = files(&upstream, json!({ "use_keyless": true })).start();
    assert_eq!(told(&keyless, ""), "200");
}

#[test]
fn what_would_let_in_others_than_tyk_does_is_refused_by_name() {
    let upstream = Upstream::echo();
    let told = |more: Value| {
        let refused = files(&upstream, more).open(false).map(|_| ());
        refused.map_or_else(
            |problems| problems.replace("apps/", ""),
            |()| "loaded".to_owned(),
        )
    };
    let der = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==";
    let all: Vec<String> = [
        json!({ "jwt_source": "" }),
        json!({ "jwt_source": "https://a/jwks" }),
        json!({ "jwt_source": STANDARD.encode("http://a/jwks") }),
        json!({ "jwt_source": der }),
        json!({ "jwt_source": der, "jwt_signing_method": "rsa" }),
        json!({ "jwt_source": der, "jwt_signing_method": "ecdsa" }),
        json!({ "jwt_signing_method": "RS256" }),
        json!({ "jwt_signing_method": "rsa" }),
        json!({ "use_standard_auth": true }),
        json!({ "base_identity_provided_by": "auth_token" }),
        json!({ "base_identity_provided_by": "jwt_claim", "enable_jwt": false }),
        json!({ "jwt_jwks_uris": [{ "url": "https://a" }] }),
        json!({ "jwt_client_base_field": "azp" }),
        json!({ "jwt_client_base_field": "azp", "jwt_policy_field_name": "" }),
        json!({ "jwt_scope_to_policy_mapping": { "read": "two" } }),
        json!({ "scopes": { "jwt": { "scope_to_policy": { "read": "two" } } } }),
        json!({ "scopes": { "jwt": { "scope_claim_name": "scp" } }, "jwt_scope_claim_name": "scp" }),
        json!({ "jwt_disable_expires_at_validation": true }),
        json!({ "auth_configs": { "jwt": { "use_param": true, "use_cookie": true, "disable_header": true } } }),
        json!({ "strip_auth_data": true, "auth_configs": { "authToken": {} } }),
        json!({ "jwt_expires_at_validation_skew": -1 }),
        json!({ "use_jwt": true }),
    ]
    .into_iter()
    .map(|more| format!("{more}\n    {}", told(more.clone())))
    .collect();
    insta::assert_snapshot!(all.join("\n"));
}
