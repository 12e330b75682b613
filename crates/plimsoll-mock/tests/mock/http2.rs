//! HTTP/2 in plaintext: the same stubs, delays, journal and counters as over HTTP/1.1, on streams that stand beside each other.

use crate::upstream::{Upstream, ok, sending};
use crate::world::{Mock, config};
use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{Request, Response};
use plimsoll_mock::{MockConfig, Timeouts};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;
use tokio::task::JoinSet;

/// A client, and what drives its connection.
struct Client {
    sender: SendRequest<Bytes>,
    driver: JoinSet<Result<(), h2::Error>>,
}

impl Client {
    async fn connect(mock: &Mock) -> Self {
        let stream = tokio::net::TcpStream::connect(mock.address).await.unwrap();
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        let mut driver = JoinSet::new();
        driver.spawn_local(connection);
        Self { sender, driver }
    }

    async fn begin(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<Response<RecvStream>, h2::Error> {
        let uri = format!("http://localhost{path}");
        let request = Request::builder().method(method).uri(uri).body(()).unwrap();
        self.sender.clone().ready().await?;
        let (response, mut sending) = self.sender.send_request(request, body.is_empty())?;
        if !body.is_empty() {
            sending.send_data(Bytes::copy_from_slice(body.as_bytes()), true)?;
        }
        response.await
    }

    /// A whole exchange: status and body.
    async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<(u16, String), h2::Error> {
        let response = self.begin(method, path, body).await?;
        let status = response.status().as_u16();
        Ok((status, text(response.into_body()).await?))
    }

    async fn get(&mut self, path: &str) -> (u16, String) {
        self.send("GET", path, "").await.unwrap()
    }
}

async fn text(mut body: RecvStream) -> Result<String, h2::Error> {
    let mut text = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        text.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len())?;
    }
    Ok(String::from_utf8(text).unwrap())
}

fn in_runtime<F: Future>(work: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

#[test]
fn another_server_answers_and_gets_webhooks_too() {
    let upstream = Upstream::start(vec![ok("behind"), ok("thanks")]);
    let behind = format!(
        r#"{{"request": {{"url": "/behind", "method": "POST"}}, "response": {{"proxyBaseUrl": "{}"}}}}"#,
        upstream.url()
    );
    let calling = format!(
        r#"{{"request": {{"url": "/calls"}}, "response": {{"body": "done"}}, "serveEventListeners": [{{"name": "webhook",
            "parameters": {{"method": "POST", "url": "{}/hook", "body": "{{{{originalRequest.method}}}}"}}}}]}}"#,
        upstream.url()
    );
    let mock = Mock::start(sending());
    let mappings = "/__admin/mappings";
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        for stub in [&behind, &calling] {
            assert_eq!(client.send("POST", mappings, stub).await.unwrap().0, 201);
        }
        let answered = client.send("POST", "/behind", "asked").await.unwrap();
        assert_eq!(answered, (200, "behind".to_owned()));
        assert_eq!(client.get("/calls").await, (200, "done".to_owned()));
    });
    let passed_on = upstream.asked().text;
    assert!(
        passed_on.starts_with("POST /behind HTTP/1.1\r\n"),
        "{passed_on}"
    );
    assert!(passed_on.ends_with("\r\n\r\nasked"), "{passed_on}");
    let called = upstream.asked().text;
    assert!(called.starts_with("POST /hook HTTP/1.1\r\n"), "{called}");
    assert!(called.ends_with("\r\n\r\nGET"), "{called}");
    mock.stop();
}

