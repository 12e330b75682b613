//! Stub mappings that this mock has recorded of another server, which is a mock too.

use super::answers::{exchange, request};
use super::ours::Ours;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A recording, and what was answered while it was made.
pub struct Recorded {
    mappings: Value,
    pub original: Vec<Value>,
}

/// Fields of requests, by name and value.
type Fields = &'static [(&'static str, &'static str)];

/// Requests while it is recorded and afterwards: line, fields, body.
const REQUESTS: &[(&str, Fields, &str)] = &[
    ("GET /plain", &[], ""),
    ("GET /query?b=2&a=1%20x&a=", &[], ""),
    ("GET /a%20b/c+d", &[], ""),
    (
        "POST /json",
        &[("Content-Type", "application/json")],
        r#"{"a": [1, 2]}"#,
    ),
    ("POST /text", &[("Content-Type", "text/plain")], "some text"),
    (
        "POST /form",
        &[("Content-Type", "application/x-www-form-urlencoded")],
        "a=1&b=2",
    ),
    (
        "POST /bytes",
        &[("Content-Type", "application/octet-stream")],
        "\u{1}\u{2}",
    ),
    ("PUT /captured", &[("X-Id", "7")], ""),
    ("GET /bytes", &[], ""),
    ("GET /none", &[], ""),
    ("GET /away", &[], ""),
    // Twice, and answered otherwise the second time.
    ("GET /turns", &[], ""),
    ("GET /turns", &[], ""),
];

/// Stubs of the server behind.
fn stubs() -> Vec<Value> {
    vec![
        json!({"response": {"headers": {"X-A": ["1", "2"], "Content-Type": "text/plain"}, "body": "an answer"}}),
        json!({"request": {"url": "/bytes", "method": "GET"}, "response": {"base64Body": "AP8B"}}),
        json!({"request": {"url": "/none"}, "response": {"status": 204}}),
        json!({"request": {"url": "/away"}, "response": {"status": 302, "headers": {"Location": "/plain"}}}),
        json!({"request": {"url": "/turns"}, "scenarioName": "turns", "requiredScenarioState": "Started",
            "newScenarioState": "second", "response": {"body": "first"}}),
        json!({"request": {"url": "/turns"}, "scenarioName": "turns", "requiredScenarioState": "second",
            "response": {"body": "second"}}),
    ]
}

impl Recorded {
    pub fn make() -> Self {
        let behind = Ours::start();
        for stub in stubs() {
            let created = admin(behind.address(), "POST /__admin/mappings", &stub);
            assert_eq!(created["status"], 201, "{created}");
        }
        let recorder = Ours::start();
        let spec = json!({
            "targetBaseUrl": format!("http://{}", behind.address()),
            "persist": false, "captureHeaders": {"X-Id": {}},
        });
        admin(recorder.address(), "POST /__admin/recordings/start", &spec);
        let original = answers(recorder.address());
        let stopped = admin(
            recorder.address(),
            "POST /__admin/recordings/stop",
            &json!({}),
        );
        let mappings: Value = serde_json::from_str(stopped["body"].as_str().unwrap()).unwrap();
        assert_eq!(
            mappings["mappings"].as_array().unwrap().len(),
            REQUESTS.len()
        );
        Self { mappings, original }
    }

    /// Puts the mappings to a server.
    pub fn import(&self, server: SocketAddr) {
        let imported = admin(server, "POST /__admin/mappings/import", &self.mappings);
        assert_eq!(imported["status"], 200, "{imported}");
    }

    /// Answers of a server to the requests.
    pub fn answers(&self, server: SocketAddr) -> Vec<Value> {
        answers(server)
    }
}

fn answers(server: SocketAddr) -> Vec<Value> {
    let ask = |(line, fields, body): &(&str, Fields, &str)| {
        let mut answer = exchange(server, &request(line, fields, body.as_bytes()));
        // Each server has its own phrases and ids, and a recorded mapping has a name, which answers bear.
        if let Value::Object(parts) = &mut answer {
            parts.shift_remove("reason");
            if let Some(Value::Array(fields)) = parts.get_mut("fields") {
                fields.retain(|field| !field[0].as_str().unwrap().starts_with("matched-stub-"));
                if fields.is_empty() {
                    parts.shift_remove("fields");
                }
            }
        }
        answer
    };
    REQUESTS.iter().map(ask).collect()
}

fn admin(server: SocketAddr, line: &str, body: &Value) -> Value {
    exchange(server, &request(line, &[], body.to_string().as_bytes()))
}
