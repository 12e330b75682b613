//! Secrets that are kept elsewhere than in the configuration: in files, in the environment, and behind an API that follows a script.

use crate::support::{Client, Files, Gateway, Upstream, configuration, to};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A header whose value is kept there, on the way to `upstream`.
fn with_token(upstream: SocketAddr, token: &str, more: &str) -> String {
    let rest = to(upstream).replace(
        "upstream: up }",
        &format!(
            "upstream: up, rules: [{{ at: /, request_fields: {{ set: {{ X-Token: {token} }} }} }}] }}"
        ),
    );
    configuration(&format!("{rest}{more}"))
}

/// The token that a request brings to an upstream that echoes it.
fn token(client: &mut Client) -> Option<String> {
    let answer = client.get("/");
    let body = answer.body_text();
    let line = body.lines().find_map(|line| line.strip_prefix("X-Token: "));
    line.map(str::to_owned)
}

#[test]
fn a_file_is_read_anew_at_a_reload_and_its_line_end_is_no_part_of_it() {
    let upstream = Upstream::echo();
    let files = Files::default();
    files
        .lock()
        .unwrap()
        .insert("token.txt".to_owned(), b"of-the-file\r\n".to_vec());
    let text = with_token(upstream.address, "{ file: token.txt }", "");
    let gateway = Gateway::with_files(1, text, &files);
    let mut client = gateway.connect();
    assert_eq!(token(&mut client).as_deref(), Some("of-the-file"));
    gateway.write("token.txt", "another\n");
    assert_eq!(token(&mut client).as_deref(), Some("of-the-file"));
    gateway.rewrites("token.txt", "another\n");
    assert_eq!(token(&mut client).as_deref(), Some("another"));
}

#[test]
fn a_variable_of_the_environment_is_a_secret_too() {
    let upstream = Upstream::echo();
    let gateway = Gateway::of(
        1,
        with_token(upstream.address, "{ env: UPSTREAM_TOKEN }", ""),
    );
    let found = token(&mut gateway.connect());
    assert_eq!(found.as_deref(), Some("of-the-environment"));
}

/// An API that tells these values by the names of their secrets, and refuses every other; and how often it was asked.
pub fn api(values: &Arc<Mutex<serde_json::Value>>) -> (SocketAddr, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let (values, counted) = (Arc::clone(values), Arc::clone(&asked));
    let api = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            counted.fetch_add(1, Ordering::SeqCst);
            let wanted: serde_json::Value = serde_json::from_str(&request.body_text()).unwrap();
            let name = wanted["SecretId"].as_str().unwrap();
            let value = values.lock().unwrap()[name].as_str().map(str::to_owned);
            let (status, body) = match value {
                Some(value) => ("200 OK", json!({ "SecretString": value })),
                None => ("400 Bad", json!({ "__type": "ResourceNotFoundException" })),
            };
            let body = body.to_string();
            let length = body.len();
            peer.send(&format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}"
            ));
        }
    });
    (api.address, asked)
}

