//! Records on their way to servers that are there, stand still, or are gone: what arrives, what waits on disk, what is lost and counted.

mod secured;

pub use secured::to_postgresql;

use crate::redis::{Redis, own_address};
use crate::secrets::api;
use crate::support::{Files as Around, Gateway, Nobody, Upstream, configuration, to};
use crate::tyk::{Files, ask, call, session, target};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use plimsoll_testbed::peers::postgresql::{DATABASE, PASSWORD, Postgresql, USER};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub const LIST: &str = "analytics-tyk-system-analytics";

pub fn upstream() -> Upstream {
    Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
}

/// So many requests, over a few connections.
pub fn requests(gateway: &Gateway, count: usize) {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = gateway.connect();
                for _ in 0..count / 4 {
                    assert_eq!(client.get("/").status(), 200);
                }
            });
        }
    });
}

/// Tries until it is so; a sink that was away takes a moment.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = plimsoll_testbed::clock::now() + crate::support::PATIENCE;
    while !is_so() {
        assert!(plimsoll_testbed::clock::now() < deadline, "never: {what}");
    }
}

pub fn lost(gateway: &Gateway, sink: &str) -> u64 {
    let whys = ["refused", "too_fast", "no_room"].into_iter();
    let lost = whys.map(|why| {
        gateway.metric(&format!(
            "analytics_lost_total{{sink=\"{sink}\",why=\"{why}\"}}"
        ))
    });
    lost.sum()
}

pub fn to_redis(upstream: &Upstream, at: SocketAddr, spool: &Path) -> Gateway {
    let rest = format!(
        "{}analytics: {{ redis: {{ url: \"redis://{at}\", form: json }}, spool: {{ directory: {spool:?}, bytes: 1MiB }} }}\n",
        to(upstream.address)
    );
    Gateway::with_shards(2, &rest)
}

/// Ids of the records in Redis: none twice.
pub fn ids(redis: &Redis) -> HashSet<String> {
    let list = redis.list(LIST);
    let ids: HashSet<String> = list
        .iter()
        .map(|record| {
            let record: Value = serde_json::from_slice(record).unwrap();
            record["id"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(ids.len(), list.len(), "a record is there twice");
    ids
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn a_redis_that_stands_still_under_traffic_gets_every_record_once() {
    let (redis, upstream) = (Redis::start(), upstream());
    let spool = tempfile::tempdir().unwrap();
    let gateway = to_redis(&upstream, redis.at, spool.path());
    requests(&gateway, 400);
    until("400 records", || ids(&redis).len() == 400);
    redis.signal(Signal::STOP);
    requests(&gateway, 800);
    // It has been tried in vain, for what was under way is on disk.
    let waiting = || gateway.metric("analytics_waiting{sink=\"redis\"}");
    until("800 wait", || waiting() == 800);
    requests(&gateway, 400);
    redis.signal(Signal::CONT);
    until("1600 records", || ids(&redis).len() == 1600);
    assert_eq!(lost(&gateway, "redis"), 0);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("takes no records"), "{told}");
    assert!(told.contains("takes records again"), "{told}");
    assert!(!told.contains("lost"), "{told}");
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn records_outlive_gateway_and_redis_on_disk() {
    let upstream = upstream();
    let spool = tempfile::tempdir().unwrap();
    let redis = Redis::start();
    let gateway = to_redis(&upstream, redis.at, spool.path());
    requests(&gateway, 200);
    until("200 records", || ids(&redis).len() == 200);
    let at = redis.ends(&[]);
    requests(&gateway, 300);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        told.contains(&format!("{at}: 300 records wait in its spool")),
        "{told}"
    );
    let redis = Redis::on(at);
    let gateway = to_redis(&upstream, at, spool.path());
    until("300 records", || ids(&redis).len() == 300);
    requests(&gateway, 100);
    until("400 records", || ids(&redis).len() == 400);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        told.contains("300 records of an earlier process wait"),
        "{told}"
    );
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn beyond_the_spool_every_lost_record_is_counted() {
    let upstream = upstream();
    let spool = tempfile::tempdir().unwrap();
    let at = own_address();
    let gateway = to_redis(&upstream, at, spool.path());
    const SENT: u64 = 4000;
    requests(&gateway, 1000);
    let waiting = || gateway.metric("analytics_waiting{sink=\"redis\"}");
    until("1000 wait", || waiting() == 1000);
    requests(&gateway, 3000);
    until("all are accounted for", || {
        waiting() + lost(&gateway, "redis") == SENT
    });
    let (lost, kept) = (lost(&gateway, "redis"), waiting());
    assert!(lost > 0 && kept > 0, "{lost} lost, {kept} kept");
    let on_disk: u64 = (std::fs::read_dir(spool.path().join("redis")).unwrap())
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(on_disk <= 1 << 20, "{on_disk}");
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        told.contains(&format!("{lost} records were lost")),
        "{told}"
    );
    let redis = Redis::on(at);
    let gateway = to_redis(&upstream, at, spool.path());
    until("the rest arrives", || {
        ids(&redis).len() as u64 == SENT - lost
    });
    drop(gateway);
    assert_eq!(ids(&redis).len() as u64, SENT - lost);
}

/// Records in the spool's files: each has its length before it.
fn on_disk(spool: &Path) -> usize {
    let files = std::fs::read_dir(spool.join("redis")).into_iter().flatten();
    let paths = files.map(|file| file.unwrap().path());
    let records = paths.filter(|path| path.extension().is_some_and(|e| e == "spool"));
    let in_file = |path: std::path::PathBuf| {
        let content = std::fs::read(path).unwrap();
        let mut rest = content
            .get("plimsoll records 1\n".len()..)
            .unwrap_or_default();
        let mut records = 0;
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let end = 4 + u32::from_le_bytes(*length) as usize;
            let Some(next) = after.get(end..) else { break };
            rest = next;
            records += 1;
        }
        records
    };
    records.map(in_file).sum()
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn what_a_killed_gateway_leaves_is_good_up_to_where_it_is_torn() {
    let upstream = upstream();
    let [before, spool] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let killed = to_redis(&upstream, own_address(), before.path());
    requests(&killed, 100);
    until("100 are on disk", || on_disk(before.path()) == 100);
    // The files as they are at this moment, the last record half written.
    std::fs::create_dir(spool.path().join("redis")).unwrap();
    for file in std::fs::read_dir(before.path().join("redis")).unwrap() {
        let file = file.unwrap();
        let to = spool.path().join("redis").join(file.file_name());
        std::fs::copy(file.path(), to).unwrap();
    }
    let newest = (std::fs::read_dir(spool.path().join("redis")).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "spool"))
        .max()
        .unwrap();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(newest)
        .unwrap();
    file.set_len(file.metadata().unwrap().len() - 7).unwrap();
    let redis = Redis::start();
    let gateway = to_redis(&upstream, redis.at, spool.path());
    until("99 records", || ids(&redis).len() == 99);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("were no whole record"), "{told}");
}

