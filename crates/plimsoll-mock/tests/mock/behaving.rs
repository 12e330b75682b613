//! Additions of `metadata.plimsoll`: answers by lot, limits, breaks and paces, as clients see them.

use crate::world::{Client, Mock};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tokio::time::Instant;

/// A mock with one stub for `/x` that has this metadata and this response.
fn mock_with(plimsoll: &str, response: &str) -> Mock {
    Mock::with_stubs(&[&format!(
        r#"{{"request": {{"url": "/x"}}, "response": {response}, "metadata": {{"plimsoll": {plimsoll}}}}}"#
    )])
}

/// All that one connection gets, and how it ends.
fn raw(mock: &Mock) -> (String, Option<ErrorKind>) {
    let mut stream = TcpStream::connect(mock.address).unwrap();
    stream
        .write_all(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut received = Vec::new();
    let ended = stream.read_to_end(&mut received).err();
    let text = String::from_utf8_lossy(&received).into_owned();
    (text, ended.map(|error| error.kind()))
}

#[test]
fn answers_fall_by_lot() {
    let mock = mock_with(
        r#"{"errorRate": {"share": 0.2, "response": {"status": 503}}, "responses": [{"weight": 3}, {"weight": 1, "response": {"status": 404, "body": "gone"}}]}"#,
        r#"{"body": "own"}"#,
    );
    let mut client = mock.client();
    let mut counts = [0, 0, 0];
    for _ in 0..2000 {
        let answer = client.get("/x");
        counts[match (answer.status, &*answer.text()) {
            (200, "own") => 0,
            (404, "gone") => 1,
            (503, "") => 2,
            other => panic!("{other:?}"),
        }] += 1;
    }
    // Shares of 60, 20 and 20 %, within five standard errors.
    assert!((1090..=1310).contains(&counts[0]), "{counts:?}");
    assert!(
        counts[1..].iter().all(|count| (310..=490).contains(count)),
        "{counts:?}"
    );
    let unmatched = client.get("/__admin/mappings/unmatched").json();
    assert_eq!(unmatched["mappings"], serde_json::json!([]));
}

#[test]
fn a_rate_limit_answers_429() {
    let mock = mock_with(r#"{"rateLimit": {"requests": 3, "per": "1h"}}"#, "{}");
    let mut client = mock.client();
    let statuses: Vec<u16> = (0..5).map(|_| client.get("/x").status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let wait = client.get("/x");
    assert_eq!(wait.field("Retry-After"), Some("1200"));
}

#[test]
fn no_more_than_so_many_are_served_at_a_time() {
    let response = r#"{"fixedDelayMilliseconds": 300}"#;
    let check = |beyond: &str, expected: [u16; 4], least_millis: u64| {
        let mock = mock_with(
            &format!(r#"{{"maxConcurrency": {{"requests": 1, {beyond}}}}}"#),
            response,
        );
        let mut clients: Vec<Client> = (0..4).map(|_| mock.client()).collect();
        let start = Instant::now();
        for client in &mut clients {
            client.write("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        let mut statuses: Vec<u16> = clients
            .iter_mut()
            .map(|client| client.read("GET").status)
            .collect();
        statuses.sort_unstable();
        assert_eq!(statuses, expected, "{beyond}");
        assert!(
            start.elapsed() >= Duration::from_millis(least_millis),
            "{beyond}"
        );
        // Their places are free again.
        assert_eq!(clients[0].get("/x").status, 200);
    };
    check(r#""on_overflow": "queue""#, [200, 200, 200, 200], 1200);
    check(r#""on_overflow": "refuse""#, [200, 503, 503, 503], 300);
    check(r#""queue": 2"#, [200, 200, 200, 503], 900);
}

#[test]
fn answers_break_off() {
    let body = r#"{"body": "0123456789"}"#;
    let (text, ended) = raw(&mock_with(r#"{"truncateAfterBytes": 4}"#, body));
    assert!(
        text.contains("Content-Length: 10") && text.ends_with("\r\n\r\n0123"),
        "{text}"
    );
    assert_eq!(ended, None);
    let (text, ended) = raw(&mock_with(r#"{"resetAfterBytes": 4}"#, body));
    assert_eq!(ended, Some(ErrorKind::ConnectionReset), "{text}");
    let (text, ended) = raw(&mock_with(r#"{"hang": "50ms"}"#, body));
    assert_eq!((&*text, ended), ("", None));
}

#[test]
fn faults_end_connections_as_they_should() {
    let check = |fault: &str, bytes: &str, ended: Option<ErrorKind>| {
        let mock = mock_with("{}", &format!(r#"{{"fault": "{fault}", "status": 503}}"#));
        assert_eq!(raw(&mock), (bytes.to_owned(), ended), "{fault}");
        assert_eq!(mock.stop().served, 1, "only the stub's creation");
    };
    check("EMPTY_RESPONSE", "", None);
    check(
        "RANDOM_DATA_THEN_CLOSE",
        "lskdu018973t09sylgasjkfg1][]'./.sdlv",
        None,
    );
    let chunk =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nlskdu018973t09sylgasjkfg1][]'./.sdlv";
    check("MALFORMED_RESPONSE_CHUNK", chunk, None);
    check(
        "CONNECTION_RESET_BY_PEER",
        "",
        Some(ErrorKind::ConnectionReset),
    );
}

#[test]
fn a_hanging_request_ends_with_its_mock() {
    let mock = mock_with(r#"{"hang": true}"#, "{}");
    let (mut hanging, mut other) = (mock.client(), mock.client());
    hanging.write("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    while other.get("/__admin/requests").json()["meta"]["total"] == 0 {}
    let start = Instant::now();
    drop(other);
    assert!(mock.stop().received >= 3);
    // A request that is only slow would have been given 10 s to end.
    assert!(start.elapsed() < Duration::from_secs(5));
    hanging.expect_end();
}

#[test]
fn bodies_keep_their_pace() {
    let check = |plimsoll: &str, response: &str, least_millis: u64| {
        let mock = mock_with(plimsoll, response);
        let start = Instant::now();
        assert_eq!(mock.client().get("/x").text(), "0123456789");
        assert!(
            start.elapsed() >= Duration::from_millis(least_millis),
            "{plimsoll}"
        );
    };
    check(
        r#"{"bytesPerSecond": 200}"#,
        r#"{"body": "0123456789"}"#,
        50,
    );
    let dribble = r#"{"body": "0123456789", "chunkedDribbleDelay": {"numberOfChunks": 4, "totalDuration": 60}}"#;
    check("{}", dribble, 60);
    let slow = r#"{"slowStart": {"duration": "1h", "delay": "40ms"}}"#;
    check(
        slow,
        r#"{"body": "0123456789", "fixedDelayMilliseconds": 10}"#,
        49,
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    let mock = Mock::with_stubs(&[]);
    let mut client = mock.client();
    let mut shown = String::new();
    for plimsoll in [
        r#"{"weights": []}"#,
        r#"{"responses": []}"#,
        r#"{"responses": [{"response": {"status": "x"}}, {"weight": 0}]}"#,
        r#"{"errorRate": {"share": 2}}"#,
        r#"{"rateLimit": {"requests": 0, "per": "1 s"}}"#,
        r#"{"maxConcurrency": {"requests": 1, "on_overflow": "drop"}}"#,
        r#"{"hang": "30s", "truncateAfterBytes": -1, "bytesPerSecond": 5}"#,
        r#"{"slowStart": {"duration": "30"}}"#,
        r#"{"replay": {"file": "none.hlog"}}"#,
    ] {
        let stub = format!(r#"{{"metadata": {{"plimsoll": {plimsoll}}}}}"#);
        let refused = client.send("POST", "/__admin/mappings", &stub);
        assert_eq!(refused.status, 422, "{plimsoll}");
        for error in refused.json()["errors"].as_array().unwrap() {
            let pointer = error["source"]["pointer"].as_str().unwrap();
            shown.push_str(&format!(
                "{pointer}: {}\n",
                error["detail"].as_str().unwrap()
            ));
        }
    }
    insta::assert_snapshot!(shown);
}
