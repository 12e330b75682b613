//! Gateways that share their keys through a real Redis, which is there, stands still, or is gone.

use crate::support::{Gateway, Upstream};
use crate::tyk::{Files, ask, call, session, target};
use plimsoll_testbed::child::Child;
use rustix::process::Signal;
use serde_json::json;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

/// A Redis of its own, without files. Dropping it ends it.
struct Redis {
    port: u16,
    child: Child,
}

impl Redis {
    fn start() -> Self {
        // Its port is free now; should somebody take it before Redis does, Redis ends and another is tried.
        let tries = (0..20).filter_map(|_| {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            Self::on(port)
        });
        let mut tries = tries;
        tries.next().expect("redis-server starts: run scripts/test")
    }

    fn on(port: u16) -> Option<Self> {
        let dir = std::env::temp_dir();
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
        ]);
        command.arg(dir).stdout(Stdio::null());
        let mut child =
            Child::spawn(&mut command).expect("redis-server is there: run scripts/test");
        // Answers a connection, or has ended.
        loop {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(Self { port, child });
            }
            if child.has_ended().unwrap() {
                return None;
            }
        }
    }

    fn conf(&self) -> serde_json::Value {
        conf(self.port)
    }
}

fn conf(port: u16) -> serde_json::Value {
    json!({ "storage": { "type": "redis", "host": "127.0.0.1", "port": port } })
}

/// Two gateways of the same files.
fn pair(redis: &Redis, upstream: &Upstream) -> [Gateway; 2] {
    [0, 1].map(|_| {
        let files = Files::new();
        files.conf(redis.conf());
        files.api(
            "keyed",
            json!({ "use_keyless": false, "proxy": target(upstream.address) }),
        );
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
    assert!(
        hello(&late).contains(r#""redis":{"status":"pass""#),
        "{}",
        hello(&late)
    );
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
    redis.child.signal(Signal::STOP).unwrap();
    let told = (0..200_000).any(|_| hello(&one).contains(r#""redis":{"status":"fail""#));
    assert!(told);
    assert_eq!(call(&one, "DELETE", "/tyk/keys/gone-key", "").0, 200);
    make(&one, "new-key", json!({}));
    assert_eq!(ask(&one, "/keyed/", "gone-key").status(), 403);
    assert_eq!(ask(&one, "/keyed/", "new-key").status(), 200);
    let passed = (0..30).filter(|_| ask(&one, "/keyed/", "kept-key").status() == 200);
    assert!((15..=20).contains(&passed.count()));
    redis.child.signal(Signal::CONT).unwrap();
    reaches(&other, "gone-key", 403);
    reaches(&other, "new-key", 200);
    assert_eq!(ask(&one, "/keyed/", "gone-key").status(), 403);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_redis_that_has_forgotten_everything_is_told_again() {
    let (redis, upstream) = (Redis::start(), Upstream::echo());
    let [one, other] = pair(&redis, &upstream);
    make(&one, "kept-key", json!({}));
    reaches(&other, "kept-key", 200);
    let Redis { port, child } = redis;
    child.kill().unwrap();
    let told = (0..200_000).any(|_| hello(&one).contains(r#""redis":{"status":"fail""#));
    assert!(told);
    let redis = Redis::on(port).expect("the port is still ours");
    let [late, _] = pair(&redis, &upstream);
    reaches(&late, "kept-key", 200);
    assert_eq!(ask(&one, "/keyed/", "kept-key").status(), 200);
}

#[test]
fn without_redis_in_reach_it_starts_and_says_so() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let upstream = Upstream::echo();
    let files = Files::new();
    files.conf(conf(port));
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
            "Redis at 127.0.0.1:{port} is not in reach: keys and limits go on in memory"
        )),
        "{told}"
    );
    assert!(
        told.contains("1 changes of keys never reached Redis"),
        "{told}"
    );
}