/// Records as tyk-pump would read them.
fn unpacked(redis: &Redis) -> Vec<Value> {
    let list = redis.list(LIST);
    let records = list.iter().map(|record| rmp_serde::from_slice(record));
    let mut records: Vec<Value> = records.map(Result::unwrap).collect();
    records.sort_by_key(|record| record["ArrivedUs"].as_u64());
    records
}

/// Tyk's files with records: an API with keys and recorded in detail, a plain one, and one that is not tracked.
fn recorded(redis: &Redis, upstream: &Upstream) -> Files {
    let files = Files::new();
    let mut conf = redis.conf();
    conf["enable_analytics"] = true.into();
    conf["analytics_config"] = json!({ "storage_expiration_time": 600 });
    files.conf(conf);
    files.api(
        "keyed",
        json!({ "use_keyless": false, "enable_detailed_recording": true, "proxy": target(upstream.address) }),
    );
    files.api(
        "plain",
        json!({ "proxy": target(upstream.address), "expire_analytics_after": 60 }),
    );
    files.api(
        "untracked",
        json!({ "do_not_track": true, "proxy": target(upstream.address) }),
    );
    files
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn tyks_files_have_records_made_as_tyk_pump_reads_them() {
    let redis = Redis::start();
    let upstream = Upstream::answering(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: sid=hidden\r\n\r\nok",
    );
    let files = recorded(&redis, &upstream);
    let gateway = files.start();
    let key = session(json!({ "alias": "till 7", "tags": ["north"] }));
    assert_eq!(call(&gateway, "POST", "/tyk/keys/hidden-key", &key).0, 200);
    assert_eq!(
        ask(&gateway, "/keyed/orders?token=hidden&x=1", "hidden-key").status(),
        200
    );
    assert_eq!(ask(&gateway, "/keyed/orders", "wrong").status(), 403);
    assert_eq!(ask(&gateway, "/untracked/", "").status(), 200);
    assert_eq!(ask(&gateway, "/nothing/", "").status(), 404);
    assert_eq!(ask(&gateway, "/plain/a", "").status(), 200);
    until("3 records", || redis.list(LIST).len() >= 3);
    gateway.tell_to_stop();
    gateway.join();
    let records = unpacked(&redis);
    let shown: Vec<String> = records
        .iter()
        .map(|r| {
            let names = [
                "APIID",
                "APIName",
                "OrgID",
                "Method",
                "Path",
                "RawPath",
                "OriginalPath",
                "ListenPath",
                "ResponseCode",
                "Alias",
                "Tags",
                "APIVersion",
                "Ended",
            ];
            names.map(|name| r[name].to_string()).join(" ")
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    let decoded = |name: &str| {
        let text = BASE64_STANDARD.decode(records[0][name].as_str().unwrap());
        String::from_utf8(text.unwrap()).unwrap().replace('\r', "")
    };
    insta::assert_snapshot!(format!(
        "{}\n---\n{}",
        decoded("RawRequest"),
        decoded("RawResponse")
    ));
    let all = format!("{records:?}");
    assert!(!all.contains("hidden"), "{all}");
    let [ended, expires] =
        ["TimeStamp", "ExpireAt"].map(|name| records[2][name][0].as_i64().unwrap());
    assert_eq!(expires - ended, 60);
    assert_eq!(records[2]["RawRequest"], "");
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn tyks_files_may_name_addresses_to_ignore_and_another_redis_with_ten_lists() {
    let secret = crate::tyk::REDIS_PASSWORD;
    let (keys, records) = (Redis::start(), Redis::secured(secret));
    let upstream = upstream();
    let files = |ignored: &str, password: Value| {
        let files = Files::new();
        let mut conf = keys.conf();
        conf["enable_analytics"] = true.into();
        conf["enable_separate_analytics_store"] = true.into();
        conf["analytics_storage"] = records.conf()["storage"].clone();
        conf["analytics_storage"]["password"] = password;
        conf["analytics_config"] =
            json!({ "ignored_ips": [ignored], "enable_multiple_analytics_keys": true });
        files.conf(conf);
        files.api("plain", json!({ "proxy": target(upstream.address) }));
        files
    };
    let by_tyk = || json!("env://REDIS_PASSWORD");
    for (ignored, password, expected) in [
        ("127.0.0.1", by_tyk(), 0),
        ("192.0.2.1", by_tyk(), 1),
        ("192.0.2.1", json!({ "env": "REDIS_PASSWORD" }), 2),
        ("192.0.2.1", json!("not-this-one"), 2),
    ] {
        let gateway = files(ignored, password).start();
        assert_eq!(ask(&gateway, "/plain/", "").status(), 200);
        gateway.tell_to_stop();
        let told = gateway.join().join("\n");
        assert!(
            !told.contains(secret) && !told.contains("not-this-one"),
            "{told}"
        );
        assert_eq!(records.list(&format!("{LIST}_0")).len(), expected);
        assert_eq!(keys.list(LIST).len(), 0);
    }
}

#[test]
fn a_collector_of_spans_that_is_away_costs_spans_and_no_request() {
    let (upstream, nobody) = (upstream(), Nobody::new());
    let rest = format!(
        "{}tracing: {{ endpoint: \"http://{}\" }}\n",
        to(upstream.address),
        nobody.address
    );
    let gateway = Gateway::with_shards(1, &rest);
    requests(&gateway, 100);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("/v1/traces takes no records"), "{told}");
    assert!(told.contains("100 records were lost"), "{told}");
}

#[test]
fn a_collector_of_logs_gets_a_record_a_request() {
    let (got, records) = std::sync::mpsc::channel();
    let collector = crate::tracing::collector(got);
    let upstream = upstream();
    let at = collector.address;
    let rest = format!(
        "{}analytics: {{ otlp: {{ endpoint: \"http://{at}\" }} }}\ntracing: {{ endpoint: \"http://{at}\" }}\n",
        to(upstream.address)
    );
    let gateway = Gateway::with_shards(1, &rest);
    requests(&gateway, 4);
    gateway.tell_to_stop();
    gateway.join();
    let (mut logs, mut spans) = (Vec::new(), Vec::new());
    while let Ok((path, body)) = records.try_recv() {
        let found = crate::tracing::records;
        match &*path {
            "/v1/logs" => logs.extend(found(
                &body["resourceLogs"][0]["scopeLogs"][0],
                "logRecords",
            )),
            _ => spans.extend(found(&body["resourceSpans"][0]["scopeSpans"][0], "spans")),
        }
    }
    assert_eq!((logs.len(), spans.len()), (4, 4));
    for log in logs {
        let body: Value =
            serde_json::from_str(log["body"]["stringValue"].as_str().unwrap()).unwrap();
        assert_eq!(body["response_code"], 200);
        assert_eq!(log["severityNumber"], 9);
        let span = spans
            .iter()
            .find(|span| span["spanId"] == log["spanId"])
            .unwrap();
        assert_eq!(span["traceId"], log["traceId"]);
        assert_eq!(span["endTimeUnixNano"], log["timeUnixNano"]);
    }
}
