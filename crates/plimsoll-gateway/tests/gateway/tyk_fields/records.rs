//! Fields that say where Redis is, and which records of requests are kept there.

use crate::redis::Redis;
use crate::sinks::{LIST, until};
use crate::support::{Gateway, Upstream};
use crate::tyk::{Files, REDIS_PASSWORD, ask, call, merge, session, target};
use serde_json::{Value, json};

fn start(conf: Value) -> Gateway {
    let upstream = Upstream::echo();
    let files = Files::new();
    files.conf(conf);
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    files.api("open", json!({ "proxy": target(upstream.address) }));
    files.start()
}

/// How many keys a database of Redis has of this pattern.
fn count(redis: &Redis, database: u8, pattern: &str) -> usize {
    let script = "redis.call('SELECT', ARGV[1]); return #redis.call('KEYS', ARGV[2])";
    let mut eval = redis::cmd("EVAL");
    redis.answers(eval.arg(script).arg(0).arg(database).arg(pattern))
}

/// `HostAddrs` of `config/util.go`, `NewConnector` of `storage/connection_handler.go`.
#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn redis_is_reached_as_it_is_named() {
    let mut redis = Redis::start();
    redis.does(&format!(
        "ACL SETUSER teller on >{REDIS_PASSWORD} ~* &* +@all"
    ));
    redis.does("ACL SETUSER default resetpass on >another");
    redis.password = Some("another".to_owned());
    let (host, port) = (redis.at.ip().to_string(), redis.at.port());
    let nowhere = json!({ "host": host, "port": 1 });
    for (database, by_address) in [
        (3, json!({ "addrs": [redis.at.to_string()] })),
        (4, json!({ "hosts": { &host: port.to_string() } })),
    ] {
        let mut storage = nowhere.clone();
        merge(&mut storage, by_address);
        let login = json!({ "type": "redis", "username": "teller", "password": REDIS_PASSWORD, "database": database });
        merge(&mut storage, login);
        let mut records = storage.clone();
        records["database"] = json!(database + 2);
        let gateway = start(json!({
            "storage": storage, "enable_analytics": true, "enable_separate_analytics_store": true, "analytics_storage": records,
        }));
        let made = call(&gateway, "POST", "/tyk/keys/a-key", &session(json!({})));
        assert_eq!(made.0, 200);
        until("the key is there", || {
            count(&redis, database, "apikey-*") == 1
        });
        assert_eq!(ask(&gateway, "/open/", "").status(), 200);
        until("the record is there", || {
            count(&redis, database + 2, LIST) == 1
        });
        assert_eq!(count(&redis, database + 2, "apikey-*"), 0);
    }
}

/// `StoreAnalytics` of `config/config.go`, `PurgeCache` of `gateway/redis_analytics_purger.go`, `recordDetailUnsafe` of
/// `gateway/handler_success.go`.
#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn records_are_kept_as_the_configuration_says() {
    for (more, recorded, detailed, seconds) in [
        (json!({}), 0, false, 0..=0),
        (json!({ "enable_analytics": true }), 1, false, 1..=60),
        (
            json!({ "enable_analytics": true, "analytics_config": { "storage_expiration_time": 900, "enable_detailed_recording": true } }),
            1,
            true,
            600..=900,
        ),
    ] {
        let redis = Redis::start();
        let mut conf = redis.conf();
        merge(&mut conf, more);
        let gateway = start(conf);
        assert_eq!(ask(&gateway, "/open/", "").status(), 200);
        gateway.tell_to_stop();
        gateway.join();
        let list = redis.list(LIST);
        assert_eq!(list.len(), recorded);
        let mut ttl = redis::cmd("TTL");
        let left: i64 = redis.answers(ttl.arg(LIST));
        if let Some(record) = list.first() {
            let record: Value = rmp_serde::from_slice(record).unwrap();
            assert_eq!(record["RawRequest"] != "", detailed);
            assert!(seconds.contains(&left), "{left}");
        }
    }
}
