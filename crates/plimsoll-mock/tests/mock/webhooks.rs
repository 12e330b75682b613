//! Requests that stubs have sent after their answers.

use super::upstream::{Act, Upstream, ok, sending};
use super::world::{Client, Mock, config};
use serde_json::{Value, json};

/// A mock with one stub, `/trigger`, that has this.
fn triggering(property: &str, listeners: &Value) -> Mock {
    let mock = Mock::start(sending());
    add(&mock, property, listeners);
    mock
}

fn add(mock: &Mock, property: &str, listeners: &Value) {
    let mut stub = json!({"request": {"urlPath": "/trigger"}, "response": {"body": "done"}});
    stub[property] = listeners.clone();
    let created = mock
        .client()
        .send("POST", "/__admin/mappings", &stub.to_string());
    assert_eq!(created.status, 201, "{}", created.text());
}

fn listener(parameters: Value) -> Value {
    json!([{"name": "webhook", "parameters": parameters}])
}

fn trigger(client: &mut Client) {
    let received = client.send("POST", "/trigger?q=1", r#"{"n": 7}"#);
    assert_eq!(received.text(), "done");
}

/// The sub-events of the one request in the journal, once there are so many.
fn sub_events(mock: &Mock, count: usize) -> Vec<Value> {
    let mut client = mock.client();
    for _ in 0..200_000 {
        let events = client.get("/__admin/requests").json();
        let events = events["requests"][0]["subEvents"]
            .as_array()
            .unwrap()
            .clone();
        if events.len() >= count {
            return events;
        }
        std::thread::yield_now();
    }
    panic!("the sub-events do not come");
}

#[test]
fn a_webhook_is_sent_after_the_answer() {
    let upstream = Upstream::start(vec![ok("thanks")]);
    let hook = json!({
        "method": "POST",
        "url": format!("{}/hook?x={{{{originalRequest.query.q}}}}", upstream.url()),
        "headers": {"X-Path": "{{originalRequest.path}}", "X-Two": ["a", "b"]},
        "body": "{{jsonPath originalRequest.body '$.n'}} {{parameters.own}}",
        "delay": {"type": "fixed", "milliseconds": 1},
        "own": "mine",
    });
    let mock = triggering("serveEventListeners", &listener(hook));
    trigger(&mut mock.client());
    let text = upstream.asked().text.replace('\r', "");
    let text = text.replace(&upstream.address.to_string(), "UPSTREAM");
    insta::assert_snapshot!(text, @"
    POST /hook?x=1 HTTP/1.1
    Host: UPSTREAM
    X-Path: /trigger
    X-Two: a
    X-Two: b
    User-Agent: plimsoll-mock/0.1.0
    Content-Length: 6

    7 mine
    ");
    let events = sub_events(&mock, 2);
    assert_eq!(events[0]["type"], "WEBHOOK_REQUEST");
    let request = &events[0]["data"];
    assert_eq!(request["url"], "/hook?x=1");
    assert_eq!(request["body"], "7 mine");
    assert_eq!(request["headers"]["X-Two"], json!(["a", "b"]));
    assert_eq!(events[1]["type"], "WEBHOOK_RESPONSE");
    assert_eq!(events[1]["data"]["status"], 200);
    assert_eq!(events[1]["data"]["body"], "thanks");
    let webhooks = mock.stop().webhooks;
    assert_eq!(
        (webhooks.answered, webhooks.failed, webhooks.lost),
        (1, 0, 0)
    );
}

/// The id of the one request is one and the same in its answer, its webhook and the journal.
#[test]
fn a_request_has_one_id_wherever_it_is_shown() {
    let other = Upstream::start(vec![ok("other")]);
    let url = other.url();
    for response in [
        json!({"body": "{{request.id}}", "transformers": ["response-template"]}),
        json!({"bodyFileName": "{{request.method}}.txt", "transformers": ["response-template"]}),
        json!({"body": "plain"}),
        json!({"proxyBaseUrl": url}),
    ] {
        let upstream = Upstream::start(vec![ok("thanks")]);
        let mut settings = sending();
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("__files")).unwrap();
        std::fs::write(root.path().join("__files/GET.txt"), "{{request.id}}").unwrap();
        settings.root_dir = Some(root.path().to_owned());
        let mock = Mock::start(settings);
        let hook = json!({
            "url": format!("{}/hook/{{{{originalRequest.id}}}}/{{{{originalRequest.id}}}}", upstream.url()),
        });
        let stub = json!({"response": response, "serveEventListeners": listener(hook)});
        let mut client = mock.client();
        client.send("POST", "/__admin/mappings", &stub.to_string());
        let answer = client.get("/").text();
        let asked = upstream.asked().text;
        let id = &asked["GET /hook/".len()..][..36];
        assert!(
            asked.starts_with(&format!("GET /hook/{id}/{id} ")),
            "{asked}"
        );
        if !["plain", "other"].contains(&answer.as_str()) {
            assert_eq!(answer, id);
        }
        let events = client.get("/__admin/requests").json();
        assert_eq!(events["requests"][0]["id"], id, "{response}");
        let one = client.get(&format!("/__admin/requests/{id}"));
        assert_eq!(one.status, 200);
    }
}

#[test]
fn older_files_name_webhooks_otherwise() {
    for actions in [
        json!({"webhook": {"method": "PUT", "url": "URL/old", "base64Body": "AAE="}}),
        json!([{"name": "webhook", "parameters": {"method": "PUT", "url": "URL/old", "base64Body": "AAE="}}]),
    ] {
        let upstream = Upstream::start(vec![ok("")]);
        let text = actions.to_string().replace("URL", &upstream.url());
        let mock = triggering("postServeActions", &serde_json::from_str(&text).unwrap());
        trigger(&mut mock.client());
        let text = upstream.asked().text;
        assert!(text.starts_with("PUT /old HTTP/1.1\r\n"), "{text}");
        assert!(
            text.ends_with("Content-Length: 2\r\n\r\n\u{0}\u{1}"),
            "{text}"
        );
        mock.stop();
    }
}

#[test]
fn several_webhooks_are_sent_and_a_get_has_no_body() {
    let (first, second) = (Upstream::start(vec![ok("")]), Upstream::start(vec![ok("")]));
    let hooks = json!([
        {"name": "webhook", "parameters": {"url": first.url(), "body": "unsent"}},
        {"name": "webhook", "requestPhases": ["AFTER_MATCH", "AFTER_COMPLETE"], "parameters": {"url": second.url()}},
    ]);
    let mock = triggering("serveEventListeners", &hooks);
    trigger(&mut mock.client());
    for upstream in [first, second] {
        let text = upstream.asked().text;
        assert!(text.starts_with("GET / HTTP/1.1\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n") && !text.contains("Content-Length"));
    }
    mock.stop();
}

#[test]
fn a_webhook_that_fails_says_why() {
    let upstream = Upstream::start(vec![Act::Close]);
    let hook = json!({"method": "POST", "url": format!("{}/hook", upstream.url())});
    let mock = triggering("serveEventListeners", &listener(hook));
    trigger(&mut mock.client());
    let events = sub_events(&mock, 2);
    let message = events[1]["data"]["message"].as_str().unwrap();
    let words = format!(
        "Failed to fire webhook POST {}/hook: The target server failed to respond",
        upstream.url()
    );
    assert_eq!(message, words);
    assert_eq!(mock.stop().webhooks.failed, 1);

    let hook = json!({"url": "http://{{originalRequest.headers.X-To}}/"});
    let mock = triggering("serveEventListeners", &listener(hook));
    for (to, count, words) in [
        ("127.0.0.2:1", 2, "is denied"),
        ("a b", 1, "configuring webhook: a URL has no spaces"),
    ] {
        mock.client().send("DELETE", "/__admin/requests", "");
        let mut client = mock.client();
        client.write(&format!(
            "GET /trigger HTTP/1.1\r\nHost: x\r\nX-To: {to}\r\n\r\n"
        ));
        assert_eq!(client.read("GET").status, 200);
        let last = sub_events(&mock, count).pop().unwrap();
        assert_eq!(last["type"], "ERROR");
        let message = last["data"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(mock.stop().webhooks.failed, 2);
}

#[test]
fn what_cannot_be_sent_is_refused_with_its_place() {
    let mock = Mock::start(config());
    let check = |listeners: Value, pointer: &str, words: &str| {
        mock.refuses(&json!({ "serveEventListeners": listeners }), pointer, words);
    };
    let at = "/serveEventListeners/0";
    check(json!([{"name": "mine"}]), at, "not available");
    check(
        json!([{"name": "webhook"}]),
        at,
        "\"parameters\" is missing",
    );
    check(
        listener(json!({})),
        &format!("{at}/parameters"),
        "\"url\" is missing",
    );
    let url = "http://127.0.0.1:1";
    check(
        listener(json!({"url": url})),
        &format!("{at}/parameters/url"),
        "--allow-proxy-targets 127.0.0.1:1",
    );
    let open = "http://{{originalRequest.host}}";
    check(
        listener(json!({"url": open, "method": "CONNECT"})),
        &format!("{at}/parameters/method"),
        "must be a method",
    );
    check(
        listener(json!({"url": open, "headers": {"Content-Length": "1"}})),
        &format!("{at}/parameters/headers/Content-Length"),
        "by the mock itself",
    );
    check(
        listener(json!({"url": open, "jsonBody": {}})),
        &format!("{at}/parameters/jsonBody"),
        "not available",
    );
    let early = json!([{"name": "webhook", "requestPhases": ["BEFORE_MATCH"], "parameters": {"url": open}}]);
    check(early, &format!("{at}/requestPhases"), "name AFTER_COMPLETE");
    mock.stop();
}

#[test]
fn a_webhook_that_waits_when_the_mock_ends_is_counted_as_lost() {
    let upstream = Upstream::start(vec![ok("never")]);
    let hook = json!({
        "url": upstream.url(), "delay": {"type": "fixed", "milliseconds": 3_600_000},
    });
    let mut config = sending();
    config.grace = std::time::Duration::from_millis(20);
    let mock = Mock::start(config);
    add(&mock, "serveEventListeners", &listener(hook));
    trigger(&mut mock.client());
    assert_eq!(mock.stop().webhooks.lost, 1);
}