#[test]
fn stubs_the_journal_and_the_admin_api_are_the_same() {
    let stub = r#"{"request": {"method": "POST", "url": "/a?b=1", "headers": {"Host": {"equalTo": "localhost"}}, "cookies": {"c": {"equalTo": "1"}},
        "bodyPatterns": [{"equalTo": "asked"}]}, "response": {"status": 201, "headers": {"X-A": ["1", "2"], "Connection": "close"}, "body": "told"}}"#;
    let mock = Mock::start(config());
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        assert_eq!(
            client
                .send("POST", "/__admin/mappings", stub)
                .await
                .unwrap()
                .0,
            201
        );
        let request = Request::builder()
            .method("POST")
            .uri("http://localhost/a?b=1")
            .header("cookie", "x=y")
            .header("cookie", "c=1")
            .body(())
            .unwrap();
        let (response, mut sending) = client.sender.send_request(request, false).unwrap();
        sending
            .send_data(Bytes::from_static(b"asked"), true)
            .unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.status(), 201);
        let values: Vec<_> = response.headers().get_all("x-a").iter().collect();
        assert_eq!(values, ["1", "2"]);
        assert!(!response.headers().contains_key("connection"));
        assert_eq!(response.headers()["content-length"], "4");
        assert_eq!(text(response.into_body()).await.unwrap(), "told");
        assert_eq!(client.get("/nothing").await.0, 404);
        assert_eq!(
            client.send("HEAD", "/xml", "").await.unwrap(),
            (200, String::new())
        );
        let (_, journal) = client.get("/__admin/requests").await;
        let journal: serde_json::Value = serde_json::from_str(&journal).unwrap();
        let noted = &journal["requests"][2]["request"];
        let expected = serde_json::json!({"body": "asked", "protocol": "HTTP/2.0", "absoluteUrl": "http://localhost/a?b=1", "host": "localhost"});
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&noted[key], value, "{noted}");
        }
        assert_eq!(noted["headers"]["cookie"], "x=y; c=1");
    });
    let summary = mock.stop();
    assert_eq!(
        (summary.received, summary.served, summary.unmatched),
        (5, 5, 1)
    );
}

#[test]
fn delays_of_streams_do_not_add_up_and_answers_overtake() {
    let mock = Mock::start(config());
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        let since = tokio::time::Instant::now();
        let mut slow = Vec::new();
        for _ in 0..50 {
            let request = Request::get("http://localhost/delay/300ms")
                .body(())
                .unwrap();
            client.sender.clone().ready().await.unwrap();
            slow.push(client.sender.send_request(request, true).unwrap().0);
        }
        assert_eq!(client.get("/json/valid").await.0, 200);
        let overtaken = since.elapsed();
        for response in slow {
            assert_eq!(response.await.unwrap().status(), 200);
        }
        assert!(since.elapsed() >= Duration::from_millis(300));
        assert!(overtaken < since.elapsed());
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "{:?}",
            since.elapsed()
        );
    });
    assert_eq!(mock.stop().served, 51);
}

/// One after the other they would take three hours. How late they are is a measurement's business (`docs/mock.md`).
#[test]
fn ten_thousand_requests_wait_at_once_on_one_shard() {
    const CONNECTIONS: usize = 100;
    const STREAMS: usize = 100;
    let mock = Mock::start(config());
    let since = in_runtime(async {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut client = Client::connect(&mock).await;
            // Its answer shows that the client knows how many streams it may have.
            assert_eq!(client.get("/json/valid").await.0, 200);
            clients.push(client);
        }
        let mut answers = Vec::new();
        let since = tokio::time::Instant::now();
        for client in &mut clients {
            for _ in 0..STREAMS {
                client.sender.clone().ready().await.unwrap();
                let request = Request::get("http://localhost/delay/1s").body(()).unwrap();
                answers.push(client.sender.send_request(request, true).unwrap().0);
            }
        }
        for answer in answers {
            assert_eq!(answer.await.unwrap().status(), 200);
        }
        since.elapsed()
    });
    assert!(since >= Duration::from_secs(1) && since < Duration::from_secs(60));
    let summary = mock.stop();
    let all = (CONNECTIONS * (1 + STREAMS)) as u64;
    assert_eq!((summary.received, summary.served), (all, all));
}

#[test]
fn long_bodies_pass_both_ways() {
    let mock = Mock::start(config());
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        let (_, letters) = client.get("/size/1M").await;
        assert_eq!(letters.len(), 1 << 20);
        assert!(letters.starts_with("abc"));
        let body = "x".repeat(500_000);
        let response = client.begin("POST", "/echo", "").await;
        assert!(response.is_ok());
        let uri = "http://localhost/echo";
        let request = Request::post(uri).body(()).unwrap();
        let (response, mut sending) = client.sender.send_request(request, false).unwrap();
        sending.send_data(body.clone().into(), true).unwrap();
        let echoed = text(response.await.unwrap().into_body()).await.unwrap();
        assert!(echoed.contains(&body));
    });
    mock.stop();
}

/// Effect of a stub on its stream or connection: the exchange's error, and whether the connection takes another.
async fn misbehaved(client: &mut Client, path: &str) -> (h2::Error, bool) {
    let error = match client.begin("GET", path, "").await {
        Err(error) => error,
        Ok(response) => text(response.into_body()).await.unwrap_err(),
    };
    let lives = client.send("GET", "/json/valid", "").await.is_ok();
    (error, lives)
}

