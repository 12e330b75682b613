//! Gateways that share their keys through a real Redis, which is there, stands still, or is gone.

use crate::refusals::reading_late;
use crate::sinks::until;
use crate::support::{Gateway, Upstream};
use crate::tyk::{Files, ask, call, session, target};
use crate::tyk_tokens::{token, token_api};
use rustix::process::Signal;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;

/// A Redis of its own, without files. Dropping it ends it.
pub struct Redis {
    pub at: SocketAddr,
    server: plimsoll_testbed::redis::Redis,
    /// What it asks for, if it does.
    pub password: Option<String>,
}

/// An address that nobody else uses.
pub fn own_address() -> SocketAddr {
    plimsoll_testbed::redis::own_address().unwrap()
}

impl Redis {
    pub fn start() -> Self {
        Self::on(own_address())
    }

    pub fn on(at: SocketAddr) -> Self {
        Self::with(at, &[])
    }

    /// One that asks for a password.
    pub fn secured(password: &str) -> Self {
        let redis = Self::with(own_address(), &["--requirepass", password]);
        let password = Some(password.to_owned());
        Self { password, ..redis }
    }

    /// With further flags.
    fn with(at: SocketAddr, flags: &[&str]) -> Self {
        let server = plimsoll_testbed::redis::Redis::start_at(at, flags);
        Self {
            at,
            server: server.expect("redis-server is there: run scripts/test"),
            password: None,
        }
    }

    pub fn conf(&self) -> serde_json::Value {
        conf(self.at)
    }

    /// Stops it where it stands, or has it go on.
    pub fn signal(&self, signal: Signal) {
        self.server.signal(signal).unwrap();
    }

    /// Every element of a list.
    pub fn list(&self, key: &str) -> Vec<Vec<u8>> {
        let mut range = redis::cmd("LRANGE");
        self.answers(range.arg(key).arg(0).arg(-1))
    }

    /// What it answers.
    pub fn answers<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        let password = self.password.iter();
        let login: String = password.map(|text| format!(":{text}@")).collect();
        let client = redis::Client::open(format!("redis://{login}{}", self.at)).unwrap();
        let mut connection = client.get_connection().unwrap();
        command.query(&mut connection).unwrap()
    }

    /// Ends it, and waits until `gateways` have seen it.
    pub fn ends(mut self, gateways: &[&Gateway]) -> SocketAddr {
        self.server.kill().unwrap();
        for gateway in gateways {
            until("it has none", || !has_redis(gateway));
        }
        self.at
    }

    /// Has it carry out a command, and waits for the answer.
    pub fn does(&self, command: &str) {
        let mut stream = TcpStream::connect(self.at).unwrap();
        let login = self.password.iter().map(|text| format!("AUTH {text}"));
        for line in login.chain([command.to_owned()]) {
            stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
            assert_ne!(stream.read(&mut [0; 64]).unwrap(), 0);
        }
    }
}

