//! Secrets of AWS Secrets Manager, whose part our mock plays: kept fresh beside the requests, rotated, withheld, refused.

use crate::program::{Server, Workspace, exchange, get};
use plimsoll_testbed::clock;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// How late the API answers.
const DELAY: Duration = Duration::from_millis(1000);
/// Id of the API's stub.
const API: &str = "5d83b7a3-2f0e-4a4d-9a53-8f8f0e4a9c11";
/// Looks at something that has to come; beyond so many it never will.
const LOOKS: usize = 200_000;

/// The stub of `GetSecretValue`.
fn api(response: &Value) -> Value {
    json!({
        "id": API,
        "request": {
            "method": "POST",
            "urlPath": "/",
            "headers": {
                "X-Amz-Target": { "equalTo": "secretsmanager.GetSecretValue" },
                "Content-Type": { "equalTo": "application/x-amz-json-1.1" },
                "Authorization": { "matches": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/[0-9]{8}/eu-central-1/secretsmanager/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=[0-9a-f]{64}" },
            },
            "bodyPatterns": [{ "equalToJson": { "SecretId": "prod/token" } }],
        },
        "response": response,
    })
}

fn value(token: &str, delay: Duration) -> Value {
    let secret = json!({ "token": token }).to_string();
    json!({
        "status": 200,
        "jsonBody": { "Name": "prod/token", "VersionStages": ["AWSCURRENT"], "SecretString": secret },
        "fixedDelayMilliseconds": delay.as_secs() * 1000,
    })
}

/// A mock that is the API, and the upstream that says which token has come.
fn mock(workspace: &Workspace, response: &Value) -> Server {
    workspace.write("stubs/mappings/api.json", &api(response).to_string());
    for token in ["token-one", "token-two"] {
        let stub = json!({
            "request": { "urlPath": "/who", "headers": { "X-Token": { "equalTo": token } } },
            "response": { "status": 200, "body": token },
        });
        workspace.write(&format!("stubs/mappings/{token}.json"), &stub.to_string());
    }
    Server::start(workspace, &["mock", "--port", "0", "--root-dir", "stubs"])
}

/// The API answers this from now on.
fn answers(mock: &Server, response: &Value) {
    let (addr, body) = (mock.main(), api(response).to_string());
    let request = format!(
        "PUT /__admin/mappings/{API} HTTP/1.1\r\nHost: {addr}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(addr, &request);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// A gateway whose requests carry a token of the API.
fn configure(workspace: &Workspace, mock: SocketAddr, times: &str) {
    workspace.write(
        "secret-key.txt",
        "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n",
    );
    workspace.write(
        "gateway.yaml",
        &format!(
            "version: 1\nlisteners:\n  main: {{ address: \"127.0.0.1:0\" }}\nadmin: {{ address: \"127.0.0.1:0\" }}\n\
             upstreams:\n  mock: {{ endpoints: [\"http://{mock}\"] }}\nroutes:\n  - path: /\n    upstream: mock\n    rules:\n      \
             - {{ at: /, request_fields: {{ set: {{ X-Token: {{ aws: {{ secret: prod/token, key: token }} }} }} }} }}\n\
             secrets:\n  region: eu-central-1\n  endpoint: \"http://{mock}\"\n  \
             credentials: {{ access_key: AKIDEXAMPLE, secret_key: {{ file: secret-key.txt }} }}\n  {times}\n"
        ),
    );
}

/// Status and body.
fn who(gateway: &Server) -> (String, String) {
    let answer = get(gateway.main(), "/who");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].to_owned(), body.to_owned())
}

fn metric(gateway: &Server, name: &str) -> u64 {
    let page = get(gateway.listening["admin"], "/metrics");
    let name = format!("plimsoll_gateway_{name} ");
    let value = page.lines().find_map(|line| line.strip_prefix(&name));
    value.map_or(0, |value| value.parse().unwrap())
}

#[test]
fn no_request_waits_for_a_secret_and_a_new_one_is_picked_up() {
    let workspace = Workspace::new();
    let mock = mock(&workspace, &value("token-one", DELAY));
    configure(&workspace, mock.main(), "ttl: 1s\n  stale: 60s");
    let arguments = ["gateway", "--config", "gateway.yaml", "--shards", "2"];
    let gateway = Server::start_told(&workspace, "log", &arguments);
    let mut longest = Duration::ZERO;
    // The first value, and three that have replaced one that had expired or was about to.
    while metric(&gateway, "secret_refreshes_total") < 4 {
        let begun = clock::now();
        assert_eq!(who(&gateway), ("200".to_owned(), "token-one".to_owned()));
        longest = longest.max(begun.elapsed());
    }
    assert!(longest < DELAY, "a request took {longest:?}");
    answers(&mock, &value("token-two", Duration::ZERO));
    let changed = (0..LOOKS).any(|_| who(&gateway).1 == "token-two");
    assert!(changed);
    assert_eq!(metric(&gateway, "secret_rotations_total"), 1);
    let page = get(gateway.listening["admin"], "/metrics");
    assert_eq!(gateway.stop(), Some(0));
    let log = workspace.read("log");
    assert!(log.contains("secret `prod/token` has a new value"), "{log}");
    for shown in [page, log] {
        for hidden in ["token-one", "token-two", "wJalr"] {
            assert!(!shown.contains(hidden), "{shown}");
        }
    }
}

#[test]
fn a_value_outlives_an_outage_for_a_while_and_is_withheld_then() {
    let workspace = Workspace::new();
    let mock = mock(&workspace, &value("token-one", Duration::ZERO));
    configure(&workspace, mock.main(), "ttl: 300ms\n  stale: 2s");
    let arguments = ["gateway", "--config", "gateway.yaml"];
    let gateway = Server::start_told(&workspace, "log", &arguments);
    assert_eq!(who(&gateway).0, "200");
    answers(&mock, &json!({ "status": 500, "body": "out of order" }));
    let stale = (0..LOOKS).any(|_| metric(&gateway, "secrets_stale") == 1);
    assert!(stale);
    assert_eq!(who(&gateway), ("200".to_owned(), "token-one".to_owned()));
    let withheld = (0..LOOKS).any(|_| metric(&gateway, "secrets_withheld") == 1);
    assert!(withheld);
    let (status, body) = who(&gateway);
    assert_eq!(status, "503", "{body}");
    assert!(
        body.contains("a secret that this path needs is not to be had"),
        "{body}"
    );
    answers(&mock, &value("token-two", Duration::ZERO));
    let back = (0..LOOKS).any(|_| who(&gateway) == ("200".to_owned(), "token-two".to_owned()));
    assert!(back);
    assert_eq!(gateway.stop(), Some(0));
    let log = workspace.read("log");
    for line in [
        "secret `prod/token` cannot be refreshed: http://127.0.0.1:",
        "answers 500",
        "secret `prod/token` is older than `secrets.ttl` and used all the same",
        "secret `prod/token` is withheld",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[test]
fn what_is_refused_at_start_is_said_plainly() {
    let mut messages = String::new();
    for (status, kind) in [
        (400, "AccessDeniedException"),
        (
            400,
            "com.amazonaws.secretsmanager#ResourceNotFoundException",
        ),
        (403, "InvalidSignatureException"),
        (403, ""),
        (404, ""),
    ] {
        let workspace = Workspace::new();
        let body = json!({ "__type": kind, "Message": "as AWS puts it" });
        let mock = mock(&workspace, &json!({ "status": status, "jsonBody": body }));
        configure(&workspace, mock.main(), "wait: 60s");
        let refused = workspace.run(&["gateway", "--config", "gateway.yaml"]);
        assert_ne!(refused.code, Some(0));
        let port = mock.main().port().to_string();
        messages += &refused.stderr.replace(&port, "PORT");
    }
    let workspace = Workspace::new();
    let mock = mock(&workspace, &value("token-one", Duration::from_secs(60)));
    configure(&workspace, mock.main(), "wait: 300ms");
    messages += &workspace
        .run(&["gateway", "--config", "gateway.yaml"])
        .stderr;
    insta::assert_snapshot!(messages);
}
