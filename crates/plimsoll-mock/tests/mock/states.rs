//! Stub state under many clients and on several shards, and its admin routes.

use crate::world::{Mock, config};
use plimsoll_mock::MockConfig;
use serde_json::json;
use std::collections::BTreeMap;

/// States of the circle that all clients walk together.
const STATES: usize = 100;
const CLIENTS: usize = 20;
const REQUESTS: usize = 10_000;

/// Every request takes one step of a circle. If a step were lost, or taken twice from one state, some answer would come more often than
/// another; a false 404 would be seen at once.
#[test]
fn ten_thousand_parallel_steps_lose_none() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("mappings")).unwrap();
    let name = |state: usize| match state % STATES {
        0 => "Started".to_owned(),
        state => format!("s{state}"),
    };
    let mappings: Vec<_> = (0..STATES)
        .map(|state| {
            json!({
                "scenarioName": "circle",
                "requiredScenarioState": name(state),
                "newScenarioState": name(state + 1),
                "request": {"urlPath": "/step"},
                "response": {"body": state.to_string()},
            })
        })
        .collect();
    let text = json!({"mappings": mappings}).to_string();
    std::fs::write(root.path().join("mappings/circle.json"), text).unwrap();
    let mock = Mock::start(MockConfig {
        root_dir: Some(root.path().to_owned()),
        shards: 2,
        ..config()
    });
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let mut client = mock.client();
                scope.spawn(move || {
                    let step = |_| {
                        let answer = client.get("/step");
                        assert_eq!(answer.status, 200);
                        answer.text()
                    };
                    (0..REQUESTS / CLIENTS).map(step).collect::<Vec<_>>()
                })
            })
            .collect();
        for client in clients {
            for state in client.join().unwrap() {
                *counts.entry(state).or_default() += 1;
            }
        }
    });
    assert_eq!(counts.len(), STATES);
    assert!(
        counts.values().all(|count| *count == REQUESTS / STATES),
        "{counts:?}"
    );
    let scenarios = mock.client().get("/__admin/scenarios").json();
    assert_eq!(scenarios["scenarios"][0]["state"], "Started");
}

#[test]
fn states_are_seen_and_set() {
    let mock = Mock::with_stubs(&[
        r#"{"scenarioName": "a b", "requiredScenarioState": "Started", "newScenarioState": "Z", "request": {"url": "/x"}, "response": {"body": "first"}}"#,
        r#"{"scenarioName": "a b", "requiredScenarioState": "Z", "request": {"url": "/x"}, "response": {"body": "later"}}"#,
    ]);
    let mut client = mock.client();
    let shown = client.get("/__admin/scenarios").json();
    let scenario = &shown["scenarios"][0];
    assert_eq!(
        (
            &scenario["name"],
            &scenario["state"],
            &scenario["possibleStates"]
        ),
        (&json!("a b"), &json!("Started"), &json!(["Started", "Z"]))
    );
    assert_eq!(scenario["mappings"].as_array().unwrap().len(), 2);
    assert_eq!(client.get("/x").text(), "first");
    assert_eq!(client.get("/x").text(), "later");
    let state = "/__admin/scenarios/a%20b/state";
    assert_eq!(client.send("PUT", state, "").status, 200);
    assert_eq!(client.get("/x").text(), "first");
    assert_eq!(
        client.send("POST", "/__admin/scenarios/reset", "").status,
        200
    );
    assert_eq!(client.get("/x").text(), "first");
    let unknown = client.send("PUT", "/__admin/scenarios/other/state", r#"{"state": "Z"}"#);
    assert_eq!(unknown.status, 404);
    let impossible = client.send("PUT", state, r#"{"state": "Q"}"#);
    assert_eq!(impossible.status, 422);
    assert_eq!(
        impossible.json()["errors"][0],
        json!({"code": 11, "title": "Scenario a b does not support state Q"})
    );
    assert_eq!(client.send("PUT", state, r#"{"stat": "Z"}"#).status, 422);
    assert_eq!(client.send("PUT", state, r#"{"state": "Z"}"#).status, 200);
    assert_eq!(client.get("/x").text(), "later");
    assert_eq!(client.send("POST", "/__admin/reset", "").status, 200);
    assert_eq!(
        client.get("/__admin/scenarios").json()["scenarios"],
        json!([])
    );
}
