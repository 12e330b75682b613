//! Response templates beyond what they print, which `tests/data/wiremock/templates.json` holds against WireMock: where they may stand,
//! what they must not do, which responses are templates.

use crate::world::{Mock, config};
use plimsoll_mock::{MockConfig, Templating};
use serde_json::{Value, json};

const ID: &str = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";

fn stub(template: &str) -> Value {
    json!({
        "id": ID,
        "request": {"urlPathPattern": "/.*"},
        "response": {
            "body": template,
            "transformers": ["response-template"],
            "transformerParameters": {"p": "pv", "o": {"k": "kv"}},
        },
    })
}

#[test]
fn headers_and_the_name_of_a_body_file_are_templates() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("__files")).unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(root.path().join("__files").join(name), text).unwrap();
    };
    write("a.txt", "file of {{request.method}}");
    std::fs::write(root.path().join("secret.txt"), "secret").unwrap();
    let mock = Mock::start(MockConfig {
        root_dir: Some(root.path().to_owned()),
        ..config()
    });
    let mut client = mock.client();
    let stub = json!({
        "name": "n",
        "response": {
            "bodyFileName": "{{request.query.name}}.txt",
            "headers": {"X": "<{{request.query.name}}>", "Content-Length": "99"},
            "transformers": ["response-template"],
        },
    });
    assert_eq!(
        client
            .send("POST", "/__admin/mappings", &stub.to_string())
            .status,
        201
    );
    let answer = client.get("/?name=a");
    assert_eq!(
        (
            &*answer.text(),
            answer.field("X"),
            answer.field("Matched-Stub-Name")
        ),
        ("file of GET", Some("<a>"), Some("n"))
    );
    // What a request brings ends no line, and leads nowhere else.
    assert_eq!(client.get("/?name=b%0d%0aEvil:1").status, 500);
    let outside = client.get("/?name=../secret");
    assert_eq!(outside.status, 500);
    assert!(!outside.text().contains("secret\n") && outside.text().contains("outside"));
}

#[test]
fn a_header_made_of_a_request_stays_one_line() {
    let mock = Mock::with_stubs(&[
        r#"{"response": {"headers": {"X": "{{request.query.x}}"}, "transformers": ["response-template"]}}"#,
    ]);
    let answer = mock.client().get("/?x=a%0d%0aEvil:%201");
    assert_eq!(
        (answer.field("X"), answer.field("Evil")),
        (Some("a  Evil: 1"), None)
    );
}

#[test]
fn which_responses_are_templates_is_configured() {
    let check = |templating: Templating, listed: &str, unlisted: &str| {
        let mock = Mock::start(MockConfig {
            templating,
            ..config()
        });
        let mut client = mock.client();
        let body = "{{request.method}}";
        for (url, transformers) in [
            ("/listed", json!(["response-template"])),
            ("/unlisted", json!([])),
        ] {
            let response = json!({"body": body, "transformers": transformers});
            let stub = json!({"request": {"url": url}, "response": response}).to_string();
            assert_eq!(client.send("POST", "/__admin/mappings", &stub).status, 201);
        }
        let texts = ["/listed", "/unlisted"].map(|url| client.get(url).text());
        assert_eq!(texts, [listed, unlisted], "{templating:?}");
    };
    check(Templating::Listed, "GET", "{{request.method}}");
    check(Templating::All, "GET", "GET");
    check(Templating::Off, "{{request.method}}", "{{request.method}}");
}

#[test]
fn what_cannot_be_compiled_is_refused_with_its_place() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    let mut check = |response: Value, pointer: &str, detail: &str| {
        let stub = json!({"response": response}).to_string();
        let refused = client.send("POST", "/__admin/mappings", &stub);
        let error = &refused.json()["errors"][0];
        assert_eq!(
            (refused.status, error["source"]["pointer"].as_str()),
            (422, Some(pointer))
        );
        assert!(
            error["detail"].as_str().unwrap().contains(detail),
            "{error}"
        );
    };
    let transformers = json!(["response-template"]);
    check(
        json!({"body": "{{#if x}}", "transformers": transformers}),
        "/response/body",
        "1:1: {{#if x}} has no end",
    );
    check(
        json!({"headers": {"X": "{{nothing 1}}"}, "transformers": transformers}),
        "/response/headers/X",
        "there is no helper `nothing`",
    );
    check(
        json!({"transformers": ["my-extension"]}),
        "/response/transformers/0",
        "the transformer \"my-extension\"",
    );
}