#[test]
fn cuts_end_their_stream_and_faults_their_connection() {
    let stub = |name: &str, response: &str, own: &str| {
        format!(
            r#"{{"request": {{"url": "/{name}"}}, "response": {{"body": "0123456789"{response}}}, "metadata": {{"plimsoll": {{{own}}}}}}}"#
        )
    };
    let stubs = [
        stub("reset", "", r#""resetAfterBytes": 3"#),
        stub("short", "", r#""truncateAfterBytes": 3"#),
        stub("hang", "", r#""hang": "20ms""#),
        stub("empty", r#", "fault": "EMPTY_RESPONSE""#, ""),
        stub("rst", r#", "fault": "CONNECTION_RESET_BY_PEER""#, ""),
        stub("random", r#", "fault": "RANDOM_DATA_THEN_CLOSE""#, ""),
        stub("chunk", r#", "fault": "MALFORMED_RESPONSE_CHUNK""#, ""),
    ];
    let mock = Mock::with_stubs(&stubs.each_ref().map(String::as_str));
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        for path in ["/reset", "/hang"] {
            let (error, lives) = misbehaved(&mut client, path).await;
            assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR), "{path}");
            assert!(lives && error.is_remote(), "{path}");
        }
        let (error, lives) = misbehaved(&mut client, "/short").await;
        assert!(lives && !error.is_remote(), "{error:?}");
        for path in ["/empty", "/rst", "/random", "/chunk"] {
            let mut client = Client::connect(&mock).await;
            let (error, lives) = misbehaved(&mut client, path).await;
            assert!(!lives, "{path}: {error:?}");
            let ended = client.driver.join_next().await.unwrap().unwrap();
            let kind = ended.err().and_then(|error| Some(error.get_io()?.kind()));
            let reset = kind == Some(std::io::ErrorKind::ConnectionReset);
            assert_eq!(reset, path == "/rst", "{path}: {kind:?}");
        }
    });
    let summary = mock.stop();
    // Seven creations, and three requests that found the connection alive.
    assert_eq!((summary.received, summary.served), (7 + 10, 7 + 3));
}

#[test]
fn a_stream_that_is_given_up_is_not_waited_for() {
    let mock = Mock::with_stubs(&[
        r#"{"request": {"url": "/slow"}, "response": {"fixedDelayMilliseconds": 3600000},
        "metadata": {"plimsoll": {"maxConcurrency": {"requests": 1, "on_overflow": "refuse"}}}}"#,
    ]);
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        // Each gives its place back when its stream is reset, so none is refused.
        for _ in 0..300 {
            let request = Request::get("http://localhost/slow").body(()).unwrap();
            client.sender.clone().ready().await.unwrap();
            let (response, mut sending) = client.sender.send_request(request, true).unwrap();
            let answered = client.get("/json/valid").await;
            assert_eq!(answered.0, 200);
            sending.send_reset(Reason::CANCEL);
            drop(response);
            assert_eq!(client.get("/json/valid").await.0, 200);
        }
    });
    let summary = mock.stop();
    assert_eq!((summary.received, summary.served), (1 + 900, 1 + 600));
}

#[test]
fn a_client_that_takes_nothing_is_left() {
    let mut timeouts = Timeouts::default();
    timeouts.body.silence = Duration::from_millis(50);
    let mock = Mock::start(MockConfig {
        timeouts,
        ..config()
    });
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        let response = client.begin("GET", "/size/10M", "").await.unwrap();
        // Nothing is released, so the window closes.
        let mut body = response.into_body();
        let ended = loop {
            match body.data().await {
                Some(Ok(_)) => {}
                Some(Err(error)) => break error,
                None => panic!("the whole body"),
            }
        };
        assert_eq!(ended.reason(), Some(Reason::CANCEL));
    });
    let summary = mock.stop();
    assert_eq!((summary.served, summary.timed_out), (0, 1));
}