#[test]
fn a_key_of_the_api_opens_and_one_call_serves_every_place() {
    let upstream = Upstream::echo();
    let values = Arc::new(Mutex::new(json!({ "keys": r#"{"a":"alpha","b":"beta"}"# })));
    let (api, asked) = api(&values);
    let keys = "key: { keys: [{ name: a, key: { aws: { secret: keys, key: a } } }, { name: b, key: { aws: { secret: keys, key: b } } }] }";
    let text = |more: &str| {
        let rest = to(upstream.address).replace(
            "upstream: up }",
            &format!("upstream: up, policies: {{ {keys}{more} }} }}"),
        );
        configuration(&format!(
            "{rest}secrets: {{ endpoint: \"http://{api}\" }}\n"
        ))
    };
    let limit = ", rate_limit: { rate: 1/h, burst: 2, per: key }";
    let gateway = Gateway::of(2, text(limit));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let ask = |key: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: {key}\r\n\r\n");
        gateway.connect().ask(&request).status()
    };
    assert_eq!([ask("alpha"), ask("gamma"), ask("beta")], [200, 403, 200]);
    // What is known is not asked for again, and how far a key's limit is used up stays with its place.
    gateway.becomes(text(limit));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!([ask("alpha"), ask("alpha"), ask("beta")], [200, 429, 200]);
}

#[test]
fn a_reload_that_names_a_secret_that_is_not_there_is_refused() {
    let upstream = Upstream::echo();
    let values = Arc::new(Mutex::new(json!({ "one": "1" })));
    let (api, _) = api(&values);
    let text = |name: &str| {
        let secrets = format!("secrets: {{ endpoint: \"http://{api}\" }}\n");
        with_token(
            upstream.address,
            &format!("{{ aws: {{ secret: {name} }} }}"),
            &secrets,
        )
    };
    let gateway = Gateway::of(1, text("one"));
    gateway.rewrite(text("two"));
    let refusal = gateway.reload().refusal();
    assert_eq!(
        refusal,
        "422 gateway.yaml:6:98: routes[0].rules[0].request_fields.set.X-Token.aws.secret: secret `two` cannot be had: ResourceNotFoundException: there is no such secret in eu-central-1: check its name and the region"
    );
    assert_eq!(token(&mut gateway.connect()).as_deref(), Some("1"));
    // A line end would end the field.
    values.lock().unwrap()["two"] = json!("2\r\nX-Admin: 1");
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.ends_with("its value does not do here: the value of a field has no control character, and no space at its ends"),
        "{refusal}"
    );
    values.lock().unwrap()["two"] = json!("2");
    gateway.becomes(text("two"));
    assert_eq!(token(&mut gateway.connect()).as_deref(), Some("2"));
    gateway.reaches("secrets", 1);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        !told.contains("X-Admin") && !told.contains("not-to-be-shown"),
        "{told}"
    );
}

/// An API that tells the value `1` to who shows the credential that it accepts then, and refuses the others.
fn particular(accepted: &Arc<Mutex<&'static str>>) -> SocketAddr {
    let accepted = Arc::clone(accepted);
    let api = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let shown = format!("Credential={}/", accepted.lock().unwrap());
            let (status, body) = match request.field("authorization") {
                Some(said) if said.contains(&shown) => ("200 OK", json!({ "SecretString": "1" })),
                _ => (
                    "400 Bad",
                    json!({ "__type": "UnrecognizedClientException" }),
                ),
            };
            let body = body.to_string();
            let length = body.len();
            peer.send(&format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}"
            ));
        }
    });
    api.address
}

#[test]
fn a_reload_with_other_credentials_repairs_what_is_withheld() {
    let upstream = Upstream::echo();
    let accepted = Arc::new(Mutex::new("first"));
    let api = particular(&accepted);
    let text = |access_key: &str| {
        let times = "ttl: 500ms, stale: 500ms";
        let credentials = format!("{{ access_key: {access_key}, secret_key: any }}");
        let secrets = format!(
            "secrets: {{ endpoint: \"http://{api}\", {times}, credentials: {credentials} }}\n"
        );
        with_token(upstream.address, "{ aws: { secret: one } }", &secrets)
    };
    let gateway = Gateway::of(1, text("first"));
    let withheld = |count| (0..200_000).any(|_| gateway.metric("secrets_withheld") == count);
    *accepted.lock().unwrap() = "second";
    assert!(withheld(1));
    gateway.becomes(text("second"));
    assert_eq!(token(&mut gateway.connect()).as_deref(), Some("1"));
    // Credentials of a reload that is refused are forgotten with it.
    *accepted.lock().unwrap() = "third";
    assert!(withheld(1));
    gateway.rewrite(text("fourth"));
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.contains("credentials are not accepted"),
        "{refusal}"
    );
    *accepted.lock().unwrap() = "second";
    assert!(withheld(0));
}
