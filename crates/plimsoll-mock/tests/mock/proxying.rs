//! Stubs whose answers are another server's.

use super::upstream::{Act, Upstream, ok, sending};
use super::world::{Client, Mock, Received, config};
use plimsoll_mock::{HostField, MockConfig, Targets, UserAgentField};
use plimsoll_testbed::authority::Authority;
use plimsoll_testbed::peers::tls_server;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

/// A mock with one stub for everything, whose response is this.
fn proxying(config: MockConfig, response: &Value) -> Mock {
    let mock = Mock::start(config);
    let stub = json!({"response": response}).to_string();
    let created = mock.client().send("POST", "/__admin/mappings", &stub);
    assert_eq!(created.status, 201, "{}", created.text());
    mock
}

/// Answer to a request through a mock in front of a server that does this.
fn through(act: Act, method: &str, target: &str) -> Received {
    let upstream = Upstream::start(vec![act]);
    let mock = proxying(sending(), &json!({"proxyBaseUrl": upstream.url()}));
    let received = mock.client().send(method, target, "");
    mock.stop();
    received
}

fn fields(received: &Received) -> String {
    received.head.replace('\r', "")
}

/// The requests of a client to a stub, as the server behind it sees them, with its address as `UPSTREAM`.
fn forwarded(config: MockConfig, response: &Value, request: &str) -> String {
    let upstream = Upstream::start(vec![ok("fine")]);
    let text = response.to_string().replace("UPSTREAM", &upstream.url());
    let mock = proxying(config, &serde_json::from_str(&text).unwrap());
    let mut client = mock.client();
    client.write(&request.replace('\n', "\r\n"));
    let answer = client.read("POST");
    assert_eq!(answer.text(), "fine", "{}", answer.head);
    let text = upstream.asked().text;
    mock.stop();
    let text = text.replace(&upstream.address.to_string(), "UPSTREAM");
    text.replace('\r', "")
}

const REQUEST: &str = "POST /a%2Fb/c?x=1&y HTTP/1.1\nHost: mock\nContent-Length: 4\nX-A: 1\nx-a: 2\nX-Hop: 3\nConnection: X-Hop\nTE: trailers\nUpgrade: h2c\nKeep-Alive: 5\nProxy-Authorization: secret\nUser-Agent: theirs\nAccept-Encoding: gzip, br\nCookie: a=b\n\nbody";

#[test]
fn an_answer_without_a_body_takes_the_time_of_its_dribble() {
    let delay_of = |body: &'static str| {
        let upstream = Upstream::start(vec![ok(body)]);
        let dribble = json!({"numberOfChunks": 2, "totalDuration": 20});
        let response = json!({"proxyBaseUrl": upstream.url(), "chunkedDribbleDelay": dribble});
        let mock = proxying(sending(), &response);
        let mut client = mock.client();
        assert_eq!(client.get("/").text(), body);
        let journal = client.get("/__admin/requests").json();
        journal["requests"][0]["timing"]["addedDelay"].clone()
    };
    assert_eq!((delay_of(""), delay_of("ab")), (json!(20), json!(0)));
}