#[test]
fn rules_and_limits_are_those_of_http1() {
    let mock = Mock::start(config());
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        let request = |uri: &str, name: &str, value: &str| {
            Request::get(uri).header(name, value).body(()).unwrap()
        };
        let long = format!("http://localhost/{}", "x".repeat(9000));
        for (request, expected) in [
            (request(&long, "x", "y"), 414),
            (request("http://u@localhost/", "x", "y"), 400),
            (request("http://localhost/", "expect", "much"), 417),
        ] {
            client.sender.clone().ready().await.unwrap();
            let (response, _) = client.sender.send_request(request, true).unwrap();
            assert_eq!(response.await.unwrap().status(), expected);
        }
        let request = Request::post("http://localhost/xml").body(()).unwrap();
        let (response, mut sending) = client.sender.send_request(request, false).unwrap();
        sending.send_data(vec![0; 11 << 20].into(), true).unwrap();
        assert_eq!(response.await.unwrap().status(), 413);
    });
    let summary = mock.stop();
    assert_eq!((summary.received, summary.malformed), (4, 4));
}

#[test]
fn a_mock_that_stops_lets_streams_end() {
    let mock = Mock::start(config());
    in_runtime(async {
        let mut client = Client::connect(&mock).await;
        let request = Request::get("http://localhost/delay/200ms")
            .body(())
            .unwrap();
        let (response, _) = client.sender.send_request(request, true).unwrap();
        assert_eq!(client.get("/xml").await.0, 200);
        mock.say_stop();
        assert_eq!(response.await.unwrap().status(), 200);
        assert!(client.driver.join_next().await.unwrap().unwrap().is_ok());
    });
    let summary = mock.stop();
    assert_eq!((summary.received, summary.served), (2, 2));
}

/// A frame (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head[..], payload].concat()
}

/// Beginning of a client: its preface and empty settings.
fn beginning() -> Vec<u8> {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    [preface, frame(4, 0, 0, &[])].concat()
}

#[test]
fn a_fault_ends_its_connection_and_says_nothing_of_its_stream() {
    const RST_STREAM: u8 = 3;
    let stubs = ["EMPTY_RESPONSE", "CONNECTION_RESET_BY_PEER"].map(|fault| {
        format!(r#"{{"request": {{"url": "/"}}, "response": {{"fault": "{fault}"}}}}"#)
    });
    for stub in &stubs {
        let mock = Mock::with_stubs(&[stub]);
        let mut client = TcpStream::connect(mock.address).unwrap();
        // GET, http, / and the authority `x` in HPACK.
        let request = frame(1, 5, 1, &[0x82, 0x86, 0x84, 0x41, 1, b'x']);
        client.write_all(&[beginning(), request].concat()).unwrap();
        let mut said = Vec::new();
        // With a reset, for one of them.
        drop(client.read_to_end(&mut said));
        let mut rest = said.as_slice();
        while let [a, b, c, kind, ..] = *rest {
            assert_ne!(kind, RST_STREAM, "{stub}");
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            rest = rest.get(9 + length..).unwrap_or_default();
        }
        mock.stop();
    }
}

#[test]
fn a_flood_of_streams_that_are_reset_ends_its_connection() {
    const STREAMS: u32 = 20_000;
    let mut flood = beginning();
    for stream in (1..2 * STREAMS).step_by(2) {
        // GET, http, / and the authority `x` in HPACK; then RST_STREAM with CANCEL.
        flood.extend(frame(1, 5, stream, &[0x82, 0x86, 0x84, 0x41, 1, b'x']));
        flood.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    let mock = Mock::start(config());
    let mut client = TcpStream::connect(mock.address).unwrap();
    let patience = Some(Duration::from_secs(20));
    client.set_read_timeout(patience).unwrap();
    client.set_write_timeout(patience).unwrap();
    // It may be over before all of it is written, and with a reset.
    drop(client.write_all(&flood));
    drop(client.read_to_end(&mut Vec::new()));
    assert_eq!(mock.client().get("/json/valid").status, 200);
    let summary = mock.stop();
    assert!(summary.received < u64::from(STREAMS) / 10, "{summary:?}");
}

#[test]
fn http2_in_clear_can_be_turned_off_and_must_begin_in_time() {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let off = Mock::start(MockConfig {
        http2_in_clear: false,
        ..config()
    });
    let mut client = off.client();
    client.write(preface);
    assert_eq!(client.read("GET").status, 505);
    off.stop();
    let mock = Mock::start(MockConfig {
        timeouts: Timeouts {
            head: Duration::from_millis(20),
            ..Timeouts::default()
        },
        ..config()
    });
    let mut slow = TcpStream::connect(mock.address).unwrap();
    slow.write_all(&preface.as_bytes()[..7]).unwrap();
    let mut said = String::new();
    slow.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    assert_eq!(mock.stop().timed_out, 1);
}
