//! `tyk.conf`: `config/config.go` says which fields there are, the rows what they mean.

mod rows;

pub use rows::{ROWS, UNREAD};

use super::Look::{Got, Sent, Statuses};
use super::{Ask, Held, Row, Unread, held, json_of, row, upstream};
use crate::redis::own_address;
use crate::support::{Gateway, Upstream};
use crate::tyk::{Files, ask, call, session, target};
use base64::Engine as _;
use serde_json::{Value, json};

/// An open API, one with keys and one with a closed path.
fn files() -> Files {
    let upstream = upstream();
    let files = Files::new();
    files.api("open", json!({ "proxy": target(upstream.address) }));
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let lists = json!({ "black_list": [{ "path": "/shut" }] });
    files.api("listed", json!({ "proxy": target(upstream.address), "version_data": { "versions": { "Default": { "extended_paths": lists } } } }));
    files
}

fn starts(conf: Value) -> Gateway {
    let files = files();
    files.conf(conf);
    files.start()
}

#[test]
fn fields_of_the_configuration_mean_what_they_mean_to_tyk() {
    let upstream = upstream();
    for Row(name, _, held) in ROWS {
        let Held::Case(case) = held else { continue };
        for (which, text) in [("without", case.without), ("with", case.with)] {
            let gateway = starts(json_of(text, &upstream));
            for ask in case.asks {
                let expected = if which == "with" { ask.3 } else { ask.2 };
                let seen = ask.look(&gateway, "", "");
                assert_eq!(seen, expected, "{name}, {which} it: {}", ask.0);
            }
        }
    }
}

#[test]
fn ignored_fields_of_the_configuration_change_nothing_and_are_told() {
    let files = files();
    let storage = || json!({ "type": "redis", "host": "127.0.0.1", "port": 9 });
    let base = json!({
        "storage": storage(), "enable_analytics": true, "enable_separate_analytics_store": true, "analytics_storage": storage(),
        "analytics_config": { "type": "redis" },
    });
    let open = |conf: Value| {
        files.conf(conf);
        let opened = files.open(false);
        let (_, config, notes) = opened.unwrap_or_else(|problems| panic!("{problems}"));
        (format!("{config:?}"), notes[0].clone())
    };
    let (without, _) = open(base.clone());
    let telling = Unread("proxy_default_timeout", "", "5");
    assert_ne!(open(telling.in_document(&base)).0, without);
    for unread in UNREAD {
        let (with, note) = open(unread.in_document(&base));
        assert_eq!(with, without, "{}", unread.0);
        assert!(note.contains(unread.shown()), "{}: {note}", unread.0);
    }
}

#[test]
fn it_listens_where_it_is_told() {
    let at = own_address();
    let gateway =
        starts(json!({ "listen_address": at.ip().to_string(), "listen_port": at.port() }));
    assert_eq!(gateway.address("main"), at);
    assert_eq!(ask(&gateway, "/open/", "").status(), 200);
    drop(gateway);
    let elsewhere = starts(json!({ "listen_address": "127.0.0.2" }));
    assert_eq!(elsewhere.address("main").ip().to_string(), "127.0.0.2");
}

#[test]
fn what_is_kept_elsewhere_is_refused() {
    let files = files();
    let problem = |conf: Value| {
        files.conf(conf);
        files.open(false).map(|_| ()).err().unwrap_or_default()
    };
    for source in ["service", "rpc"] {
        let told = problem(json!({ "policies": { "policy_source": source } }));
        assert!(told.contains("policies.policy_source"), "{told}");
    }
    assert_eq!(
        problem(json!({ "policies": { "policy_source": "anything" } })),
        ""
    );
    let redis = |kind: &str| json!({ "type": kind, "host": "127.0.0.1", "port": 9 });
    let recorded = |config: Value, kind: &str| json!({ "storage": redis("redis"), "enable_analytics": true, "enable_separate_analytics_store": true, "analytics_storage": redis(kind), "analytics_config": config });
    assert!(problem(json!({ "storage": redis("mongo") })).contains("storage.type"));
    assert_eq!(problem(json!({ "storage": redis("redis") })), "");
    // Wherever it is named: it is not passed over.
    let unkind = json!({ "hosts": { "127.0.0.1": "9" } });
    assert!(problem(json!({ "storage": unkind })).contains("storage.type"));
    let told = problem(recorded(json!({}), "mongo"));
    assert!(told.contains("analytics_storage.type"), "{told}");
    let told = problem(recorded(json!({ "type": "rpc" }), "redis"));
    assert!(told.contains("analytics_config.type"), "{told}");
    let told = problem(recorded(json!({ "serializer_type": "protobuf" }), "redis"));
    assert!(told.contains("analytics_config.serializer_type"), "{told}");
    let plain = json!({ "type": "redis", "serializer_type": "msgpack" });
    assert_eq!(problem(recorded(plain, "redis")), "");
}

