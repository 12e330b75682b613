//! HTTP/2 at both sides: what crosses in which form, what is refused on the way, and what a client cannot make the gateway hold.

use crate::counting::totals;
use crate::floods::{self, ends_under, frame, opening};
use crate::secured::Realm;
use crate::support::{Gateway, PATIENCE, Upstream, configuration, field, to};
use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use plimsoll_base::counters::Counter;
use plimsoll_http::tls::ServerTls;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// A gateway whose clients may speak HTTP/2, before an upstream of HTTP/1.1.
fn before(upstream: SocketAddr) -> Gateway {
    Gateway::before(upstream, "http2: {}\n")
}

/// The same before one of HTTP/2.
fn before_http2(upstream: SocketAddr) -> Gateway {
    let text = to(upstream).replace("\"] }", "\"], http2: true }");
    Gateway::start(&format!("{text}http2: {{ streams: 8 }}\n"))
}

/// A client of HTTP/2.
pub struct Client {
    pub sender: SendRequest<Bytes>,
    pub driver: JoinSet<Result<(), h2::Error>>,
}

/// A whole response.
#[derive(Debug)]
pub struct Whole {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
    pub trailers: Option<HeaderMap>,
}

impl Client {
    pub async fn connect(gateway: &Gateway) -> Self {
        let stream = tokio::net::TcpStream::connect(gateway.address("main"));
        Self::over(stream.await.unwrap()).await
    }

    pub async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Self {
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        let mut driver = JoinSet::new();
        driver.spawn_local(connection);
        Self { sender, driver }
    }

    pub async fn begin(
        &mut self,
        request: Request<()>,
        body: &str,
        trailers: HeaderMap,
    ) -> Result<Response<RecvStream>, h2::Error> {
        self.sender.clone().ready().await?;
        let bare = body.is_empty() && trailers.is_empty();
        let (response, mut sending) = self.sender.send_request(request, bare)?;
        if !bare {
            sending.send_data(Bytes::copy_from_slice(body.as_bytes()), trailers.is_empty())?;
        }
        if !trailers.is_empty() {
            sending.send_trailers(trailers)?;
        }
        response.await
    }

    pub async fn ask(&mut self, request: Request<()>, body: &str) -> Result<Whole, h2::Error> {
        whole(self.begin(request, body, HeaderMap::new()).await?).await
    }
}

pub async fn whole(response: Response<RecvStream>) -> Result<Whole, h2::Error> {
    let (parts, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        bytes.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len())?;
    }
    Ok(Whole {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: String::from_utf8(bytes).unwrap(),
        trailers: body.trailers().await?,
    })
}

pub fn get(path: &str) -> Request<()> {
    Request::get(format!("http://a.example{path}"))
        .body(())
        .unwrap()
}

pub fn post(path: &str) -> Request<()> {
    Request::post(format!("http://a.example{path}"))
        .body(())
        .unwrap()
}

pub fn in_runtime<F: Future>(work: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let work = async {
        tokio::time::timeout(PATIENCE, work)
            .await
            .expect("it hangs")
    };
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// An upstream of HTTP/2 that returns what it gets: the request's fields as `x-seen-…`, its scheme, its body, its trailers and `grpc-status`. `/trailers-only`
/// gets no body, `/cut` half of one.
pub fn echo_over_http2() -> SocketAddr {
    echo_over(None)
}

/// The same, over TLS if so.
pub fn echo_over(tls: Option<ServerTls>) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let mut tasks = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let tls = tls.clone();
                tasks.spawn_local(async move {
                    match tls {
                        None => echo(stream).await,
                        // A client that does not get through is no matter of this server's.
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                echo(stream).await;
                            }
                        }
                    }
                });
            }
        });
    });
    address
}

