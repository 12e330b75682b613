//! Stopping: no new connections, idle ones closed, exchanges under way finished or, after the grace, cut off.

use crate::support::{Client, Gateway, PATIENCE, Upstream, to};
use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, mpsc};

/// An upstream that announces each request and answers it when told.
fn on_command() -> (Upstream, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asked.send(()).unwrap();
            if may_answer.lock().unwrap().recv().is_err() {
                return;
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        }
    });
    (upstream, is_asked, answer)
}

#[test]
fn exchanges_under_way_finish_and_idle_connections_close() {
    let (upstream, is_asked, answer) = on_command();
    let gateway = Gateway::alone_before(upstream.address, "");
    answer.send(()).unwrap();
    let mut idle = gateway.connect();
    assert_eq!(idle.get("/").status(), 200);
    is_asked.recv_timeout(PATIENCE).unwrap();
    let mut never_used = gateway.connect();
    let mut busy = gateway.connect();
    busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    let address = gateway.address("main");
    let mut admin = gateway.admin();
    assert_eq!(admin.get_from("localhost", "/healthz").status(), 200);
    gateway.tell_to_stop();
    assert!(idle.ends_cleanly());
    assert!(never_used.ends_cleanly());
    assert_eq!(admin.get_from("localhost", "/healthz").status(), 503);
    answer.send(()).unwrap();
    let response = busy.response(false);
    assert_eq!(
        (response.status(), response.field("connection")),
        (200, Some("close"))
    );
    assert!(busy.ends_cleanly());
    gateway.join();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn it_says_that_it_will_leave_before_it_does() {
    let upstream = Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
    let gateway = Gateway::alone_before(upstream.address, "timeouts: { shutdown_delay: 1s }\n");
    let mut admin = gateway.admin();
    assert_eq!(admin.get_from("localhost", "/ready").status(), 200);
    let address = gateway.address("main");
    gateway.tell_to_stop();
    assert_eq!(admin.get_from("localhost", "/ready").status(), 503);
    let still = gateway.connect().get("/");
    assert_eq!((still.status(), still.field("connection")), (200, None));
    gateway.join();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn after_the_grace_the_rest_is_cut_off() {
    let (upstream, is_asked, _answer) = on_command();
    let gateway = Gateway::before(upstream.address, "timeouts: { drain: 50ms }\n");
    let mut busy: Client = gateway.connect();
    busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    gateway.tell_to_stop();
    gateway.join();
    assert!(busy.try_response(false).is_none());
}

#[test]
fn new_connections_are_refused_while_a_request_is_under_way() {
    let (upstream, is_asked, answer) = on_command();
    let gateway = Gateway::with_shards(2, &to(upstream.address));
    let address = gateway.address("main");
    let mut busy = gateway.connect();
    busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    gateway.tell_to_stop();
    let refusal = loop {
        match TcpStream::connect(address) {
            Err(error) => break error.kind(),
            // A shard has not heard yet; then this connection ends as soon as it does.
            Ok(early) => match Client::new(early).stream.read(&mut [0; 1]) {
                Ok(count) => assert_eq!(count, 0),
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
            },
        }
    };
    assert_eq!(refusal, ErrorKind::ConnectionRefused);
    answer.send(()).unwrap();
    assert_eq!(busy.response(false).status(), 200);
    gateway.join();
}