#[test]
fn requests_are_sent_on_as_wiremock_sends_them() {
    let text = forwarded(
        sending(),
        &json!({"proxyBaseUrl": "UPSTREAM/base"}),
        REQUEST,
    );
    insta::assert_snapshot!(text, @"
    POST /base/a%2Fb/c?x=1&y HTTP/1.1
    Host: UPSTREAM
    X-A: 1
    x-a: 2
    Accept-Encoding: gzip, br
    Cookie: a=b
    User-Agent: plimsoll-mock/0.1.0
    Content-Length: 4

    body
    ");
}

#[test]
fn a_stub_adds_removes_and_renders() {
    let response = json!({
        "proxyBaseUrl": "UPSTREAM/{{request.query.x}}",
        "proxyUrlPrefixToRemove": "/a%2Fb",
        "additionalProxyRequestHeaders": {"X-T": "{{request.method}}", "Host": "other"},
        "removeProxyRequestHeaders": ["x-A", "Accept-Encoding", "cookie"],
        "transformers": ["response-template"],
    });
    let text = forwarded(sending(), &response, REQUEST);
    insta::assert_snapshot!(text, @"
    POST /1/c?x=1&y HTTP/1.1
    User-Agent: plimsoll-mock/0.1.0
    X-T: POST
    Host: other
    Content-Length: 4

    body
    ");
}

#[test]
fn flags_say_what_is_kept_of_a_client() {
    let mut config = sending();
    config.outgoing.host = HostField::Client;
    config.outgoing.user_agent = UserAgentField::Client;
    config.outgoing.encodings = Some(vec!["br".to_owned(), "deflate".to_owned()]);
    let text = forwarded(config, &json!({"proxyBaseUrl": "UPSTREAM"}), REQUEST);
    insta::assert_snapshot!(text, @"
    POST /a%2Fb/c?x=1&y HTTP/1.1
    Host: mock
    X-A: 1
    x-a: 2
    User-Agent: theirs
    Accept-Encoding: br
    Cookie: a=b
    Content-Length: 4

    body
    ");
}

#[test]
fn answers_come_without_what_belongs_to_the_connection() {
    let act = Act::Answer(
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Made It\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a=b\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
            .to_owned(),
    );
    let received = through(act, "GET", "/x");
    assert_eq!(received.text(), "abc");
    insta::assert_snapshot!(fields(&received), @"
    HTTP/1.1 201 Made It
    X-A: 1
    X-A: 2
    Set-Cookie: a=b
    Content-Length: 3
    ");
}

#[test]
fn a_stub_adds_its_fields_and_not_its_status_or_body() {
    let upstream = Upstream::start(vec![ok("theirs")]);
    let response = json!({
        "proxyBaseUrl": upstream.url(), "status": 418, "body": "mine",
        "headers": {"X-N": "{{request.path}}", "Content-Type": "a/b"},
        "transformers": ["response-template"],
        "chunkedDribbleDelay": {"numberOfChunks": 3, "totalDuration": 3},
        "fixedDelayMilliseconds": 5,
    });
    let mock = proxying(sending(), &response);
    let received = mock.client().get("/x");
    assert_eq!((received.status, received.text().as_str()), (200, "theirs"));
    assert_eq!(received.field("X-N"), Some("/x"));
    assert_eq!(received.field("Content-Type"), Some("a/b"));
    let events = mock.client().get("/__admin/requests").json();
    let event = &events["requests"][0];
    assert_eq!(event["response"]["body"], "theirs");
    assert_eq!(event["timing"]["addedDelay"], 5);
    let stub = &event["stubMapping"]["response"];
    assert_eq!(stub["proxyBaseUrl"], upstream.url());
    mock.stop();
}

#[test]
fn answers_without_a_body() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n";
    let received = through(Act::Answer(head.to_owned()), "HEAD", "/x");
    assert_eq!(received.field("Content-Length"), Some("77"));
    let received = through(
        Act::Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned()),
        "HEAD",
        "/x",
    );
    assert_eq!(received.field("Content-Length"), None);
    for (head, status) in [
        ("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n", 304),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
    ] {
        let received = through(Act::Answer(head.to_owned()), "GET", "/x");
        assert_eq!(received.status, status);
        assert_eq!(received.field("Content-Length"), None);
    }
}

#[test]
fn why_there_is_no_answer_is_said_as_wiremock_says_it() {
    let refusing = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let mock = proxying(
        sending(),
        &json!({"proxyBaseUrl": format!("http://{refusing}")}),
    );
    let received = mock.client().get("/a?b");
    assert_eq!(received.status, 500);
    let expected = format!(
        "Network failure trying to make a proxied request from WireMock to http://{refusing}/a?b\r\nConnect to http://{refusing} failed: Connection refused"
    );
    assert_eq!(received.text(), expected);
    mock.stop();
    let check = |act: Act, why: &str| {
        let received = through(act, "GET", "/x");
        assert_eq!(received.status, 500);
        assert!(received.text().ends_with(why), "{}", received.text());
    };
    check(Act::Close, "\r\nThe target server failed to respond");
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab";
    check(
        Act::AnswerAndClose(cut.to_owned()),
        "\r\nconnection closed inside a message",
    );
    let noise = "no HTTP\r\n\r\n";
    check(
        Act::AnswerAndClose(noise.to_owned()),
        "\r\nmalformed status line",
    );
    let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    check(
        Act::AnswerAndClose(switching.to_owned()),
        "wants another protocol",
    );
}

#[test]
fn a_server_that_is_slow_or_long_winded_is_not_waited_for() {
    let mut config = sending();
    config.outgoing.timeout = Duration::from_millis(50);
    let upstream = Upstream::start(vec![Act::Hang]);
    let mock = proxying(config, &json!({"proxyBaseUrl": upstream.url()}));
    let received = mock.client().get("/x");
    assert!(received.text().ends_with("\r\nno answer within 0.05 s"));
    mock.stop();

    let mut config = sending();
    config.limits.body_bytes = 100;
    let upstream = Upstream::start(vec![ok(&"long".repeat(50))]);
    let mock = proxying(config, &json!({"proxyBaseUrl": upstream.url()}));
    let received = mock.client().get("/x");
    assert!(received.text().ends_with("\r\nbody too large"));
    mock.stop();
}

#[test]
fn a_server_that_hangs_holds_nobody_else_up() {
    let upstream = Upstream::start(vec![Act::Hang]);
    let mock = proxying(sending(), &json!({"proxyBaseUrl": upstream.url()}));
    let own = json!({"request": {"url": "/own"}, "response": {"body": "own"}});
    mock.client()
        .send("POST", "/__admin/mappings", &own.to_string());
    let mut waiting = mock.client();
    waiting.write("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    upstream.asked();
    assert_eq!(mock.client().get("/own").text(), "own");
}

#[test]
fn connections_are_kept_and_replaced_when_they_are_gone() {
    let closing = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2".to_owned();
    let acts = vec![ok("1"), Act::AnswerAndClose(closing), ok("3")];
    let upstream = Upstream::start(acts);
    let mock = proxying(sending(), &json!({"proxyBaseUrl": upstream.url()}));
    let mut client = mock.client();
    for (number, connection) in [("1", 0), ("2", 0), ("3", 1)] {
        assert_eq!(client.get("/x").text(), number);
        assert_eq!(upstream.asked().connection, connection);
    }
    mock.stop();
}

#[test]
fn nothing_is_sent_to_whom_is_not_allowed() {
    let upstream = Upstream::start(vec![ok("never")]);
    let stub = json!({"response": {"proxyBaseUrl": upstream.url()}});
    let mock = Mock::start(config());
    let refused = mock
        .client()
        .send("POST", "/__admin/mappings", &stub.to_string());
    assert_eq!(refused.status, 422);
    let start = format!("--allow-proxy-targets {}", upstream.address);
    assert!(refused.text().contains(&start), "{}", refused.text());
    mock.stop();

    let mut elsewhere = sending();
    elsewhere.outgoing.targets = Targets::new(&["127.0.0.2", "localhost:1"], &[]).unwrap();
    let response = json!({
        "proxyBaseUrl": "http://{{request.headers.X-To}}",
        "transformers": ["response-template"],
    });
    let mock = proxying(elsewhere, &response);
    for host in [upstream.address.to_string(), "localhost".to_owned()] {
        let mut client = mock.client();
        client.write(&format!(
            "GET / HTTP/1.1\r\nHost: x\r\nX-To: {host}\r\n\r\n"
        ));
        let received = client.read("GET");
        assert_eq!(received.status, 500);
        let words = "The target proxy address is denied in WireMock's configuration.";
        assert!(received.text().starts_with(words), "{}", received.text());
    }
    let mut client = mock.client();
    client.write("GET / HTTP/1.1\r\nHost: x\r\nX-To: a b\r\n\r\n");
    let received = client.read("GET");
    assert_eq!(received.status, 500);
    assert!(received.text().contains("encode them"));
    mock.stop();
}

#[test]
fn what_no_stub_answers_goes_to_the_server_behind() {
    let upstream = Upstream::start(vec![ok("behind"), ok("behind")]);
    let mut config = sending();
    config.proxy_all = Some(upstream.url());
    let mock = Mock::start(config);
    let own = json!({"request": {"url": "/own"}, "response": {"body": "own"}});
    let mut client = mock.client();
    client.send("POST", "/__admin/mappings", &own.to_string());
    assert_eq!(client.get("/own").text(), "own");
    assert_eq!(client.get("/other").text(), "behind");
    assert_eq!(client.send("POST", "/__admin/reset", "").status, 200);
    assert_eq!(client.get("/own").text(), "behind");
    mock.stop();
}

/// Answers one request over TLS, if the client wants to go on after the handshake.
fn secured(authority: &Authority) -> std::net::SocketAddr {
    let manner = tls_server::Manner {
        versions: rustls::ALL_VERSIONS,
        alpn: &["http/1.1"],
        asks: false,
        expired: false,
    };
    let tls = tls_server::config(authority, manner).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = rustls::ServerConnection::new(tls).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, stream);
        let mut request = [0; 4096];
        // A client that does not trust it ends the handshake here.
        if stream.read(&mut request).is_ok_and(|count| count > 0) {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
            stream.write_all(answer).unwrap();
            stream.flush().unwrap();
        }
    });
    address
}