async fn echo(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let mut exchanges = JoinSet::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        exchanges.spawn_local(answer(request, respond));
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
) -> Option<()> {
    let (parts, mut body) = request.into_parts();
    let mut response = Response::new(());
    for (name, value) in &parts.headers {
        let name = http::HeaderName::try_from(format!("x-seen-{name}")).unwrap();
        response.headers_mut().append(name, value.clone());
    }
    let scheme = parts.uri.scheme_str().unwrap_or_default();
    let scheme = http::HeaderValue::try_from(scheme).unwrap();
    response.headers_mut().insert("x-scheme", scheme);
    let status = http::HeaderValue::from_static("0");
    if parts.uri.path() == "/trailers-only" {
        response.headers_mut().insert("grpc-status", status);
        respond.send_response(response, true).ok()?;
        return None;
    }
    let mut sending = respond.send_response(response, false).ok()?;
    while let Some(data) = body.data().await {
        let data = data.ok()?;
        body.flow_control().release_capacity(data.len()).ok()?;
        sending.send_data(data, false).ok()?;
        if parts.uri.path() == "/cut" {
            tokio::task::yield_now().await;
            sending.send_reset(Reason::INTERNAL_ERROR);
            return None;
        }
    }
    let mut trailers = body.trailers().await.ok()?.unwrap_or_default();
    trailers.insert("grpc-status", status);
    sending.send_trailers(trailers).ok()
}

#[test]
fn requests_of_http2_go_out_as_http1() {
    let gateway = before(Upstream::echo().address);
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let request = Request::get("http://a.example/p?q=1")
            .header("cookie", "a=1")
            .header("cookie", "b=2")
            .header("x-own", "1");
        let got = client.ask(request.body(()).unwrap(), "").await.unwrap();
        assert!(
            got.body.starts_with("GET /p?q=1 HTTP/1.1\n"),
            "{}",
            got.body
        );
        assert_eq!(field(&got.body, "cookie"), Some("a=1; b=2"));
        assert_eq!(field(&got.body, "x-forwarded-host"), Some("a.example"));
        assert_eq!(field(&got.body, "transfer-encoding"), None);
        let length = got.body.len().to_string();
        assert_eq!(got.headers["content-length"], length.as_str());
        let got = client.ask(post("/"), "hello").await.unwrap();
        assert!(got.body.ends_with("\n\nhello"), "{}", got.body);
        let head = Request::head("http://a.example/").body(()).unwrap();
        let got = client.ask(head, "").await.unwrap();
        assert_eq!((got.status, got.body.as_str()), (200, ""));
        assert!(got.headers.contains_key("content-length"));
        let got = client.ask(get("/a/../b"), "").await.unwrap();
        assert_eq!(got.status, 400);
    });
    // Who speaks HTTP/1.1 may do so as before.
    assert_eq!(gateway.connect().get("/").status(), 200);
    gateway.reaches("requests_total{route=\"/\",class=\"2xx\"}", 4);
}

#[test]
fn streams_stand_beside_each_other_and_large_bodies_cross() {
    let gateway = before_http2(echo_over_http2());
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        // From the first answer on it knows how many streams it may have.
        assert_eq!(client.ask(get("/"), "").await.unwrap().status, 200);
        let mut exchanges = JoinSet::new();
        for number in 0..20 {
            let mut sender = client.sender.clone();
            exchanges.spawn_local(async move {
                let body = number.to_string().repeat(200_000);
                sender = sender.ready().await.unwrap();
                let (response, mut sending) = sender.send_request(post("/"), false).unwrap();
                sending.send_data(body.clone().into(), true).unwrap();
                let got = whole(response.await.unwrap()).await.unwrap();
                assert!(
                    got.body == body,
                    "{number}: {} of {}",
                    got.body.len(),
                    body.len()
                );
            });
        }
        while let Some(ended) = exchanges.join_next().await {
            ended.unwrap();
        }
    });
}

