//! Large bodies in both directions: whole, in bounded memory, and never ended as if they were whole when they are not.

use crate::secured::Realm;
use crate::support::{Client, Gateway, PATIENCE, Upstream, to};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const MEBIBYTE: usize = 1024 * 1024;

#[test]
fn large_bodies_cross_at_the_same_time() {
    // Answers while the request is still coming: what arrives is sent back at once.
    let upstream = Upstream::start(|mut peer, _| {
        peer.read_head().unwrap();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n");
        let mut left = 8 * MEBIBYTE;
        let mut piece = vec![0; 65536];
        while left > 0 {
            let count = peer.stream.read(&mut piece).unwrap();
            peer.stream.write_all(&piece[..count]).unwrap();
            left -= count;
        }
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n");
    let mut sender = client.stream.try_clone().unwrap();
    let body: Vec<u8> = (0..8 * MEBIBYTE)
        .map(|i| u8::try_from(i / 7 % 251).unwrap())
        .collect();
    let sent = body.clone();
    let sending = std::thread::spawn(move || sender.write_all(&sent).unwrap());
    let response = client.response(false);
    sending.join().unwrap();
    assert!(response.body == body);
}

/// A body that is recorded has to be read; the bytes of one that is not are counted all the same. Connections go on behind either.
#[test]
fn a_body_that_nobody_looks_at_is_counted_and_one_that_is_recorded_is_read() {
    let body: String = (0..700_000)
        .map(|i| char::from(b'a' + u8::try_from(i / 7 % 25).unwrap()))
        .collect();
    let answer = body.clone();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    let upstream = Upstream::start(move |mut peer, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        while let Some(request) = peer.request() {
            assert!(request.body == answer.as_bytes());
            peer.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}",
                answer.len()
            ));
        }
    });
    for form in ["", ", form: tyk, detailed: { body: 1MiB }"] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("analytics.jsonl");
        let more = format!("analytics: {{ file: {file:?}{form} }}\n");
        let gateway = Gateway::before(upstream.address, &more);
        let mut client = gateway.connect();
        for _ in 0..2 {
            let response = client.ask(&format!(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
            assert!(response.body == body.as_bytes());
        }
        assert_eq!(connections.swap(0, Ordering::SeqCst), 1);
        gateway.tell_to_stop();
        gateway.join();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if form.is_empty() {
                assert_eq!(record["bytes_in"], body.len());
                assert_eq!(record["bytes_out"], body.len());
                continue;
            }
            for name in ["raw_request", "raw_response"] {
                let raw = BASE64_STANDARD.decode(record[name].as_str().unwrap());
                assert!(raw.unwrap().ends_with(body.as_bytes()), "{name}");
            }
        }
    }
}

/// Has `connect` make a client of a gateway before this upstream, which asks for a large body and does not read it for a while.
fn read_late<S: Read + Write>(connect: impl FnOnce(SocketAddr) -> (Gateway, Client<S>)) {
    const BODY: usize = 256 * MEBIBYTE;
    let accepted = Arc::new(AtomicUsize::new(0));
    let (blocked, is_blocked) = mpsc::channel();
    let counter = Arc::clone(&accepted);
    let upstream = Upstream::start(move |mut peer, _| {
        peer.read_head().unwrap();
        peer.send(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n\r\n"
        ));
        // A write that is not taken within this time means that everything in between is full.
        let stall = Duration::from_millis(500);
        peer.stream.set_write_timeout(Some(stall)).unwrap();
        let piece = vec![b'x'; 65536];
        while counter.load(Ordering::SeqCst) < BODY {
            match peer
                .stream
                .write(&piece[..piece.len().min(BODY - counter.load(Ordering::SeqCst))])
            {
                Ok(count) => _ = counter.fetch_add(count, Ordering::SeqCst),
                Err(_) => _ = blocked.send(()),
            }
        }
    });
    let (_gateway, mut client) = connect(upstream.address);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_blocked.recv_timeout(PATIENCE).unwrap();
    // Only the sockets' own buffers and two of the gateway's lie in between.
    let taken = accepted.load(Ordering::SeqCst);
    assert!(taken < 32 * MEBIBYTE, "{taken}");
    client.read_head().unwrap();
    let mut received = client.unread();
    let mut piece = vec![0; 65536];
    while received < BODY {
        received += client.stream.read(&mut piece).unwrap();
    }
    assert_eq!((received, accepted.load(Ordering::SeqCst)), (BODY, BODY));
}

