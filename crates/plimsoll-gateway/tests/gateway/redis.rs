//! Gateways that share their keys through a real Redis, which is there, stands still, or is gone.

mod scopes;
mod server;

pub use server::{Redis, own_address};

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

/// Entries in the stream of a key that was withdrawn.
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

/// Name of a key in Redis.
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