#[test]
fn grpc_passes_with_its_trailers() {
    let gateway = before_http2(echo_over_http2());
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let request = || {
            let request = Request::post("http://a.example/pkg.Service/Method");
            let request = request
                .header("content-type", "application/grpc")
                .header("te", "trailers");
            request.header("grpc-timeout", "1S").body(()).unwrap()
        };
        let got = client.ask(request(), "\0\0\0\0\u{2}hi").await.unwrap();
        assert_eq!((got.status, got.body.as_str()), (200, "\0\0\0\0\u{2}hi"));
        assert_eq!(got.trailers.unwrap()["grpc-status"], "0");
        let seen = |name: &str| {
            got.headers[format!("x-seen-{name}").as_str()]
                .to_str()
                .unwrap()
        };
        assert_eq!(
            (seen("te"), seen("content-type")),
            ("trailers", "application/grpc")
        );
        assert_eq!(seen("grpc-timeout"), "1S");
        let mut trailers = HeaderMap::new();
        trailers.insert("x-checksum", http::HeaderValue::from_static("7"));
        let response = client.begin(request(), "body", trailers).await.unwrap();
        let got = whole(response).await.unwrap();
        assert_eq!(got.trailers.unwrap()["x-checksum"], "7");
        let got = client.ask(post("/trailers-only"), "ignored").await.unwrap();
        assert_eq!(
            (
                got.headers["grpc-status"].to_str().unwrap(),
                got.body.as_str()
            ),
            ("0", "")
        );
    });
    assert_eq!(
        gateway.metric("upstream_connections_new_total{upstream=\"up\"}"),
        1
    );
}

#[test]
fn what_breaks_off_is_never_ended_cleanly() {
    let gateway = before_http2(echo_over_http2());
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let cut = client.ask(post("/cut"), "half").await.unwrap_err();
        assert_eq!(cut.reason(), Some(Reason::INTERNAL_ERROR));
        // The connection goes on.
        assert_eq!(client.ask(get("/"), "").await.unwrap().status, 200);
    });
    gateway.reaches("aborted_total{route=\"/\"}", 1);
    // To a client of HTTP/1.1 it is a reset.
    let mut old = gateway.connect();
    old.send("POST /cut HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhalf");
    assert!(old.is_reset());
    let truncated = Upstream::start(|mut peer, _| {
        peer.request().unwrap();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    let gateway = before(truncated.address);
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let cut = client.ask(get("/"), "").await.unwrap_err();
        assert_eq!(cut.reason(), Some(Reason::INTERNAL_ERROR));
    });
}

/// An upstream of HTTP/2 that leaves its streams open: nothing comes to `/silent`, the beginning of a body to `/begun`, and to `/stated` all of one
/// whose length is stated, until there is another stream. Says by which reason each was cut off, `None` if it was not.
fn lingering_over_http2() -> (SocketAddr, mpsc::Receiver<Option<Reason>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let (ended, ends) = mpsc::channel();
    std::thread::spawn(move || {
        in_runtime(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let another = std::rc::Rc::new(tokio::sync::Notify::new());
            let mut streams = JoinSet::new();
            while let Some(Ok((request, respond))) = connection.accept().await {
                another.notify_waiters();
                let (ended, another) = (ended.clone(), std::rc::Rc::clone(&another));
                streams.spawn_local(async move {
                    let how = linger(&request, respond, &another).await;
                    if ended.send(how).is_err() {
                        // The test is over.
                    }
                });
            }
        });
    });
    (address, ends)
}

async fn linger(
    request: &Request<RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    another: &tokio::sync::Notify,
) -> Option<Reason> {
    let mut response = Response::new(());
    let path = request.uri().path();
    if path == "/silent" {
        let reset = std::future::poll_fn(|context| respond.poll_reset(context));
        return reset.await.ok();
    }
    if path == "/stated" {
        let length = http::HeaderValue::from_static("4");
        response.headers_mut().insert("content-length", length);
    }
    let mut sending = respond.send_response(response, false).unwrap();
    sending
        .send_data(Bytes::from_static(b"half"), false)
        .unwrap();
    let reset = std::future::poll_fn(|context| sending.poll_reset(context));
    tokio::select! {
        biased;
        reset = reset => return reset.ok(),
        () = another.notified(), if path == "/stated" => {}
    }
    sending.send_data(Bytes::new(), true).unwrap();
    None
}