/// Tyk 5.15: `keyHandler` and `handleGetDetail` of `gateway/api.go`, and `GenerateToken` of `internal/crypto/token.go`.
#[test]
fn keys_are_listed_and_named_as_tyk_does() {
    let made = |gateway: &Gateway| {
        let owned = session(json!({ "org_id": "acme" }));
        call(gateway, "POST", "/tyk/keys/create", &owned).1
    };
    let list = |gateway: &Gateway| call(gateway, "GET", "/tyk/keys", "");
    let plain = starts(json!({ "hash_keys": false }));
    let key = made(&plain);
    let name = key["key"].as_str().unwrap();
    assert!(name.starts_with("acme") && name.len() == 36, "{name}");
    assert_eq!(key["key_hash"], Value::Null);
    assert_eq!(list(&plain), (200, json!({ "keys": [name] })));
    let hidden = starts(json!({}));
    let key = made(&hidden);
    assert_eq!(list(&hidden).0, 404);
    let by_hash = format!(
        "/tyk/keys/{}?hashed=true",
        key["key_hash"].as_str().unwrap()
    );
    assert_eq!(call(&hidden, "GET", &by_hash, "").0, 200);
    let changed = call(&hidden, "PUT", &by_hash, &session(json!({}))).1;
    assert_eq!(
        (&changed["action"], &changed["key_hash"]),
        (&json!("modified"), &Value::Null)
    );
    assert_eq!(call(&plain, "GET", &by_hash, "").0, 400);
    let listed =
        starts(json!({ "enable_hashed_keys_listing": true, "hash_key_function": "murmur64" }));
    let key = made(&listed);
    assert_eq!(list(&listed), (200, json!({ "keys": [key["key_hash"]] })));
    let named = base64::prelude::BASE64_STANDARD.decode(key["key"].as_str().unwrap());
    let named: Value = serde_json::from_slice(&named.unwrap()).unwrap();
    assert_eq!(named["org"], "acme");
    assert_eq!(named["id"].as_str().unwrap().len(), 32);
    assert_eq!(
        ask(&listed, "/keyed/", key["key"].as_str().unwrap()).status(),
        200
    );
}

#[test]
fn what_is_under_way_is_waited_for_as_long_as_it_says() {
    let (begun, begins) = std::sync::mpsc::channel();
    let silent = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            begun.send(()).unwrap();
        }
    });
    let files = Files::new();
    files.conf(json!({ "graceful_shutdown_timeout_duration": 1 }));
    files.api("silent", json!({ "proxy": target(silent.address) }));
    let gateway = files.start();
    let mut client = gateway.connect();
    client.send("GET /silent/ HTTP/1.1\r\nHost: a\r\n\r\n");
    begins.recv().unwrap();
    let told = plimsoll_testbed::clock::now();
    gateway.tell_to_stop();
    gateway.join();
    let took = told.elapsed().as_secs_f64();
    // Left out it is half a minute.
    assert!((0.9..15.0).contains(&took), "{took}");
}

#[test]
fn so_many_idle_connections_are_kept() {
    let connections = |conf: Value| {
        let (numbers, numbered) = std::sync::mpsc::channel();
        let both = std::sync::Arc::new(std::sync::Barrier::new(2));
        let upstream = Upstream::start(move |mut peer, number| {
            numbers.send(number).unwrap();
            while peer.request().is_some() {
                // Two are under way at once, over a connection each.
                both.wait();
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        });
        let files = Files::new();
        files.conf(conf);
        files.api("a", json!({ "proxy": target(upstream.address) }));
        let gateway = files.start();
        for _ in 0..3 {
            let mut clients = [(); 2].map(|()| gateway.connect());
            for client in &mut clients {
                client.send("GET /a/ HTTP/1.1\r\nHost: a\r\n\r\n");
            }
            for client in &mut clients {
                assert_eq!(client.response(false).status(), 200);
            }
        }
        numbered.try_iter().count()
    };
    assert_eq!(connections(json!({})), 2);
    assert_eq!(
        connections(json!({ "max_idle_connections_per_host": 1 })),
        4
    );
}