#[test]
fn certificates_are_verified_unless_told_otherwise() {
    let authority = Authority::new().unwrap();
    let other = Authority::new().unwrap();
    let ask = |trusted: &Authority, hosts: &[&str]| -> Received {
        let address = secured(&authority);
        let mut config = sending();
        config.outgoing.targets = Targets::new(&["localhost"], &[]).unwrap();
        config.outgoing.trust.authorities = Some(trusted.certificate().to_owned());
        config.outgoing.trust.hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let base = format!("https://localhost:{}", address.port());
        let mock = proxying(config, &json!({"proxyBaseUrl": base}));
        let received = Client::connect(mock.address).get("/x");
        mock.stop();
        received
    };
    assert_eq!(ask(&authority, &[]).text(), "secret");
    assert_eq!(ask(&other, &["LOCALHOST"]).text(), "secret");
    let refused = ask(&other, &["elsewhere"]);
    assert_eq!(refused.status, 500);
    let words = "SSL failure trying to make a proxied request from WireMock to https://localhost:";
    assert!(refused.text().starts_with(words), "{}", refused.text());
}

#[test]
fn what_cannot_be_sent_on_is_refused_with_its_place() {
    let mock = Mock::start(sending());
    let check = |response: Value, pointer: &str, words: &str| {
        mock.refuses(&json!({ "response": response }), pointer, words);
    };
    let base = "http://127.0.0.1";
    check(
        json!({"proxyBaseUrl": "there"}),
        "/response/proxyBaseUrl",
        "has no scheme",
    );
    check(
        json!({"proxyBaseUrl": "http://u:p@127.0.0.1"}),
        "/response/proxyBaseUrl",
        "has credentials",
    );
    check(
        json!({"proxyBaseUrl": base, "fault": "EMPTY_RESPONSE"}),
        "/response/fault",
        "has no fault",
    );
    check(
        json!({"proxyBaseUrl": base, "additionalProxyRequestHeaders": {"Content-Length": "1"}}),
        "/response/additionalProxyRequestHeaders",
        "by the mock itself",
    );
    check(
        json!({"proxyBaseUrl": base, "additionalProxyRequestHeaders": {"A": ["1", "2"]}}),
        "/response/additionalProxyRequestHeaders",
        "several values",
    );
    mock.stop();
}