fn conf(at: SocketAddr) -> serde_json::Value {
    json!({ "storage": { "type": "redis", "host": at.ip().to_string(), "port": at.port() } })
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_password_of_the_environment_opens_redis_and_none_does_not() {
    let password = crate::tyk::REDIS_PASSWORD;
    let redis = Redis::secured(password);
    let start = |more: serde_json::Value| {
        let files = Files::new();
        let mut conf = redis.conf();
        let storage = conf["storage"].as_object_mut().unwrap();
        storage.extend(more.as_object().unwrap().clone());
        files.conf(conf);
        files.start()
    };
    let with = start(json!({ "password": { "env": "REDIS_PASSWORD" } }));
    until("it has Redis", || has_redis(&with));
    let without = start(json!({}));
    assert!(
        !(0..200).any(|_| has_redis(&without)),
        "{}",
        hello(&without)
    );
}

/// Two gateways of the same files.
fn pair(redis: &Redis, upstream: &Upstream) -> [Gateway; 2] {
    sharing([redis.at; 2], upstream)
}

/// A gateway for each of these ways to Redis, all of the same files.
fn sharing<const N: usize>(ways: [SocketAddr; N], upstream: &Upstream) -> [Gateway; N] {
    ways.map(|at| {
        let files = Files::new();
        files.conf(conf(at));
        files.api(
            "keyed",
            json!({ "use_keyless": false, "proxy": target(upstream.address) }),
        );
        files.api("capped", json!({ "global_rate_limit": { "rate": 10, "per": 3600 }, "proxy": target(upstream.address) }));
        files.start()
    })
}

/// Asks until the answer is `expected`. What gateways tell each other takes a moment.
fn reaches(gateway: &Gateway, key: &str, expected: u16) {
    let statuses = (0..20_000).map(|_| ask(gateway, "/keyed/", key).status());
    let mut last = 0;
    for status in statuses {
        last = status;
        if status == expected {
            return;
        }
    }
    panic!("{key}: {last}, and not {expected}");
}

fn make(gateway: &Gateway, key: &str, more: serde_json::Value) {
    let (status, told) = call(gateway, "POST", &format!("/tyk/keys/{key}"), &session(more));
    assert_eq!(status, 200, "{told}");
}

fn hello(gateway: &Gateway) -> String {
    ask(gateway, "/hello", "").body_text()
}

/// Whether its last turn with Redis went well; before the end of the first it did not.
fn has_redis(gateway: &Gateway) -> bool {
    hello(gateway).contains(r#""redis":{"status":"pass""#)
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_key_made_at_one_gateway_opens_and_closes_at_all() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    make(&one, "shared-key", json!({}));
    assert_eq!(ask(&one, "/keyed/", "shared-key").status(), 200);
    reaches(&other, "shared-key", 200);
    assert_eq!(call(&other, "DELETE", "/tyk/keys/shared-key", "").0, 200);
    assert_eq!(ask(&other, "/keyed/", "shared-key").status(), 403);
    reaches(&one, "shared-key", 403);
    // Who comes later reads what is there.
    make(&one, "for-later", json!({}));
    reaches(&other, "for-later", 200);
    let [late, _] = pair(&redis, &upstream);
    reaches(&late, "for-later", 200);
    until("it has Redis", || has_redis(&late));
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn quotas_and_rates_are_those_of_all_gateways_together() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    make(
        &one,
        "quota-key",
        json!({ "quota_max": 10, "quota_renewal_rate": 3600 }),
    );
    reaches(&other, "quota-key", 200);
    let passed = |gateway: &Gateway, key: &str, tries: usize| {
        (0..tries)
            .filter(|_| ask(gateway, "/keyed/", key).status() == 200)
            .count()
    };
    assert_eq!(passed(&one, "quota-key", 5), 5);
    // The other learns of the five: asking it costs from the same quota, so the last answer is 403 at ten in all.
    reaches(&one, "quota-key", 403);
    reaches(&other, "quota-key", 403);
    // Each gateway has its share of a rate as soon as it knows of the other.
    let shares = (0..10_000).map(|index| {
        let key = format!("rate-key-{index}");
        make(&one, &key, json!({ "rate": 10, "per": 3600 }));
        passed(&one, &key, 10)
    });
    assert!(shares.into_iter().any(|share| share == 5));
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn the_rate_of_an_api_is_that_of_all_gateways_together() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let both = pair(&redis, &upstream);
    // A rate of its own tells that a gateway knows of the other.
    for (number, gateway) in both.iter().enumerate() {
        let knows = (0..10_000).any(|index| {
            let key = format!("rate-key-{number}-{index}");
            make(gateway, &key, json!({ "rate": 2, "per": 3600 }));
            [(); 2].map(|()| ask(gateway, "/keyed/", &key).status()) == [200, 429]
        });
        assert!(knows);
    }
    for gateway in &both {
        let statuses = (0..20).map(|_| ask(gateway, "/capped/", "").status());
        assert_eq!(statuses.filter(|status| *status == 200).count(), 5);
    }
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn what_expires_leaves_redis_a_day_later_with_its_quota() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    // One that begins amid the making of a key hears of it twice, and of the second time as a reset of its quota.
    for gateway in [&one, &other] {
        until("it has Redis", || has_redis(gateway));
    }
    let end = jiff::Timestamp::now().as_second() + 3600;
    let quota = json!({ "expires": end, "quota_max": 5, "quota_renewal_rate": 0 });
    make(&one, "ending-key", quota.clone());
    make(&one, "lasting-key", json!({}));
    reaches(&other, "ending-key", 200);
    reaches(&other, "lasting-key", 200);
    let expires = |kind: &str, key: &str| -> i64 {
        let mut command = redis::cmd("EXPIRETIME");
        redis.answers(command.arg(format!("{kind}-{}", hashed(key))))
    };
    let day = 24 * 60 * 60;
    assert_eq!(expires("apikey", "ending-key"), end + day);
    assert_eq!(expires("apikey", "lasting-key"), -1);
    let quotas_end = |expected| (0..20_000).any(|_| expires("quota", "ending-key") == expected);
    assert!(quotas_end(end + day));
    // It is renewed for good, and what was used of its quota with it.
    let renewed = session(json!({ "quota_max": 5, "quota_renewal_rate": 0 }));
    let path = "/tyk/keys/ending-key?suppress_reset=1";
    assert_eq!(call(&one, "PUT", path, &renewed).0, 200);
    assert!((0..20_000).any(|_| expires("apikey", "ending-key") == -1));
    assert_eq!(ask(&one, "/keyed/", "ending-key").status(), 200);
    assert!(quotas_end(-1));
    // What has expired is still known, and withdrawn as anything else is.
    let over = session(json!({ "expires": end - 7200 }));
    assert_eq!(call(&one, "PUT", "/tyk/keys/ending-key", &over).0, 200);
    reaches(&other, "ending-key", 401);
    assert_eq!(call(&one, "DELETE", "/tyk/keys/ending-key", "").0, 200);
    reaches(&other, "ending-key", 403);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_lifetime_ends_at_every_gateway_and_in_redis_in_the_same_second() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    let before = jiff::Timestamp::now().as_second();
    make(&one, "short-key", json!({ "session_lifetime": 3 }));
    let after = jiff::Timestamp::now().as_second();
    reaches(&other, "short-key", 200);
    let mut command = redis::cmd("EXPIRETIME");
    let leaves: i64 = redis.answers(command.arg(format!("apikey-{}", hashed("short-key"))));
    assert!(
        (before + 3..=after + 3).contains(&leaves),
        "{leaves} of {before}"
    );
    // Whoever starts now learns it, too.
    let late = pair(&redis, &upstream);
    for gateway in late.iter().chain([&one, &other]) {
        reaches(gateway, "short-key", 200);
    }
    for gateway in late.iter().chain([&one, &other]) {
        loop {
            let asked = jiff::Timestamp::now().as_second();
            let status = ask(gateway, "/keyed/", "short-key").status();
            let answered = jiff::Timestamp::now().as_second();
            match status {
                // Asked without a pause it is over its rate at times.
                200 | 429 => assert!(asked < leaves, "it lives on"),
                status => {
                    assert!(status == 403 && answered >= leaves, "{status} too early");
                    break;
                }
            }
        }
    }
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn while_redis_stands_still_limits_hold_and_withdrawn_keys_stay_withdrawn() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    make(
        &one,
        "kept-key",
        json!({ "quota_max": 20, "quota_renewal_rate": 3600 }),
    );
    make(&one, "gone-key", json!({}));
    reaches(&other, "gone-key", 200);
    reaches(&other, "kept-key", 200);
    redis.signal(Signal::STOP);
    until("it has none", || !has_redis(&one));
    assert_eq!(call(&one, "DELETE", "/tyk/keys/gone-key", "").0, 200);
    make(&one, "new-key", json!({}));
    assert_eq!(ask(&one, "/keyed/", "gone-key").status(), 403);
    assert_eq!(ask(&one, "/keyed/", "new-key").status(), 200);
    let passed = (0..30).filter(|_| ask(&one, "/keyed/", "kept-key").status() == 200);
    assert!((15..=20).contains(&passed.count()));
    redis.signal(Signal::CONT);
    reaches(&other, "gone-key", 403);
    reaches(&other, "new-key", 200);
    assert_eq!(ask(&one, "/keyed/", "gone-key").status(), 403);
}

/// What is said in the stream of a key that was withdrawn.
const WITHDRAWN: &str = "$1\r\nr\r\n$1\r\n2\r\n";

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn what_was_spent_and_is_read_late_makes_no_quota_of_a_withdrawn_key() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let (at, transactions) = reading_late(redis.at, ["INCRBY", WITHDRAWN]);
    let [one] = sharing([at], &upstream);
    let quota = json!({ "quota_max": 10, "quota_renewal_rate": 3600 });
    make(&one, "gone-key", quota);
    assert_eq!(ask(&one, "/keyed/", "gone-key").status(), 200);
    let come = |number| transactions.load(Ordering::SeqCst) == number;
    until("what was spent is held", || come(1));
    assert_eq!(call(&one, "DELETE", "/tyk/keys/gone-key", "").0, 200);
    until("it is read late", || come(2));
    let mut exists = redis::cmd("EXISTS");
    let kept: bool = redis.answers(exists.arg(format!("quota-{}", hashed("gone-key"))));
    assert!(!kept);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_quota_that_redis_does_not_add_to_doubles_no_other() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one] = sharing([redis.at], &upstream);
    let spent = |key: &str| -> Option<String> {
        let mut get = redis::cmd("GET");
        redis.answers(get.arg(format!("quota-{}", hashed(key))))
    };
    let is_spent = |key: &str, times: &str| until(key, || spent(key).as_deref() == Some(times));
    for key in ["bad-key", "good-key", "later-key"] {
        make(
            &one,
            key,
            json!({ "quota_max": 10, "quota_renewal_rate": 3600 }),
        );
    }
    for key in ["bad-key", "good-key"] {
        assert_eq!(ask(&one, "/keyed/", key).status(), 200);
        is_spent(key, "1");
    }
    redis.does(&format!("SET quota-{} text", hashed("bad-key")));
    for key in ["bad-key", "good-key"] {
        assert_eq!(ask(&one, "/keyed/", key).status(), 200);
    }
    is_spent("good-key", "2");
    // Some turns later.
    for times in ["1", "2"] {
        assert_eq!(ask(&one, "/keyed/", "later-key").status(), 200);
        is_spent("later-key", times);
    }
    assert_eq!(spent("good-key").as_deref(), Some("2"));
    one.tell_to_stop();
    let told = one.join().join("\n");
    assert!(told.contains("value is not an integer"), "{told}");
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn what_redis_reads_late_of_a_broken_connection_brings_no_withdrawn_key_back() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let (at, transactions) = reading_late(redis.at, ["apikey-", WITHDRAWN]);
    let [one] = sharing([at], &upstream);
    make(&one, "gone-key", json!({}));
    let come = |number| transactions.load(Ordering::SeqCst) == number;
    until("its making is held", || come(1));
    assert_eq!(call(&one, "DELETE", "/tyk/keys/gone-key", "").0, 200);
    until("it is read late", || come(2));
    let [other] = sharing([redis.at], &upstream);
    // What is made now is heard of behind all that went before.
    make(&one, "later-key", json!({}));
    reaches(&other, "later-key", 200);
    assert_eq!(ask(&other, "/keyed/", "gone-key").status(), 403);
    let mut get = redis::cmd("GET");
    let kept: Option<String> = redis.answers(get.arg(format!("apikey-{}", hashed("gone-key"))));
    assert_eq!(kept, None);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_full_redis_hears_of_withdrawn_keys_can_be_read_and_gets_the_others_later() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    for key in ["gone-key", "kept-key"] {
        make(&one, key, json!({}));
        reaches(&other, key, 200);
    }
    redis.does("CONFIG SET maxmemory 1");
    make(&one, "later-key", json!({}));
    until("it is full", || !has_redis(&one));
    assert_eq!(call(&other, "DELETE", "/tyk/keys/gone-key", "").0, 200);
    reaches(&one, "gone-key", 403);
    let [late] = sharing([redis.at], &upstream);
    reaches(&late, "kept-key", 200);
    for gateway in [&other, &late] {
        assert_eq!(ask(gateway, "/keyed/", "later-key").status(), 403);
    }
    redis.does("CONFIG SET maxmemory 0");
    reaches(&other, "later-key", 200);
    reaches(&late, "later-key", 200);
    let mut exists = redis::cmd("EXISTS");
    let is_there: bool = redis.answers(exists.arg(format!("apikey-{}", hashed("gone-key"))));
    assert!(!is_there);
    one.tell_to_stop();
    let told = one.join().join("\n");
    assert!(told.contains("refuses what it is told: keys"), "{told}");
    assert!(told.contains("used memory > 'maxmemory'"), "{told}");
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_redis_that_has_forgotten_everything_is_told_again() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    make(&one, "kept-key", json!({}));
    reaches(&other, "kept-key", 200);
    let redis = Redis::on(redis.ends(&[&one]));
    let [late, _] = pair(&redis, &upstream);
    reaches(&late, "kept-key", 200);
    assert_eq!(ask(&one, "/keyed/", "kept-key").status(), 200);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_withdrawn_key_stays_withdrawn_when_redis_has_forgotten_everything() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    make(&one, "gone-key", json!({}));
    make(&one, "kept-key", json!({}));
    reaches(&other, "gone-key", 200);
    reaches(&other, "kept-key", 200);
    let at = redis.ends(&[&one, &other]);
    assert_eq!(call(&one, "DELETE", "/tyk/keys/gone-key", "").0, 200);
    let redis = Redis::on(at);
    // The other tells everything that it has: the key, too, if it is back first.
    reaches(&other, "gone-key", 403);
    let [late, _] = pair(&redis, &upstream);
    reaches(&late, "kept-key", 200);
    for gateway in [&one, &other, &late] {
        assert_eq!(ask(gateway, "/keyed/", "gone-key").status(), 403);
    }
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn who_missed_changes_lets_go_of_keys_that_are_gone() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, _] = pair(&redis, &upstream);
    make(&one, "gone-key", json!({}));
    make(&one, "kept-key", json!({}));
    let [late, _] = pair(&redis, &upstream);
    reaches(&late, "gone-key", 200);
    // As if so much had changed since that the stream does not go back as far.
    redis.does(&format!("DEL apikey-{}", hashed("gone-key")));
    redis.does("DEL plimsoll-key-changes");
    redis.does("XADD plimsoll-key-changes * k 00 r 0 g somebody");
    redis.does("CLIENT KILL TYPE normal");
    reaches(&late, "gone-key", 403);
    assert_eq!(ask(&late, "/keyed/", "kept-key").status(), 200);
}