#[test]
fn what_the_gateway_gives_up_is_cut_off_at_the_upstream() {
    let before_lingering = |limits: &str| {
        let (upstream, ends) = lingering_over_http2();
        let text = to(upstream).replace("\"] }", "\"], http2: true }");
        let gateway = Gateway::start(&format!("{text}http2: {{}}\n{limits}"));
        (gateway, move || ends.recv_timeout(PATIENCE).unwrap())
    };
    in_runtime(async {
        let (gateway, ended) = before_lingering("timeouts: { response_head: 50ms }\n");
        let mut client = Client::connect(&gateway).await;
        for (request, body) in [(get("/silent"), ""), (post("/silent"), "body")] {
            assert_eq!(client.ask(request, body).await.unwrap().status, 504);
            assert_eq!(ended(), Some(Reason::CANCEL));
        }
        let (gateway, ended) = before_lingering("timeouts: { idle: 300ms }\n");
        let mut client = Client::connect(&gateway).await;
        let cut = client.ask(get("/begun"), "").await.unwrap_err();
        assert_eq!(cut.reason(), Some(Reason::INTERNAL_ERROR));
        assert_eq!(ended(), Some(Reason::CANCEL));
        // What has come whole is not given up.
        let (gateway, ended) = before_lingering("");
        let mut client = Client::connect(&gateway).await;
        for _ in 0..2 {
            let got = client.ask(get("/stated"), "").await.unwrap();
            assert_eq!(got.body, "half");
        }
        assert_eq!(ended(), None);
    });
}

#[test]
fn interim_responses_cross() {
    let hints = Upstream::answering(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    );
    let gateway = before(hints.address);
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let (mut response, _) = client.sender.send_request(get("/"), true).unwrap();
        let interim = std::future::poll_fn(|context| response.poll_informational(context)).await;
        let interim = interim.unwrap().unwrap();
        assert_eq!(
            (
                interim.status().as_u16(),
                interim.headers()["link"] == "</a>"
            ),
            (103, true)
        );
        assert_eq!(whole(response.await.unwrap()).await.unwrap().body, "x");
    });
}

const FLOOD: &str = "client_connections_ended_total{reason=\"flood\"}";

/// A field in HPACK, as a literal without indexing.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).ok().filter(|n| *n < 127).unwrap();
    [
        &[0, length(name)],
        name.as_bytes(),
        &[length(value)],
        value.as_bytes(),
    ]
    .concat()
}

/// How the gateway takes a request of these fields and, if any, this body: `200`, another status, or that the stream or the connection is broken.
fn taken(gateway: &Gateway, fields: &[(&str, &str)], body: Option<&str>) -> String {
    let block: Vec<u8> = fields
        .iter()
        .flat_map(|(name, value)| literal(name, value))
        .collect();
    let mut sent = opening();
    sent.extend(frame(1, if body.is_some() { 4 } else { 5 }, 1, &block));
    if let Some(body) = body {
        sent.extend(frame(0, 1, 1, body.as_bytes()));
    }
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&sent).unwrap();
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return "closed".to_owned();
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).unwrap();
        match (head[3], payload.first()) {
            (1, Some(0x88)) => return "200".to_owned(),
            (1, Some(0x8c)) => return "400".to_owned(),
            (1, _) => return format!("answered {payload:x?}"),
            (3, _) => return "reset".to_owned(),
            (7, _) => return "closed".to_owned(),
            _ => {}
        }
    }
}

