//! Fields of which time shows the meaning: when keys expire and leave, and when quotas are whole again.

use crate::sinks::until;
use crate::support::{Gateway, Upstream};
use crate::tyk::{Files, ask, call, merge, target};
use serde_json::{Value, json};

/// APIs `a` and `b`, of which these say more, and a policy of each of these names.
fn start(conf: Value, apis: [Value; 2], policies: Value) -> Gateway {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.conf(conf);
    files.write("policies.json", &policies.to_string());
    for (id, more) in ["a", "b"].into_iter().zip(apis) {
        let mut api = json!({ "use_keyless": false, "proxy": target(upstream.address) });
        merge(&mut api, more);
        files.api(id, api);
    }
    files.start()
}

fn plain() -> [Value; 2] {
    [json!({}), json!({})]
}

fn make(gateway: &Gateway, key: &str, session: Value) {
    let made = call(
        gateway,
        "POST",
        &format!("/tyk/keys/{key}"),
        &session.to_string(),
    );
    assert_eq!(made.0, 200, "{}", made.1);
}

fn status(gateway: &Gateway, api: &str, key: &str) -> u16 {
    ask(gateway, &format!("/{api}/"), key).status()
}

fn leaves(gateway: &Gateway, api: &str, key: &str) {
    assert_eq!(status(gateway, api, key), 200, "{key}");
    until(key, || status(gateway, api, key) == 403);
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[test]
fn expiry_has_a_say_where_an_api_or_the_configuration_says_so() {
    let short = || json!({ "session_lifetime": 2 });
    let respectful =
        || json!({ "session_lifetime": 2, "session_lifetime_respects_key_expiration": true });
    let late = |api: &str| json!({ "expires": now() + 3600, "access_rights": { api: {} } });
    let by_api = start(json!({}), [short(), respectful()], json!({}));
    let conf = json!({ "session_lifetime_respects_key_expiration": true });
    let by_conf = start(conf, [short(), short()], json!({}));
    make(&by_conf, "a-key", late("a"));
    make(&by_api, "b-key", late("b"));
    make(&by_api, "a-key", late("a"));
    leaves(&by_api, "a", "a-key");
    assert_eq!(status(&by_api, "b", "b-key"), 200);
    assert_eq!(status(&by_conf, "a", "a-key"), 200);
}

#[test]
fn a_forced_lifetime_is_everybodys() {
    let long = || json!({ "session_lifetime": 3600 });
    let unforced = start(
        json!({ "global_session_lifetime": 2 }),
        [long(), long()],
        json!({}),
    );
    let conf = json!({ "force_global_session_lifetime": true, "global_session_lifetime": 2 });
    let forced = start(conf, [long(), long()], json!({}));
    let endless = json!({ "force_global_session_lifetime": true });
    let endless = start(
        endless,
        [json!({ "session_lifetime": 2 }), json!({})],
        json!({}),
    );
    for gateway in [&unforced, &endless, &forced] {
        make(gateway, "a-key", json!({ "access_rights": { "a": {} } }));
    }
    leaves(&forced, "a", "a-key");
    assert_eq!(status(&unforced, "a", "a-key"), 200);
    assert_eq!(status(&endless, "a", "a-key"), 200);
}

/// A key may say it itself, or its policy.
#[test]
fn what_has_expired_is_deleted_or_retained() {
    let access = json!({ "a": {} });
    let policy = |more: Value| {
        let mut policy = json!({ "org_id": "default", "access_rights": access });
        merge(&mut policy, more);
        policy
    };
    let delete = || json!({ "post_expiry_action": "delete" });
    let retain = |seconds: i64| json!({ "post_expiry_action": "retain", "post_expiry_grace_period": seconds });
    let policies = json!({
        "delete": policy(delete()), "retain": policy(retain(3600)), "shortly": policy(retain(1)),
    });
    let gateway = start(json!({}), plain(), policies);
    let key = |name: &str, more: Value| {
        let mut session = json!({ "expires": now() + 2, "access_rights": access });
        merge(&mut session, more);
        make(&gateway, name, session);
        let path = format!("/tyk/keys/{name}");
        assert_eq!(call(&gateway, "GET", &path, "").0, 200, "{name}");
    };
    key("delete-key", delete());
    key("retain-key", retain(3600));
    key("shortly-key", retain(1));
    for name in ["delete", "retain", "shortly"] {
        key(
            &format!("{name}-by-policy"),
            json!({ "apply_policies": [name] }),
        );
    }
    for how in ["key", "by-policy"] {
        let becomes = |name: &str, expected: u16| {
            let key = format!("{name}-{how}");
            until(&key, || status(&gateway, "a", &key) == expected);
        };
        becomes("delete", 403);
        becomes("retain", 401);
        becomes("shortly", 403);
        assert_eq!(status(&gateway, "a", &format!("retain-{how}")), 401);
    }
}

/// Tyk 5.15, `gateway/api.go`, `checkAndApplyTrialPeriod`: whatever the session says, and never for one that is there.
#[test]
fn a_policy_has_new_keys_expire_and_no_others() {
    let policy = json!({ "org_id": "default", "access_rights": { "a": {} }, "key_expires_in": 60 });
    let gateway = start(json!({}), plain(), json!({ "trial": policy }));
    let expires =
        |key: &str| call(&gateway, "GET", &format!("/tyk/keys/{key}"), "").1["expires"].as_i64();
    let soon = now() + 60..now() + 90;
    for (key, own) in [("plain", json!(0)), ("late", json!(now() + 86_400))] {
        make(
            &gateway,
            key,
            json!({ "apply_policies": ["trial"], "expires": own }),
        );
        let end = expires(key).unwrap();
        assert!(soon.contains(&end), "{key}: {end}");
    }
    let never = json!({ "apply_policies": ["trial"], "expires": 0 }).to_string();
    assert_eq!(call(&gateway, "PUT", "/tyk/keys/plain", &never).0, 200);
    assert_eq!(expires("plain").unwrap_or(0), 0);
}

/// `RedisQuotaExceeded`: without a rate a quota is never whole again.
#[test]
fn quotas_are_whole_again_by_their_rate() {
    let figures = |renewal: i64| json!({ "quota_max": 1, "quota_renewal_rate": renewal });
    let mut policies = json!({});
    for renewal in [0, 1] {
        let mut policy = figures(renewal);
        merge(
            &mut policy,
            json!({ "org_id": "default", "access_rights": { "a": {} } }),
        );
        policies[format!("own-{renewal}")] = policy;
        let access = json!({ "a": { "limit": figures(renewal) } });
        let each = json!({ "org_id": "default", "partitions": { "per_api": true }, "access_rights": access });
        policies[format!("each-{renewal}")] = each;
    }
    let gateway = start(json!({}), plain(), policies);
    let sessions = |renewal: i64| {
        let mut own = figures(renewal);
        merge(&mut own, json!({ "access_rights": { "a": {} } }));
        let limit = json!({ "access_rights": { "a": { "limit": figures(renewal) } } });
        let by = |policy: &str| json!({ "apply_policies": [format!("{policy}-{renewal}")] });
        [own, limit, by("own"), by("each")]
    };
    for renewal in [0, 1] {
        for (number, session) in sessions(renewal).into_iter().enumerate() {
            let key = format!("key-{number}-{renewal}");
            make(&gateway, &key, session);
            assert_eq!(status(&gateway, "a", &key), 200, "{key}");
            assert!(
                (0..100).any(|_| status(&gateway, "a", &key) == 403),
                "{key}"
            );
        }
    }
    for number in 0..4 {
        until("it is whole again", || {
            status(&gateway, "a", &format!("key-{number}-1")) == 200
        });
        assert_eq!(status(&gateway, "a", &format!("key-{number}-0")), 403);
    }
}