/// What a key is called in Redis.
fn hashed(key: &str) -> String {
    let digest = Sha256::digest(key);
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn keys_of_a_file_are_told_to_redis_and_stay() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [other, _] = pair(&redis, &upstream);
    let files = Files::new();
    files.conf(redis.conf());
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let keys = format!("{{ \"from-the-file\": {} }}", session(json!({})));
    let gateway = files.start_with_keys(&keys);
    reaches(&other, "from-the-file", 200);
    until("it has Redis", || has_redis(&gateway));
    assert_eq!(ask(&gateway, "/keyed/", "from-the-file").status(), 200);
    // Where somebody knows that it was withdrawn, a restart does not bring it back.
    assert_eq!(call(&other, "DELETE", "/tyk/keys/from-the-file", "").0, 200);
    reaches(&gateway, "from-the-file", 403);
    let again = files.start_with_keys(&keys);
    reaches(&again, "from-the-file", 403);
    assert_eq!(ask(&other, "/keyed/", "from-the-file").status(), 403);
}

#[test]
fn without_redis_in_reach_it_starts_and_says_so() {
    let at = own_address();
    let upstream = Upstream::echo();
    let files = Files::new();
    files.conf(conf(at));
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start();
    make(&gateway, "a-key", json!({}));
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 200);
    assert!(
        hello(&gateway).contains(r#"{"status":"fail","version""#),
        "{}",
        hello(&gateway)
    );
    assert_eq!(ask(&gateway, "/ready", "").status(), 200);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        told.contains(&format!(
            "Redis at {at} is not in reach: keys and limits go on in memory"
        )),
        "{told}"
    );
    assert!(
        told.contains("1 changes of keys never reached Redis"),
        "{told}"
    );
}

/// What a quota of three requests says of itself.
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