/// Fields that no request may have, beside those that it must have.
const FIELDS: [(&str, &str); 24] = [
    ("transfer-encoding", "chunked"),
    ("transfer-encoding", "x"),
    ("connection", "close"),
    ("connection", "x-own"),
    ("keep-alive", "timeout=5"),
    ("proxy-connection", "keep-alive"),
    ("upgrade", "websocket"),
    ("te", "gzip"),
    ("host", "b"),
    ("x-own", "a\r\nx-smuggled: 1"),
    ("x-own", "a\nb"),
    ("x-own", "a\rb"),
    ("x-own", "a\0b"),
    ("x-own\r\nx-smuggled", "1"),
    ("x-own: 1", "2"),
    ("x own", "1"),
    ("X-Own", "1"),
    ("", "1"),
    (":status", "200"),
    (":unknown", "x"),
    (":path", "/other"),
    (":method", "POST"),
    ("content-length", "-1"),
    ("content-length", "1, 1"),
];

#[test]
fn what_http1_could_take_for_something_else_is_refused() {
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").address);
    let plain = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "a"),
    ];
    let with = |more: &[(&'static str, &'static str)]| [&plain[..], more].concat();
    assert_eq!(taken(&gateway, &plain, None), "200");
    assert_eq!(taken(&gateway, &plain, Some("body")), "200");
    assert_eq!(
        taken(&gateway, &with(&[("content-length", "4")]), Some("body")),
        "200"
    );
    assert_eq!(taken(&gateway, &with(&[("te", "trailers")]), None), "200");
    let refused = |fields: &[(&str, &str)], body: Option<&str>| {
        let how = taken(&gateway, fields, body);
        assert!(
            ["400", "reset", "closed"].contains(&how.as_str()),
            "{fields:?}: {how}"
        );
    };
    for more in FIELDS {
        refused(&with(&[more]), None);
    }
    refused(&with(&[("content-length", "5")]), Some("body"));
    refused(&with(&[("content-length", "3")]), Some("body"));
    refused(&with(&[("content-length", "4")]), None);
    refused(
        &with(&[("content-length", "4"), ("content-length", "4")]),
        Some("body"),
    );
    refused(&with(&[("x-own", "1"), (":path", "/")]), None);
    let replaced = |name: &str, value: &'static str| {
        plain.map(|(own, old)| {
            if own == name {
                (own, value)
            } else {
                (own, old)
            }
        })
    };
    for path in [
        "",
        "/a b",
        "/ HTTP/1.1\r\nx: y",
        "/a\0",
        "*",
        "a",
        "/\u{e9}",
    ] {
        refused(&replaced(":path", path), None);
    }
    for method in ["", "GE T", "GET / HTTP/1.1\r\n"] {
        refused(&replaced(":method", method), None);
    }
    for authority in ["a b", "a\r\nx: y", "u@a", "a/b", ""] {
        refused(&replaced(":authority", authority), None);
    }
    refused(&replaced(":scheme", "ftp"), None);
    for missing in 0..3 {
        let mut fields = plain.to_vec();
        fields.remove(missing);
        refused(&fields, None);
    }
}