#[test]
fn the_journal_shows_the_answer_that_was_made() {
    let mock = Mock::with_stubs(&[&stub("made of {{request.url}}").to_string()]);
    let mut client = mock.client();
    client.get("/x");
    let listed = client.get("/__admin/requests").json();
    assert_eq!(listed["requests"][0]["response"]["body"], "made of /x");
}

#[test]
fn one_seed_gives_the_same_random_values() {
    let values = |seed: u64| {
        let mock = Mock::start(MockConfig { seed, ..config() });
        let mut client = mock.client();
        let template = "{{randomValue length=20}} {{randomInt lower=1 upper=1000000}} {{randomValue type='UUID'}}";
        client.send("POST", "/__admin/mappings", &stub(template).to_string());
        [client.get("/").text(), client.get("/").text()]
    };
    let [first, second] = values(1);
    assert_ne!(first, second);
    assert_eq!(values(1), [first.clone(), second]);
    assert_ne!(values(2)[0], first);
}

#[test]
fn a_file_that_is_read_first_draws_no_more_than_one_that_was() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("__files")).unwrap();
    for name in ["a", "b"] {
        let path = root.path().join("__files").join(name);
        std::fs::write(path, "{{randomValue length=20}}").unwrap();
    }
    let stub = json!({"response": {
        "bodyFileName": "{{request.query.name}}",
        "headers": {"X": "{{randomValue length=20}}"},
        "transformers": ["response-template"],
    }});
    let values = |names: [&str; 3]| {
        let mock = Mock::start(MockConfig {
            root_dir: Some(root.path().to_owned()),
            ..config()
        });
        let mut client = mock.client();
        client.send("POST", "/__admin/mappings", &stub.to_string());
        names.map(|name| {
            let answer = client.get(&format!("/?name={name}"));
            assert_eq!(answer.status, 200);
            (answer.field("X").unwrap().to_owned(), answer.text())
        })
    };
    // At the second request one mock has read its file already, and the other has not.
    assert_eq!(values(["a", "a", "a"]), values(["a", "b", "b"]));
}

#[test]
fn a_behaviour_and_its_alternatives_may_be_templates() {
    let template = r#""transformers": ["response-template"]"#;
    let mock = Mock::with_stubs(&[
        &format!(
            r#"{{"request": {{"urlPath": "/own"}}, "response": {{"body": "{{{{request.query.q}}}}", {template}}},
                "metadata": {{"plimsoll": {{"bytesPerSecond": 100000}}}}}}"#
        ),
        &format!(
            r#"{{"request": {{"urlPath": "/lot"}}, "metadata": {{"plimsoll": {{"responses": [
                {{"weight": 1, "response": {{"body": "{{{{request.body}}}}!", {template}}}}}]}}}}}}"#
        ),
    ]);
    let mut client = mock.client();
    assert_eq!(client.get("/own?q=paced").text(), "paced");
    assert_eq!(client.send("POST", "/lot", "drawn").text(), "drawn!");
}

#[test]
fn parts_are_seen_by_name_and_their_fields_in_any_case() {
    let stub = json!({"request": {"urlPathTemplate": "/{0}/b"}, "response": {
        "body": "{{request.path.0}} {{#each request.parts as |part|}}{{part.name}}={{part.headers.CONTENT-type}},{{part.binary}} {{/each}}{{request.parts.t}}",
        "transformers": ["response-template"]}});
    let mock = Mock::with_stubs(&[&stub.to_string()]);
    let mut client = mock.client();
    let part = |name: &str, kind: &str| {
        format!(
            "--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: {kind}\r\n\r\nA\r\n"
        )
    };
    let (text, file) = (
        part("t", "text/plain"),
        part("file", "application/octet-stream"),
    );
    let body = format!("{text}{file}--x--\r\n");
    let length = body.len();
    client.write(&format!(
        "POST /a/b HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    let shown = "[name='t', headers={content-disposition=form-data; name=\"t\", content-type=text/plain}, body=A]";
    let parts = "file=application/octet-stream,true t=text/plain,false";
    assert_eq!(client.read("POST").text(), format!("a {parts} {shown}"));
}