#[test]
fn a_client_that_does_not_read_stops_the_upstream() {
    read_late(|upstream| {
        let gateway = Gateway::before(upstream, "");
        let client = gateway.connect();
        (gateway, client)
    });
}

#[test]
fn so_does_one_over_tls() {
    let realm = Realm::new();
    read_late(|upstream| {
        let gateway = realm.gateway("clients: none", &to(upstream));
        let client = realm.caller(None).connect(gateway.address("main"));
        (gateway, client)
    });
}

#[test]
fn an_upstream_that_does_not_read_stops_the_client() {
    const BODY: usize = 256 * MEBIBYTE;
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = Arc::new(Mutex::new(may_go_on));
    let upstream = Upstream::start(move |mut peer, _| {
        peer.read_head().unwrap();
        may_go_on.lock().unwrap().recv().unwrap();
        let mut left = BODY - peer.unread();
        let mut piece = vec![0; 65536];
        while left > 0 {
            left -= peer.stream.read(&mut piece).unwrap();
        }
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    client.send(&format!(
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY}\r\n\r\n"
    ));
    client
        .stream
        .set_write_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let piece = vec![b'x'; 65536];
    let mut sent = 0;
    let mut stalled_at = None;
    while sent < BODY {
        match client.stream.write(&piece[..piece.len().min(BODY - sent)]) {
            Ok(count) => sent += count,
            Err(_) => {
                // Everything in between is full.
                if stalled_at.replace(sent).is_none() {
                    go_on.send(()).unwrap();
                }
            }
        }
    }
    assert!(
        stalled_at.is_some_and(|bytes| bytes < 32 * MEBIBYTE),
        "{stalled_at:?}"
    );
    assert_eq!(client.response(false).status(), 200);
}

#[test]
fn a_truncated_response_is_never_ended_cleanly() {
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let upstream = Upstream::start(move |mut peer, _| {
            peer.request().unwrap();
            peer.send(response);
        });
        let gateway = Gateway::before(upstream.address, "");
        for version in ["1.1", "1.0"] {
            let mut client = gateway.connect();
            client.send(&format!("GET / HTTP/{version}\r\nHost: a\r\n\r\n"));
            assert!(client.is_reset(), "{response:?} to HTTP/{version}");
        }
        assert_eq!(gateway.metric("aborted_total{route=\"/\"}"), 2);
    }
}

#[test]
fn a_client_that_leaves_takes_its_upstream_connection_along() {
    let (gone, is_gone) = mpsc::channel();
    let (begun, has_begun) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        peer.read_head().unwrap();
        begun.send(()).unwrap();
        let ended = peer.request().is_none();
        gone.send(ended).unwrap();
    });
    let gateway = Gateway::before(upstream.address, "");
    let mut client = gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegin");
    has_begun.recv_timeout(PATIENCE).unwrap();
    drop(client);
    assert!(is_gone.recv_timeout(PATIENCE).unwrap());
}

#[test]
fn a_malformed_request_body_is_the_clients_fault() {
    let upstream = Upstream::echo();
    let gateway = Gateway::before(upstream.address, "limits: { body: 10 }\n");
    let check = |body: &str, expected: u16| {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut client = gateway.connect();
        assert_eq!(
            client.ask(&format!("{head}{body}")).status(),
            expected,
            "{body:?}"
        );
        assert!(client.ends_cleanly(), "{body:?}");
    };
    check("zz\r\n", 400);
    check("3\r\nabcd\r\n0\r\n\r\n", 400);
    check("b\r\n01234567890\r\n0\r\n\r\n", 413);
}
