//! Matching, responses, delays and the rules of HTTP/1.1.

use crate::world::{Client, Mock, config};
use std::time::Duration;
use tokio::time::Instant;

#[test]
fn stubs_answer_what_they_match() {
    let mock = Mock::with_stubs(&[
        r#"{"request": {"url": "/exact?a=1"}, "response": {"body": "url"}}"#,
        r#"{"request": {"urlPath": "/path"}, "response": {"body": "path"}}"#,
        r#"{"request": {"urlPattern": "/p/[a-z]+\\?q=.*"}, "response": {"body": "pattern"}}"#,
        r#"{"request": {"urlPathPattern": "/pp/[0-9]+"}, "response": {"body": "path pattern"}}"#,
        r#"{"request": {"urlPath": "/m", "method": "POST"}, "response": {"body": "post"}}"#,
        r#"{"request": {"urlPath": "/h", "headers": {"X-Kind": {"equalTo": "A", "caseInsensitive": true}}}, "response": {"body": "kind"}}"#,
        r#"{"request": {"urlPath": "/h", "headers": {"X-Kind": {"absent": true}}}, "response": {"body": "none"}}"#,
    ]);
    let check = |request: &str, expected: &str| {
        let (method, rest) = request.split_once(' ').unwrap();
        let (target, field) = rest.split_once(' ').unwrap_or((rest, ""));
        let field = if field.is_empty() {
            String::new()
        } else {
            format!("{field}\r\n")
        };
        let mut client = mock.client();
        client.write(&format!(
            "{method} {target} HTTP/1.1\r\nHost: x\r\n{field}\r\n"
        ));
        assert_eq!(client.read(method).text(), expected, "{request}");
    };
    let unmatched = "Request was not matched";
    check("GET /exact?a=1", "url");
    check("GET /exact?a=2", unmatched);
    check("GET /path?whatever", "path");
    check("GET http://x/path?whatever", "path");
    check("GET /p/abc?q=1", "pattern");
    check("GET /p/abc", unmatched);
    check("GET /pp/12?x=1", "path pattern");
    check("GET /pp/12/", unmatched);
    check("POST /m", "post");
    check("GET /m", unmatched);
    check("GET /h x-kind: a", "kind");
    check("GET /h", "none");
    check("GET /h X-Kind: b", unmatched);
    let summary = mock.stop();
    assert_eq!(
        (summary.unmatched, summary.received, summary.served),
        (5, 20, 20)
    );
}

#[test]
fn a_response_is_sent_as_it_is_written() {
    let mock = Mock::with_stubs(&[r#"{
        "id": "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab", "name": "the one", "request": {"url": "/x"},
        "response": {"status": 418, "statusMessage": "Short and stout", "headers": {"A": "1", "B": ["2", "3"]},
            "jsonBody": {"z": 1.10, "a": 12345678901234567890123}}}"#]);
    let mut client = mock.client();
    let answer = client.get("/x");
    insta::assert_snapshot!(answer.head.replace('\r', ""), @r"
    HTTP/1.1 418 Short and stout
    A: 1
    B: 2
    B: 3
    Matched-Stub-Id: 5c3ab2a8-1f07-4d6e-9b9c-0123456789ab
    Matched-Stub-Name: the one
    Content-Length: 38
    ");
    assert_eq!(
        answer.text(),
        r#"{"z":1.10,"a":12345678901234567890123}"#.to_owned()
    );
}

#[test]
fn bodies_come_from_every_source() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("mappings/deep")).unwrap();
    std::fs::create_dir_all(root.path().join("__files")).unwrap();
    std::fs::write(root.path().join("__files/b.bin"), b"\x00file\xff").unwrap();
    let mappings = r"{'mappings': [ // comments and single quotes are WireMock's
        {'request': {'url': '/file'}, 'response': {'bodyFileName': 'b.bin'}},
        {'request': {'url': '/base64'}, 'response': {'base64Body': 'aGk=', 'bodyFileName': 'b.bin'}},
        {'request': {'url': '/json'}, 'response': {'jsonBody': [1, 2], 'base64Body': 'aGk='}},
        {'request': {'url': '/text'}, 'response': {'body': 'grün', 'jsonBody': [1, 2]}},
        {'request': {'url': '/none'}}
    ]}";
    std::fs::write(root.path().join("mappings/deep/all.json"), mappings).unwrap();
    let mock = Mock::start(plimsoll_mock::MockConfig {
        root_dir: Some(root.path().to_owned()),
        ..config()
    });
    let mut client = mock.client();
    for (url, expected) in [
        ("/file", b"\x00file\xff".as_slice()),
        ("/base64", b"hi"),
        ("/json", b"[1,2]"),
        ("/text", "grün".as_bytes()),
        ("/none", b""),
    ] {
        let answer = client.get(url);
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (200, expected),
            "{url}"
        );
    }
}