#[test]
fn floods_end_their_connection_and_no_other() {
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").address);
    let mut resets = opening();
    for stream in (1..40_000).step_by(2) {
        // RST_STREAM with CANCEL.
        resets.extend(floods::get(stream));
        resets.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    assert!(ends_under(&gateway, &resets));
    gateway.reaches(FLOOD, 1);
    let mut continued = opening();
    continued.extend(frame(1, 0, 1, &[0x82, 0x86, 0x84, 0x41, 1, b'x']));
    let field = literal("x-own", &"x".repeat(100)).repeat(100);
    for _ in 0..2000 {
        continued.extend(frame(9, 0, 1, &field));
    }
    assert!(ends_under(&gateway, &continued));
    gateway.reaches(FLOOD, 2);
    // Data frames without data cost the same as those with some.
    let mut empty = opening();
    empty.extend(frame(1, 4, 1, &[0x83, 0x86, 0x84, 0x41, 1, b'x']));
    for _ in 0..100_000 {
        empty.extend(frame(0, 0, 1, &[]));
    }
    assert!(ends_under(&gateway, &empty));
    gateway.reaches(FLOOD, 3);
}

/// The code of the GOAWAY that ends a connection which sends all of this and reads meanwhile; none if it was lost with a reset.
fn ended_with(gateway: &Gateway, flood: Vec<u8>) -> Option<u32> {
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let mut writing = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // It may be over before all of it is written; otherwise the gateway waits for more, and so does the reader.
            let _written = writing.write_all(&flood);
        });
        let mut told = None;
        while let Some(frame) = floods::read(&mut stream) {
            if frame.kind == 7 {
                told = Some(u32::from_be_bytes(frame.payload[4..8].try_into().unwrap()));
            }
        }
        told
    })
}

#[test]
fn who_only_sends_frames_that_carry_nothing_is_told_to_calm_down() {
    const CALM: u32 = 11;
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").address);
    let priority = frame(2, 0, 1, &[0, 0, 0, 0, 16]);
    let idle = frame(2, 0, 9, &[0, 0, 0, 0, 16]);
    let window = frame(8, 0, 0, &[0, 0, 0, 1]);
    let unknown = frame(200, 0xff, 3, b"whatever");
    let hint = frame(16, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1']);
    let ping = frame(6, 0, 0, &[0; 8]);
    let pong = frame(6, 1, 0, &[7; 8]);
    let settings = frame(4, 0, 0, &[]);
    let reset = frame(3, 0, 1, &[0, 0, 0, 8]);
    let mixed = [priority.clone(), window.clone(), ping.clone()].concat();
    let answered = [&floods::get(1)[..], &window].concat();
    let kinds = [
        ("priority", vec![], priority),
        ("priority of an idle stream", vec![], idle),
        ("window", vec![], window),
        ("unknown", vec![], unknown),
        ("hint", vec![], hint),
        ("ping", vec![], ping),
        ("pong", vec![], pong),
        ("settings", vec![], settings),
        ("resets of one stream", floods::get(1), reset),
        ("mixed", answered, mixed),
    ];
    for (number, (kind, first, frame)) in kinds.into_iter().enumerate() {
        let mut flood = opening();
        flood.extend(first);
        (0..5_000).for_each(|_| flood.extend(&frame));
        let told = ended_with(&gateway, flood);
        assert!(matches!(told, Some(CALM) | None), "{kind}: {told:?}");
        gateway.reaches(FLOOD, number as u64 + 1);
        assert_eq!(gateway.connect().get("/").status(), 200, "{kind}");
    }
}

#[test]
fn what_requests_and_answers_bring_with_them_is_no_flood() {
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx").address);
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(&opening()).unwrap();
    for number in (1..2_000).step_by(2) {
        let mut sent = floods::get(number);
        sent.extend(frame(16, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1']));
        sent.extend(frame(2, 0, number, &[0, 0, 0, 0, 16]));
        sent.extend(frame(6, 0, 0, &[0; 8]));
        sent.extend(frame(8, 0, 0, &[0, 0, 0, 1]));
        stream.write_all(&sent).unwrap();
        loop {
            let frame = floods::read(&mut stream).expect("the connection goes on");
            if frame.kind == 0 && frame.stream == number {
                break;
            }
        }
    }
    assert_eq!(gateway.metric(FLOOD), 0);
}

#[test]
fn a_gateway_that_stops_lets_streams_end() {
    let gateway = before_http2(echo_over_http2());
    let ended = in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        client.sender = client.sender.ready().await.unwrap();
        let (response, mut sending) = client.sender.send_request(post("/"), false).unwrap();
        sending
            .send_data(Bytes::from_static(b"first"), false)
            .unwrap();
        let response = response.await.unwrap();
        gateway.tell_to_stop();
        sending
            .send_data(Bytes::from_static(b" last"), true)
            .unwrap();
        let got = whole(response).await.unwrap();
        assert_eq!(got.body, "first last");
        drop(client.sender);
        client.driver.join_next().await.unwrap().unwrap()
    });
    assert!(ended.is_ok(), "{ended:?}");
    gateway.join();
}

/// An upstream that begins every answer and ends none, but those to `/whole` when it is told to.
pub fn beginning(end: mpsc::Receiver<()>) -> Upstream {
    let end = Arc::new(Mutex::new(end));
    Upstream::start(move |mut peer, _| {
        let request = peer.request().unwrap();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
        if request.head.starts_with("GET /whole") {
            end.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            peer.send("xxxxxxxx");
        }
        assert!(peer.request().is_none(), "until the gateway goes");
    })
}

#[test]
fn streams_that_a_drain_cuts_off_are_accounted_for() {
    let directory = tempfile::tempdir().unwrap();
    let [counters, records] = ["counters", "records"].map(|name| directory.path().join(name));
    let (end, ends) = mpsc::channel();
    let upstream = beginning(ends);
    let rest = format!("http2: {{}}\nanalytics: {{ file: {records:?} }}\n");
    let gateway = Gateway::counting(upstream.address, 1, &counters, &rest);
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let mut begin = async |path| client.begin(get(path), "", HeaderMap::new()).await;
        let served = begin("/whole").await.unwrap();
        // More than a runtime looks after at a time.
        let mut cut = Vec::new();
        for _ in 0..100 {
            cut.push(begin("/cut").await.unwrap());
        }
        gateway.tell_to_stop();
        end.send(()).unwrap();
        assert_eq!(whole(served).await.unwrap().body, "xxxxxxxxx");
        for cut in cut {
            assert!(whole(cut).await.is_err());
        }
    });
    let told = gateway.join().join("\n");
    assert!(told.contains("1 connections were cut off"), "{told}");
    let totals = totals(&counters);
    assert_eq!(totals.get(Counter::Received), 101);
    assert_eq!(totals.get(Counter::Served), 1);
    assert_eq!(totals.own_times().count(), 1);
    let records = std::fs::read_to_string(records).unwrap();
    assert_eq!(records.lines().count(), 101, "{records}");
    let drained = "\"aborted\":true,\"ended\":\"drained\"";
    assert_eq!(records.matches(drained).count(), 100, "{records}");
}

