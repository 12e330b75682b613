//! HTTP/2 at both sides: what crosses in which form, what is refused on the way, and what a client cannot make the gateway hold.

mod flooding;
mod peers;
mod smuggling;

pub use peers::{Client, echo_over, echo_over_http2, get, in_runtime, post, whole};

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

/// A gateway before an upstream of HTTP/2.
fn before_http2(upstream: SocketAddr) -> Gateway {
    let text = to(upstream).replace("\"] }", "\"], http2: true }");
    Gateway::start(&format!("{text}http2: {{ streams: 8 }}\n"))
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
        // Nor is a call that its client cancels waited for.
        let (gateway, ended) = before_lingering("");
        let mut client = Client::connect(&gateway).await;
        let begun = client.begin(get("/begun"), "", HeaderMap::new()).await;
        drop(begun.unwrap());
        let ended = tokio::task::spawn_blocking(ended).await.unwrap();
        assert_eq!(ended, Some(Reason::CANCEL));
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

/// A route to [`beginning`], at a gateway that does not wait for it when it stops.
pub fn to_beginning(end: mpsc::Receiver<()>) -> String {
    let to = to(beginning(end).address);
    format!("{to}timeouts: {{ drain: 300ms }}\n")
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
    let rest = format!("{}http2: {{}}\n", to_beginning(ends));
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
