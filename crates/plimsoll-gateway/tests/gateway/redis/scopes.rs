//! Quotas of APIs and of parts of policies, which all gateways share through Redis.

use super::*;

/// Fields about a quota of three requests.
fn three() -> serde_json::Value {
    json!({ "quota_max": 3, "quota_renewal_rate": 3600 })
}

/// Gateways that share a Redis and have policies whose quotas are counted by themselves: of each API in `per-api`, of each part in `first`
/// and `second`.
fn with_scopes(redis: &Redis, upstream: &Upstream) -> Files {
    let files = Files::new();
    files.conf(redis.conf());
    for id in ["keyed", "one", "two"] {
        let api = json!({ "use_keyless": false, "proxy": target(upstream.address) });
        files.api(id, api);
    }
    let part = |api: &str| {
        let mut part = policy(json!({ "access_rights": { api: {} } }));
        crate::tyk::merge(&mut part, three());
        part
    };
    let policies =
        json!({ "per-api": per_api(&["one", "two"]), "first": part("one"), "second": part("two") });
    files.write("policies.json", &policies.to_string());
    files
}

fn policy(more: serde_json::Value) -> serde_json::Value {
    let mut policy = json!({ "org_id": "default", "active": true, "rate": 1000, "per": 1 });
    crate::tyk::merge(&mut policy, more);
    policy
}

/// A policy that opens these APIs, each with a quota of three requests.
fn per_api(apis: &[&str]) -> serde_json::Value {
    let limited = || json!({ "limit": three() });
    let rights = apis.iter().map(|api| ((*api).to_owned(), limited()));
    let rights: serde_json::Map<_, _> = rights.collect();
    policy(json!({ "access_rights": rights, "partitions": { "per_api": true } }))
}

/// Paths and keys, each of a quota of three requests: that of an API by a policy, by a session, of a part, and of a key as a whole.
const OF_THREE: [(&str, &str); 6] = [
    ("/one/", "per-api-key"),
    ("/two/", "per-api-key"),
    ("/one/", "own-key"),
    ("/one/", "parts-key"),
    ("/two/", "parts-key"),
    ("/keyed/", "plain-key"),
];

/// Makes the keys of [`OF_THREE`], and one that opens `keyed` as long as it is there.
fn make_of_three(gateway: &Gateway) {
    let opens = |api: &str, more: serde_json::Value| {
        let mut rights = json!({ "api_id": api, "api_name": api, "versions": ["Default"] });
        crate::tyk::merge(&mut rights, more);
        json!({ "access_rights": { api: rights } })
    };
    let policies = |names: &[&str]| json!({ "apply_policies": names });
    make(gateway, "per-api-key", policies(&["per-api"]));
    make(
        gateway,
        "own-key",
        opens("one", json!({ "limit": three() })),
    );
    make(gateway, "parts-key", policies(&["first", "second"]));
    make(gateway, "plain-key", three());
    make(gateway, "open-key", json!({}));
}