#[test]
fn delays_add_up_and_are_never_short() {
    let mock = Mock::with_stubs(&[r#"{"request": {"url": "/slow"}, "response": {
        "fixedDelayMilliseconds": 20, "delayDistribution": {"type": "fixed", "milliseconds": 15}}}"#]);
    let mut client = mock.client();
    for target in ["/slow", "/delay/35ms"] {
        let start = Instant::now();
        assert_eq!(client.get(target).status, 200);
        assert!(start.elapsed() >= Duration::from_millis(35), "{target}");
    }
}

#[test]
fn many_delays_at_once_hold_no_thread() {
    let mock = Mock::start(config());
    let mut clients: Vec<Client> = (0..200).map(|_| mock.client()).collect();
    let start = Instant::now();
    for client in &mut clients {
        client.write("GET /delay/100ms HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for client in &mut clients {
        assert_eq!(client.read("GET").status, 200);
    }
    // One after the other they would take 20 s.
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    let targets = ["/delay/5ms", "/size/3", "/xml", "/nothing"];
    let requests: String = targets
        .iter()
        .map(|target| format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"))
        .collect();
    client.write(&requests);
    assert_eq!(client.read("GET").text(), "");
    assert_eq!(client.read("GET").text(), "abc");
    assert_eq!(
        client.read("GET").field("Content-Type"),
        Some("application/xml")
    );
    assert_eq!(client.read("GET").status, 404);
}

/// The rest of the second request comes only after the first answer.
#[test]
fn an_answer_does_not_wait_for_a_request_that_has_only_begun() {
    let mock = Mock::start(config());
    let first = "GET /size/3 HTTP/1.1\r\nHost: x\r\n\r\n";
    let second = "POST /size/4 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab";
    for cut in 1..second.len() {
        let mut client = mock.client();
        client.write(&format!("{first}{}", &second[..cut]));
        assert_eq!(client.read("GET").text(), "abc", "cut at {cut}");
        client.write(&second[cut..]);
        assert_eq!(client.read("POST").text(), "abcd", "cut at {cut}");
    }
}

#[test]
fn head_gets_the_head_only() {
    let mock = Mock::with_stubs(&[r#"{"request": {"url": "/x"}, "response": {"body": "hello"}}"#]);
    let mut client = mock.client();
    assert_eq!(
        client.send("HEAD", "/x", "").field("Content-Length"),
        Some("5")
    );
    assert_eq!(client.get("/x").text(), "hello");
}

#[test]
fn connections_persist_as_the_client_wishes() {
    let mock = Mock::start(config());
    let check = |request: &str, connection: Option<&str>| {
        let mut client = mock.client();
        client.write(request);
        assert_eq!(
            client.read("GET").field("Connection"),
            connection,
            "{request}"
        );
        if connection == Some("close") {
            client.expect_end();
        } else {
            assert_eq!(client.get("/xml").status, 200);
        }
    };
    check("GET /xml HTTP/1.1\r\nHost: x\r\n\r\n", None);
    check(
        "GET /xml HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        Some("close"),
    );
    check("GET /xml HTTP/1.0\r\n\r\n", Some("close"));
    check(
        "GET /xml HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        Some("keep-alive"),
    );
}

#[test]
fn request_bodies_are_consumed() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    assert_eq!(
        client.send("POST", "/size/1", &"x".repeat(100_000)).text(),
        "a"
    );
    client.write(
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    );
    assert_eq!(client.read("POST").json()["Body"], "abc");
}

#[test]
fn a_client_that_waits_for_leave_gets_it() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    client.write(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(client.read("POST").status, 100);
    client.write("hi");
    assert_eq!(client.read("POST").json()["Body"], "hi");
}

#[test]
fn malformed_requests_end_the_connection() {
    let mock = Mock::start(config());
    for (request, status) in [
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
            413,
        ),
    ] {
        let mut client = mock.client();
        client.write(request);
        let answer = client.read("GET");
        assert_eq!(
            (answer.status, answer.field("Connection")),
            (status, Some("close")),
            "{request}"
        );
        client.expect_end();
    }
    assert_eq!(mock.stop().malformed, 4);
}

#[test]
fn stubs_win_over_built_in_endpoints() {
    let mock = Mock::with_stubs(&[r#"{"request": {"url": "/xml"}, "response": {"body": "mine"}}"#]);
    let mut client = mock.client();
    assert_eq!(client.get("/xml").text(), "mine");
    assert_eq!(
        client.get("/xml?x").field("Content-Type"),
        Some("application/xml")
    );
}
