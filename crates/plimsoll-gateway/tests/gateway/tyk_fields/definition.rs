//! API definitions: `apidef/api_definitions.go` says which fields there are, the rows what they mean.

mod ignored;
mod rows;

pub use ignored::UNREAD;
pub use rows::ROWS;

use super::Look::{Answer, Body, Got, Sent, Statuses};
use super::{Ask, Held, Row, held, json_of, row, upstream};
use crate::sinks::until;
use crate::support::Upstream;
use crate::tyk::{Files, ask, call, merge, target};
use serde_json::{Value, json};
use std::sync::{Arc, Condvar, Mutex};

/// Every case beside each other: two APIs each.
#[test]
fn fields_of_definitions_mean_what_they_mean_to_tyk() {
    let upstream = upstream();
    let files = Files::new();
    files.conf(json!({ "allow_master_keys": true }));
    let cases = || {
        let numbered = ROWS.iter().enumerate();
        numbered.filter_map(|(number, Row(name, _, held))| match held {
            Held::Case(case) => Some((number, name, case)),
            Held::Test(_) => None,
        })
    };
    for (number, _, case) in cases() {
        for (which, text) in [("without", case.without), ("with", case.with)] {
            let mut api = json!({ "proxy": target(upstream.address) });
            merge(&mut api, json_of(text, &upstream));
            files.api(&format!("{which}-{number}"), api);
        }
    }
    let gateway = files.start();
    for (number, name, case) in cases() {
        for which in ["without", "with"] {
            let api = format!("{which}-{number}");
            let key = format!("key-of-{api}");
            let own = r#"{"quota_max":5,"quota_renewal_rate":3600}"#;
            let made = call(&gateway, "POST", &format!("/tyk/keys/{key}"), own);
            assert_eq!(made.0, 200, "{}", made.1);
            for ask in case.asks {
                let expected = if which == "with" { ask.3 } else { ask.2 };
                let seen = ask.look(&gateway, &format!("/{api}"), &key);
                let seen = seen.lines().next().unwrap_or_default();
                let expected = expected.replace("KEY", &key);
                assert_eq!(seen, expected, "{name}, {which} it: {}", ask.0);
            }
        }
    }
}

/// An upstream whose answers to `/slow` wait until they are let go.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn opens(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn upstream(&self) -> Upstream {
        let gate = self.clone();
        Upstream::start(move |mut peer, _| {
            while peer.request().is_some() {
                let is_open = gate.0.0.lock().unwrap();
                drop(gate.0.1.wait_while(is_open, |is_open| !*is_open).unwrap());
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        })
    }
}

#[test]
fn hard_timeouts_hold_for_their_path_and_method() {
    let gate = Gate::default();
    let upstream = gate.upstream();
    let files = Files::new();
    let timed = |more: Value| {
        let mut entry = json!({ "path": "/slow", "method": "GET", "timeout": 0.05 });
        merge(&mut entry, more);
        let lists = json!({ "hard_timeouts": [entry] });
        json!({ "proxy": target(upstream.address), "version_data": { "versions": { "Default": { "extended_paths": lists } } } })
    };
    files.api("timed", timed(json!({})));
    files.api("disabled", timed(json!({ "disabled": true })));
    files.api("long", timed(json!({ "timeout": 20 })));
    let gateway = files.start();
    let timed_out = ask(&gateway, "/timed/slow", "").refusal();
    assert_eq!(timed_out, "504 Upstream service reached hard timeout.");
    let mut waiting: Vec<_> = [
        "GET /timed/other",
        "POST /timed/slow",
        "GET /disabled/slow",
        "GET /long/slow",
    ]
    .into_iter()
    .map(|line| {
        let mut client = gateway.connect();
        client.send(&format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n"));
        (line, client)
    })
    .collect();
    // By the time that this one has been given up, they would have been, too.
    assert_eq!(ask(&gateway, "/timed/slow", "").status(), 504);
    gate.opens();
    for (line, client) in &mut waiting {
        assert_eq!(client.response(false).status(), 200, "{line}");
    }
}

#[test]
fn breakers_rest_and_are_tried_or_closed() {
    let upstream = upstream();
    let files = Files::new();
    for (id, rest, closes) in [
        ("tried", 1, false),
        ("closed", 1, true),
        ("resting", 3600, false),
    ] {
        let breaker = json!({ "path": "/fails", "method": "GET", "threshold_percent": 0.5, "samples": 2, "return_to_service_after": rest, "disable_half_open_state": closes });
        let lists = json!({ "circuit_breakers": [breaker] });
        files.api(id, json!({ "proxy": target(upstream.address), "version_data": { "versions": { "Default": { "extended_paths": lists } } } }));
    }
    let gateway = files.start();
    let status = |id: &str| ask(&gateway, &format!("/{id}/fails"), "").status();
    for id in ["tried", "closed", "resting"] {
        assert_eq!([(); 3].map(|()| status(id)), [500, 500, 503], "{id}");
    }
    until("a try", || status("tried") == 500);
    assert_eq!(status("tried"), 503, "one failure is enough");
    until("it is closed", || status("closed") == 500);
    assert_eq!(status("closed"), 500, "it counts anew");
    assert_eq!(status("resting"), 503);
}

#[test]
fn code_is_refused_wherever_tyk_would_run_it() {
    let files = Files::new();
    let hook = json!({ "name": "check", "path": "check" });
    let problem = |more: Value| {
        files.api("a", more);
        files.open(false).map(|_| ()).err().unwrap_or_default()
    };
    for list in ["pre", "post", "post_key_auth", "response"] {
        let code = |driver: &str, hook: &Value| json!({ "custom_middleware": { "driver": driver, list: [hook] } });
        let told = problem(code("otto", &hook));
        assert!(
            told.contains(&format!("custom_middleware.{list}: code")),
            "{told}"
        );
        let mut disabled = hook.clone();
        disabled["disabled"] = json!(true);
        assert_eq!(problem(code("otto", &disabled)), "", "{list}");
        // In processes beside Tyk, none of which there is, but for responses.
        let told = problem(code("python", &hook));
        assert_eq!(told.is_empty(), list != "response", "{list}: {told}");
    }
    for switch in ["enable_coprocess_auth", "custom_plugin_auth_enabled"] {
        let told = problem(json!({ "custom_middleware": { "driver": "otto" }, switch: true }));
        assert!(
            told.contains(&format!("{switch}: code is not run")),
            "{told}"
        );
        let own = problem(json!({ "custom_middleware": { "driver": "grpc" }, switch: true }));
        assert_eq!(own, "");
    }
    let bundle = json!({ "custom_middleware_bundle": "b.zip" });
    assert!(problem(bundle.clone()).contains("custom_middleware_bundle: code"));
    let mut off = bundle;
    off["custom_middleware_bundle_disabled"] = json!(true);
    assert_eq!(problem(off), "");
}