/// Waits until `to` has heard all that `from` has said by now: keys that are made after that are there. One thread says and hears both, the
/// keys before the quotas.
fn hears(to: &Gateway, from: &Gateway, when: &str) {
    for turn in 0..3 {
        let key = format!("key-of-{when}-{turn}");
        make(from, &key, json!({}));
        reaches(to, &key, 200);
    }
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn quotas_of_apis_and_of_parts_are_those_of_all_gateways_and_stay_through_a_restart() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let files = with_scopes(&redis, &upstream);
    let [one, other] = [files.start(), files.start()];
    make_of_three(&one);
    reaches(&other, "open-key", 200);
    let mut admitted = [0; OF_THREE.len()];
    for turn in 0..6 {
        let (asked, hearing) = match turn % 2 {
            0 => (&one, &other),
            _ => (&other, &one),
        };
        for ((path, key), admitted) in OF_THREE.iter().zip(&mut admitted) {
            *admitted += usize::from(ask(asked, path, key).status() == 200);
        }
        hears(hearing, asked, &format!("turn-{turn}"));
    }
    assert_eq!(admitted, [3; 6]);
    other.tell_to_stop();
    drop(other.join());
    let again = files.start();
    reaches(&again, "open-key", 200);
    let statuses = OF_THREE.map(|(path, key)| ask(&again, path, key).status());
    assert_eq!(statuses, [403; 6]);
    for name in ["quota-one", "quota-two"] {
        let mut get = redis::cmd("GET");
        let spent: i64 = redis.answers(get.arg(format!("{name}-{}", hashed("per-api-key"))));
        assert_eq!(spent, 3, "{name}");
    }
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_key_that_is_made_anew_has_the_quotas_of_its_apis_again_and_a_withdrawn_one_leaves_none() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let files = with_scopes(&redis, &upstream);
    let [one, other] = [files.start(), files.start()];
    make_of_three(&one);
    reaches(&other, "open-key", 200);
    let ask_both = || ["/one/", "/two/"].map(|path| ask(&one, path, "per-api-key").status());
    assert_eq!([(); 4].map(|()| ask_both())[2..], [[200; 2], [403; 2]]);
    let named = || -> Vec<String> {
        let mut keys = redis::cmd("KEYS");
        redis.answers(keys.arg(format!("*quota*{}", hashed("per-api-key"))))
    };
    until("both quotas and their names are there", || {
        named().len() == 3
    });
    let again = session(json!({ "apply_policies": ["per-api"] }));
    assert_eq!(call(&other, "PUT", "/tyk/keys/per-api-key", &again).0, 200);
    until("they are forgotten", || named().is_empty());
    hears(&one, &other, "the-reset");
    assert_eq!([(); 4].map(|()| ask_both())[2..], [[200; 2], [403; 2]]);
    until("they are there again", || named().len() == 3);
    assert_eq!(call(&other, "DELETE", "/tyk/keys/per-api-key", "").0, 200);
    until("all is gone", || named().is_empty());
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_quota_that_a_reload_brings_is_as_far_used_up_as_others_have_used_it() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let files = with_scopes(&redis, &upstream);
    let policies = |apis: &[&str]| {
        files.write(
            "policies.json",
            &json!({ "per-api": per_api(apis) }).to_string(),
        );
    };
    let reload = |gateway: &Gateway| {
        let told = call(gateway, "GET", "/tyk/reload/?block=true", "");
        assert_eq!(told.0, 200, "{}", told.1);
    };
    policies(&["one"]);
    let [one, other] = [files.start(), files.start()];
    make(
        &one,
        "per-api-key",
        json!({ "apply_policies": ["per-api"] }),
    );
    make(&one, "open-key", json!({}));
    reaches(&other, "open-key", 200);
    policies(&["one", "two"]);
    reload(&one);
    let spend = |gateway: &Gateway| ask(gateway, "/two/", "per-api-key").status();
    assert_eq!([(); 4].map(|()| spend(&one)), [200, 200, 200, 403]);
    hears(&other, &one, "the-spending");
    reload(&other);
    hears(&other, &one, "the-reload");
    assert_eq!(spend(&other), 403);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_quota_that_is_never_renewed_lasts_as_long_as_its_key_is_given_time() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let files = with_scopes(&redis, &upstream);
    let one = files.start();
    let end = jiff::Timestamp::now().as_second() + 3600;
    let last = json!({ "quota_max": 3, "quota_renewal_rate": 0 });
    let until_then = |expires: i64| {
        let one = json!({ "api_id": "one", "versions": ["Default"], "limit": last });
        let keyed = json!({ "api_id": "keyed", "versions": ["Default"] });
        let mut key =
            json!({ "expires": expires, "access_rights": { "one": one, "keyed": keyed } });
        crate::tyk::merge(&mut key, last.clone());
        key
    };
    make(&one, "ending-key", until_then(end));
    let ends = || {
        let names = ["apikey", "quota", "quota-one", "plimsoll-quotas"];
        names.map(|kind| -> i64 {
            let mut command = redis::cmd("EXPIRETIME");
            redis.answers(command.arg(format!("{kind}-{}", hashed("ending-key"))))
        })
    };
    let statuses = |gateway: &Gateway| {
        ["/one/", "/keyed/"].map(|path| ask(gateway, path, "ending-key").status())
    };
    let of_four = [(); 4].map(|()| statuses(&one));
    assert_eq!(of_four, [[200; 2], [200; 2], [200; 2], [403; 2]]);
    let day = 24 * 60 * 60;
    let spent = |kind: &str| -> Option<i64> {
        let mut get = redis::cmd("GET");
        redis.answers(get.arg(format!("{kind}-{}", hashed("ending-key"))))
    };
    let all = || ["quota", "quota-one"].map(spent) == [Some(3); 2];
    until("all is told", all);
    assert_eq!(ends(), [end + day; 4]);
    // The set of its scopes lasts longer where it need not: none of them is missed.
    for (expires, expected) in [
        (end + 9 * day, [end + 10 * day; 4]),
        (
            end + day,
            [end + 2 * day, end + 2 * day, end + 2 * day, end + 10 * day],
        ),
        (0, [-1, -1, -1, i64::from(u32::MAX)]),
    ] {
        let again = session(until_then(expires));
        let path = "/tyk/keys/ending-key?suppress_reset=1";
        assert_eq!(call(&one, "PUT", path, &again).0, 200);
        until("the key is given other time", || ends()[0] == expected[0]);
        assert_eq!(ends(), expected);
    }
    make(&one, "open-key", json!({}));
    let again = files.start();
    reaches(&again, "open-key", 200);
    assert_eq!(statuses(&again), [403; 2]);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn of_several_quotas_in_one_account_the_others_hear_when_the_smallest_nears_its_end() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let files = with_scopes(&redis, &upstream);
    let [one, other] = [files.start(), files.start()];
    // One that says no limit is counted where its scope says, with the quota of the key as a whole.
    let small = json!({ "api_id": "one", "versions": ["Default"], "limit": three() });
    let large = json!({ "api_id": "two", "versions": ["Default"], "allowance_scope": "one" });
    let key = json!({
        "quota_max": 1_000_000, "quota_renewal_rate": 3600,
        "access_rights": { "one": small, "two": large },
    });
    make(&one, "scoped-key", key);
    make(&one, "open-key", json!({}));
    reaches(&other, "open-key", 200);
    let spend = |gateway: &Gateway, path: &str| ask(gateway, path, "scoped-key").status();
    assert_eq!(
        ["/one/"; 4].map(|path| spend(&one, path)),
        [200, 200, 200, 403]
    );
    assert_eq!(["/two/"; 4].map(|path| spend(&one, path)), [200; 4]);
    hears(&other, &one, "the-spending");
    assert_eq!(
        ["/one/", "/two/"].map(|path| spend(&other, path)),
        [403, 200]
    );
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn of_a_full_redis_it_is_learnt_what_others_have_spent() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one] = sharing([redis.at], &upstream);
    make(&one, "plain-key", three());
    let hash = hashed("plain-key");
    let mut exists = redis::cmd("EXISTS");
    let exists = exists.arg(format!("apikey-{hash}"));
    until("the key is told", || redis.answers(exists));
    // Before the end of its first turn it says that it has none.
    until("it has Redis", || has_redis(&one));
    redis.does("CONFIG SET maxmemory 1");
    // It has something to tell that Redis does not take.
    make(&one, "later-key", json!({}));
    until("it is full", || !has_redis(&one));
    // As if another had said so before.
    let spent = "#!lua flags=allow-oom
        redis.call('SET', KEYS[1], 3, 'EX', 3600)
        return redis.call('XADD', KEYS[2], '*', 'g', 'another', 'q', KEYS[1])";
    let mut eval = redis::cmd("EVAL");
    let eval = eval.arg(spent).arg(2).arg(format!("quota-{hash}"));
    let _: String = redis.answers(eval.arg("plimsoll-quotas-spent"));
    let left = || {
        let shown = call(&one, "GET", "/tyk/keys/plain-key", "").1;
        shown["quota_remaining"].as_i64()
    };
    until("it is learnt", || left() == Some(0));
    assert!(!has_redis(&one));
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn whoever_a_token_names_has_the_quota_that_all_gateways_have_left() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let files = with_scopes(&redis, &upstream);
    token_api(&files, "a", &upstream, json!({}));
    let of = |most: u32, renewal: u32| {
        let quota = json!({ "quota_max": most, "quota_renewal_rate": renewal });
        let mut of = policy(json!({ "access_rights": { "a": {} } }));
        crate::tyk::merge(&mut of, quota);
        of
    };
    let policies = json!({ "three": of(3, 3600), "last": of(1, 0) });
    files.write("policies.json", &policies.to_string());
    let [one, other] = [files.start(), files.start()];
    for gateway in [&one, &other] {
        until("it has Redis", || has_redis(gateway));
    }
    let spend = |gateway: &Gateway, name: &str, policy: &str| {
        let token = token(json!({ "sub": name, "pol": policy, "exp": 4_000_000_000_u64 }));
        ask(gateway, "/a/", &token).status()
    };
    let joan = [(); 4].map(|()| spend(&one, "joan", "three"));
    assert_eq!(joan, [200, 200, 200, 403]);
    assert_eq!(spend(&one, "grace", "three"), 200);
    assert_eq!(spend(&one, "ada", "last"), 200);
    hears(&other, &one, "the-spending");
    assert_eq!(spend(&other, "joan", "three"), 403);
    assert_eq!(spend(&other, "ada", "last"), 403);
    // It does not end with her last token.
    let ada = hashed("default8c8d357b5e872bbacd45197626bd5759");
    let mut end = redis::cmd("EXPIRETIME");
    let end: i64 = redis.answers(end.arg(format!("quota-{ada}")));
    assert_eq!(end, -1);
    // Who starts now reads it.
    make(&one, "open-key", json!({}));
    let again = files.start();
    reaches(&again, "open-key", 200);
    hears(&again, &one, "all");
    assert_eq!(spend(&again, "joan", "three"), 403);
    assert_eq!(spend(&again, "ada", "last"), 403);
    let grace = [(); 3].map(|()| spend(&again, "grace", "three"));
    assert_eq!(grace, [200, 200, 403]);
}