#[test]
fn who_speaks_it_goes_too_when_a_certificate_is_required() {
    let realm = Realm::new();
    let (_end, ends) = mpsc::channel();
    let rest = format!("{}http2: {{}}\n", to(beginning(ends).address));
    let gateway = Gateway::with_files(2, configuration(&rest), &realm.files);
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        let cut = client.begin(get("/"), "", HeaderMap::new()).await.unwrap();
        gateway.becomes(Realm::text("clients: required, ca: ca.pem", &rest));
        assert!(whole(cut).await.is_err());
        assert!(client.ask(get("/"), "").await.is_err());
    });
    gateway.reaches("client_connections_ended_total{reason=\"distrusted\"}", 1);
    gateway.reaches("aborted_total{route=\"/\"}", 1);
}

#[test]
fn a_connection_keeps_no_upstream_that_a_reload_took_away() {
    let (ended, ends) = mpsc::channel();
    let old = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
        ended.send(()).unwrap();
    });
    let gateway = before(old.address);
    in_runtime(async {
        let mut client = Client::connect(&gateway).await;
        assert_eq!(client.ask(get("/"), "").await.unwrap().status, 200);
        let rest = format!("{}http2: {{}}\n", to(Upstream::echo().address));
        gateway.becomes(configuration(&rest));
        ends.recv_timeout(PATIENCE).unwrap();
        assert_eq!(client.ask(get("/"), "").await.unwrap().status, 200);
    });
}
