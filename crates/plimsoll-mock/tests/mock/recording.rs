//! Stub mappings made of what another server answered, and the log of its times.

use super::upstream::{Act, Upstream, ok, sending};
use super::world::{Client, Mock, config};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn post(client: &mut Client, route: &str, body: &Value) -> Value {
    let received = client.send("POST", &format!("/__admin{route}"), &body.to_string());
    assert_eq!(received.status, 200, "{}", received.text());
    received.json()
}

/// One exchange with a field.
fn send(client: &mut Client, line: &str, field: &str, body: &str) -> u16 {
    let length = body.len();
    client.write(&format!(
        "{line} HTTP/1.1\r\nHost: x\r\n{field}\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    client.read(line).status
}

/// The mappings, oldest first, without their ids.
fn anonymous(recorded: &Value) -> Vec<Value> {
    let mut mappings = recorded["mappings"].as_array().unwrap().clone();
    mappings.reverse();
    for mapping in &mut mappings {
        let mapping = mapping.as_object_mut().unwrap();
        assert_eq!(mapping.shift_remove("id"), mapping.shift_remove("uuid"));
    }
    mappings
}

/// Recording of these requests, if the server answers so.
fn recorded(spec: &Value, acts: Vec<Act>, ask: impl Fn(&mut Client)) -> Value {
    let upstream = Upstream::start(acts);
    let mut spec = spec.clone();
    spec["targetBaseUrl"] = upstream.url().into();
    spec["persist"] = false.into();
    let mock = Mock::start(sending());
    let mut client = mock.client();
    post(&mut client, "/recordings/start", &spec);
    ask(&mut client);
    let recorded = post(&mut client, "/recordings/stop", &json!({}));
    mock.stop();
    recorded
}

#[test]
fn a_recording_has_wiremocks_form() {
    let json = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 9\r\n\r\n{\"a\": 1 }";
    let binary = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
    let acts = vec![
        Act::Answer(json.to_owned()),
        Act::Answer(binary.to_owned()),
        Act::Answer("HTTP/1.1 204 No Content\r\n\r\n".to_owned()),
        ok("text"),
        ok("xml"),
        ok("broken"),
    ];
    let spec = json!({"captureHeaders": {"X-B": {}, "X-C": {"caseInsensitive": true}}});
    let recorded = recorded(&spec, acts, |client| {
        let json = "Content-Type: application/json\r\nX-C: c";
        send(client, "POST /a%20b/c?x=1&y=%20&x=2", json, r#"{"n":1}"#);
        send(
            client,
            "PUT /b",
            "Content-Type: application/octet-stream",
            "\u{1}",
        );
        send(
            client,
            "PATCH /b",
            "Content-Type: multipart/form-data; boundary=x",
            "--x--",
        );
        send(client, "POST /t", "X-B: b", "text");
        let xml = "Content-Type: application/soap+xml; charset=utf-8";
        send(client, "POST /x", xml, "<a b='1'/>");
        send(client, "POST /x", xml, "<a");
    });
    let lines: Vec<String> = anonymous(&recorded).iter().map(Value::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"name":"a-b_c","request":{"urlPath":"/a%20b/c","method":"POST","queryParameters":{"x":{"hasExactly":[{"equalTo":"1"},{"equalTo":"2"}]},"y":{"hasExactly":[{"equalTo":" "}]}},"headers":{"X-C":{"equalTo":"c","caseInsensitive":true}},"bodyPatterns":[{"equalToJson":"{\"n\":1}","ignoreArrayOrder":true,"ignoreExtraElements":true}]},"response":{"status":201,"body":"{\"a\": 1 }","headers":{"Content-Type":"application/json","X-A":["1","2"]}}}
    {"name":"b","request":{"url":"/b","method":"PUT","bodyPatterns":[{"binaryEqualTo":"AQ=="}]},"response":{"status":200,"base64Body":"YWJj"}}
    {"name":"b","request":{"url":"/b","method":"PATCH","bodyPatterns":[{"anything":"anything"}]},"response":{"status":204}}
    {"name":"t","request":{"url":"/t","method":"POST","headers":{"X-B":{"equalTo":"b"}},"bodyPatterns":[{"equalTo":"text","caseInsensitive":false}]},"response":{"status":200,"body":"text","headers":{"Content-Type":"text/plain"}}}
    {"name":"x","request":{"url":"/x","method":"POST","bodyPatterns":[{"equalToXml":"<a b='1'/>"}]},"response":{"status":200,"body":"xml","headers":{"Content-Type":"text/plain"}}}
    {"name":"x","request":{"url":"/x","method":"POST","bodyPatterns":[{"equalTo":"<a","caseInsensitive":false}]},"response":{"status":200,"body":"broken","headers":{"Content-Type":"text/plain"}}}
    "#);
}

#[test]
fn what_came_twice_is_answered_in_turn_or_once() {
    let ask = |client: &mut Client| {
        for _ in 0..2 {
            assert_eq!(client.get("/a/b").status, 200);
        }
        assert_eq!(client.get("/").status, 200);
    };
    let acts = || vec![ok("first"), ok("second"), ok("other")];
    let all = anonymous(&recorded(&json!({}), acts(), ask));
    let states: Vec<String> = all
        .iter()
        .map(|mapping| {
            let state = |name: &str| mapping[name].as_str().unwrap_or("-").to_owned();
            let (required, new) = (state("requiredScenarioState"), state("newScenarioState"));
            format!("{}: {required} > {new}", mapping["response"]["body"])
        })
        .collect();
    insta::assert_snapshot!(states.join("\n"), @r#"
    "first": Started > scenario-1-a-b-2
    "second": scenario-1-a-b-2 > -
    "other": - > -
    "#);
    let once = recorded(&json!({"repeatsAsScenarios": false}), acts(), ask);
    let once = anonymous(&once);
    assert_eq!(once.len(), 2);
    assert_eq!(once[0]["response"]["body"], "second");
}

#[test]
fn what_was_recorded_answers_in_the_servers_place_and_after_a_restart() {
    let root = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(vec![ok("from afar"), ok(&"x".repeat(30))]);
    let config = || {
        let mut config = sending();
        config.root_dir = Some(root.path().to_owned());
        config
    };
    let mock = Mock::start(config());
    let mut client = mock.client();
    let status = |client: &mut Client| client.get("/__admin/recordings/status").json();
    assert_eq!(status(&mut client), json!({"status": "NeverStarted"}));
    let stop = client.send("POST", "/__admin/recordings/stop", "");
    assert_eq!(
        (stop.status, &stop.json()["errors"][0]["code"]),
        (400, &json!(30))
    );
    let spec = json!({
        "targetBaseUrl": upstream.url(), "outputFormat": "ids",
        "extractBodyCriteria": {"textSizeThreshold": "20"},
    });
    post(&mut client, "/recordings/start", &spec);
    // A second beginning changes nothing.
    post(&mut client, "/recordings/start", &json!({}));
    assert_eq!(status(&mut client), json!({"status": "Recording"}));
    assert_eq!(client.get("/short").text(), "from afar");
    assert_eq!(client.get("/long.txt").text().len(), 30);
    let stopped = post(&mut client, "/recordings/stop", &json!({}));
    let ids = stopped["ids"].as_array().unwrap();
    assert_eq!(ids.len(), 2);
    assert_eq!(status(&mut client), json!({"status": "Stopped"}));
    assert_eq!(client.get("/short").text(), "from afar");
    assert_eq!(client.get("/elsewhere").status, 404);
    mock.stop();
    let id = ids[0].as_str().unwrap();
    let body = root.path().join(format!("__files/long.txt-{id}.txt"));
    assert_eq!(std::fs::read_to_string(body).unwrap(), "x".repeat(30));
    let mock = Mock::start(config());
    assert_eq!(mock.client().get("/short").text(), "from afar");
    assert_eq!(mock.client().get("/long.txt").text().len(), 30);
    mock.stop();
}

#[test]
fn a_second_recording_with_the_same_seed_leaves_the_first_alone() {
    let root = tempfile::tempdir().unwrap();
    let bodies: Vec<String> = ["a", "b"].map(|letter| letter.repeat(30)).to_vec();
    for body in &bodies {
        let upstream = Upstream::start(vec![ok(body)]);
        let mut config = sending();
        config.root_dir = Some(root.path().to_owned());
        let mock = Mock::start(config);
        let mut client = mock.client();
        let spec = json!({
            "targetBaseUrl": upstream.url(), "extractBodyCriteria": {"textSizeThreshold": "20"},
        });
        post(&mut client, "/recordings/start", &spec);
        assert_eq!(&client.get("/long").text(), body);
        let stopped = post(&mut client, "/recordings/stop", &json!({}));
        assert_eq!(anonymous(&stopped).len(), 1);
        assert_eq!(&client.get("/long").text(), body);
        mock.stop();
    }
    let mut written = files_below(&root.path().join("__files"));
    written.sort();
    assert_eq!(written, bodies);
    assert_eq!(files_below(&root.path().join("mappings")).len(), 2);
}

#[test]
fn a_recording_that_cannot_be_kept_goes_on() {
    let root = tempfile::tempdir().unwrap();
    // No directory can be made in its place.
    let mappings = root.path().join("mappings");
    std::os::unix::fs::symlink("nowhere", &mappings).unwrap();
    let upstream = Upstream::start(vec![ok("one"), ok(&"x".repeat(30)), ok("three")]);
    let mut config = sending();
    config.root_dir = Some(root.path().to_owned());
    let mock = Mock::start(config);
    let mut client = mock.client();
    let spec = json!({
        "targetBaseUrl": upstream.url(), "extractBodyCriteria": {"textSizeThreshold": "20"},
    });
    post(&mut client, "/recordings/start", &spec);
    client.get("/a");
    client.get("/b");
    let stubs = client.get("/__admin/mappings").json();
    let failed = client.send("POST", "/__admin/recordings/stop", "");
    assert_eq!(failed.status, 500, "{}", failed.text());
    assert_eq!(client.get("/__admin/mappings").json(), stubs);
    assert_eq!(files_below(&root.path().join("__files")), [""; 0]);
    let status = client.get("/__admin/recordings/status").json();
    assert_eq!(status, json!({"status": "Recording"}));
    assert_eq!(client.get("/a").text(), "three");
    std::fs::remove_file(&mappings).unwrap();
    let stopped = post(&mut client, "/recordings/stop", &json!({}));
    assert_eq!(anonymous(&stopped).len(), 3);
    assert_eq!(files_below(&mappings).len(), 3);
    assert_eq!(client.get("/b").text().len(), 30);
    mock.stop();
}

#[test]
fn a_snapshot_has_what_its_filters_admit() {
    let upstream = Upstream::start(vec![ok("1"), ok("2")]);
    let mut config = sending();
    config.proxy_all = Some(upstream.url());
    let mock = Mock::start(config);
    let mut client = mock.client();
    let own = json!({"request": {"url": "/own"}, "response": {"body": "own"}});
    client.send("POST", "/__admin/mappings", &own.to_string());
    for target in ["/a", "/b", "/own"] {
        assert_eq!(client.get(target).status, 200);
    }
    let events = client.get("/__admin/requests").json();
    let id_of_b = events["requests"][1]["id"].clone();
    let mut names = |filters: Value| -> Vec<String> {
        let spec = json!({"persist": false, "filters": filters});
        let recorded = post(&mut client, "/recordings/snapshot", &spec);
        let mut names: Vec<String> = anonymous(&recorded)
            .iter()
            .map(|mapping| mapping["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(json!({})), ["a", "b"]);
    assert_eq!(names(json!({"allowNonProxied": true})), ["a", "b", "own"]);
    assert_eq!(names(json!({"urlPathPattern": "/a.*"})), ["a"]);
    assert_eq!(names(json!({"ids": [id_of_b]})), ["b"]);
    mock.stop();
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let mock = Mock::start(sending());
    let check = |spec: Value, pointer: &str, words: &str| {
        let mut client = mock.client();
        let refused = client.send("POST", "/__admin/recordings/start", &spec.to_string());
        assert_eq!(refused.status, 422, "{spec}");
        let error = &refused.json()["errors"][0];
        assert_eq!(error["source"]["pointer"], pointer, "{error}");
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{detail}");
    };
    check(json!({}), "/persist", "start with --root-dir");
    let spec = |name: &str, value: Value| {
        let mut spec = json!({"persist": false});
        spec[name] = value;
        spec
    };
    check(
        spec("targetBaseUrl", json!("http://192.0.2.1")),
        "/targetBaseUrl",
        "--allow-proxy-targets",
    );
    check(
        spec("transformers", json!(["mine"])),
        "/transformers",
        "not available",
    );
    check(spec("outputFormat", json!("x")), "/outputFormat", "\"ids\"");
    check(
        spec("filters", json!({"foo": 1})),
        "/filters/foo",
        "unknown property",
    );
    check(
        spec("requestBodyPattern", json!({"matcher": "near"})),
        "/requestBodyPattern/matcher",
        "must be",
    );
    check(
        spec("extractBodyCriteria", json!({"textSizeThreshold": "5 zb"})),
        "/extractBodyCriteria/textSizeThreshold",
        "a size",
    );
    mock.stop();
    let mut off = config();
    off.journal.entries = 0;
    let mock = Mock::start(off);
    let body = json!({"persist": false}).to_string();
    let refused = mock
        .client()
        .send("POST", "/__admin/recordings/start", &body);
    assert!(refused.text().contains("the journal, which is off"));
    mock.stop();
}

#[test]
fn what_the_journal_dropped_is_missing_and_said() {
    let upstream = Upstream::start(vec![ok("1"), ok("2"), ok("3")]);
    let mut config = sending();
    config.journal.entries = 2;
    let mock = Mock::start(config);
    let mut client = mock.client();
    client.get("/before");
    let spec = json!({"targetBaseUrl": upstream.url(), "persist": false});
    post(&mut client, "/recordings/start", &spec);
    for target in ["/a", "/b", "/c"] {
        assert_eq!(client.get(target).status, 200);
    }
    let stopped = client.send("POST", "/__admin/recordings/stop", "");
    assert_eq!(stopped.field("Plimsoll-Journal-Dropped"), Some("1"));
    assert_eq!(anonymous(&stopped.json()).len(), 2);
    mock.stop();
}

#[test]
fn what_is_still_on_its_way_is_missing_and_said() {
    let upstream = Upstream::start(vec![ok("1"), Act::Hang]);
    let mut config = sending();
    config.grace = Duration::from_millis(10);
    let mock = Mock::start(config);
    let mut client = mock.client();
    let spec = json!({"targetBaseUrl": upstream.url(), "persist": false});
    let snapshot = |client: &mut Client| {
        let spec = spec.to_string();
        let taken = client.send("POST", "/__admin/recordings/snapshot", &spec);
        assert_eq!(anonymous(&taken.json()).len(), 1);
        taken.field("Plimsoll-Journal-Dropped").map(str::to_owned)
    };
    post(&mut client, "/recordings/start", &spec);
    assert_eq!(client.get("/a").text(), "1");
    upstream.asked();
    assert_eq!(snapshot(&mut client), None);
    let mut waiting = mock.client();
    waiting.write("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
    upstream.asked();
    assert_eq!(snapshot(&mut client).as_deref(), Some("1"));
    let stopped = client.send("POST", "/__admin/recordings/stop", "");
    assert_eq!(stopped.field("Plimsoll-Journal-Dropped"), Some("1"));
    assert_eq!(anonymous(&stopped.json()).len(), 1);
    mock.stop();
}

#[test]
fn a_mock_that_records_from_the_start_writes_before_it_answers() {
    let root = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(vec![ok("first"), ok("second")]);
    let mut config = sending();
    config.root_dir = Some(root.path().to_owned());
    config.proxy_all = Some(upstream.url());
    config.record = Some(vec!["X-A".to_owned()]);
    let mock = Mock::start(config);
    let mut client = mock.client();
    for _ in 0..2 {
        assert_eq!(send(&mut client, "GET /a/b?c=d", "X-A: 1", ""), 200);
        let files = files_below(&root.path().join("mappings"));
        assert_eq!(files.len(), 1);
        let mapping: Value = serde_json::from_str(&files[0]).unwrap();
        assert_eq!(mapping["request"]["url"], "/a/b?c=d");
        assert_eq!(mapping["request"]["headers"]["X-A"]["equalTo"], "1");
        let name = mapping["response"]["bodyFileName"].as_str().unwrap();
        assert!(name.starts_with("body-a-b-"), "{name}");
        assert!(files[0].contains(&format!("\"bodyFileName\" : \"{name}\"")));
        let body = std::fs::read_to_string(root.path().join("__files").join(name));
        assert_eq!(body.unwrap(), "first");
    }
    let status = client.get("/__admin/recordings/status").json();
    assert_eq!(status["status"], "NeverStarted");
    // An answer of the mock's own is none to be recorded.
    drop(upstream);
    assert_eq!(client.get("/gone").status, 500);
    let recordings = mock.stop().recordings.unwrap();
    assert_eq!((recordings.mappings, recordings.missing), (1, 0));

    // What was recorded answers in the place of the server.
    let mut config = super::world::config();
    config.root_dir = Some(root.path().to_owned());
    let mock = Mock::start(config);
    let mut client = mock.client();
    assert_eq!(send(&mut client, "GET /a/b?c=d", "X-A: 1", ""), 200);
    assert_eq!(send(&mut client, "GET /a/b?c=d", "X-A: 2", ""), 404);
}

fn files_below(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn times_of_a_server_are_written_and_replayed() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("__files")).unwrap();
    let log = root.path().join("__files/latency.hlog");
    // The server is a mock that takes its time.
    let slow = Mock::with_stubs(&[r#"{"response": {"fixedDelayMilliseconds": 40}}"#]);
    let mut config = sending();
    config.proxy_all = Some(format!("http://{}", slow.address));
    config.record_latency = Some(log.clone());
    let mock = Mock::start(config);
    let mut client = mock.client();
    for _ in 0..5 {
        assert_eq!(client.get("/x").status, 200);
    }
    mock.stop();
    slow.stop();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(
        text.starts_with("#[Histogram log format version 1.3]\n"),
        "{text}"
    );
    let mut times = plimsoll_base::histogram::TimeHistogram::new();
    for line in text.lines().skip(3) {
        let encoded = line.rsplit(',').next().unwrap();
        times.merge(&plimsoll_base::histogram::TimeHistogram::decode(encoded).unwrap());
    }
    assert_eq!(times.count(), 5);
    assert!(times.min().unwrap() >= 0.039, "{:?}", times.min());
    let mut replaying = super::world::config();
    replaying.root_dir = Some(root.path().to_owned());
    let mock = Mock::start(replaying);
    let stub = json!({"metadata": {"plimsoll": {"replay": {"file": "latency.hlog"}}}});
    let created = mock
        .client()
        .send("POST", "/__admin/mappings", &stub.to_string());
    assert_eq!(created.status, 201, "{}", created.text());
    assert_eq!(mock.client().get("/x").status, 200);
    let events = mock.client().get("/__admin/requests").json();
    let delay = events["requests"][0]["timing"]["addedDelay"]
        .as_u64()
        .unwrap();
    let longest = Duration::from_secs_f64(times.max().unwrap()).as_millis();
    assert!(
        (39..=u64::try_from(longest).unwrap() + 1).contains(&delay),
        "{delay}"
    );
    mock.stop();
}

#[test]
fn the_java_client_records_what_nothing_matched_too() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    client.send("POST", "/anyway", "{\"a\": 1}");
    let spec = json!({"persist": false, "filters": {"allowNonProxied": "true"},
        "requestBodyPatternFactory": {"matcher": "equalTo", "caseInsensitive": true}});
    let taken = client.send("POST", "/__admin/recordings/snapshot", &spec.to_string());
    let mapping = &taken.json()["mappings"][0];
    let pattern = json!([{"equalTo": "{\"a\": 1}", "caseInsensitive": true}]);
    assert_eq!(mapping["request"]["url"], "/anyway", "{mapping}");
    assert_eq!(mapping["request"]["bodyPatterns"], pattern);
}
