//! The counters that outlive the process.

use crate::support::{Gateway, Upstream};
use plimsoll_base::counters::{Counter, Totals};
use std::path::Path;

/// An upstream that answers, but to `/cut` with half an answer.
fn upstream() -> Upstream {
    Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            if request.head.starts_with("GET /cut") {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
                return;
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        }
    })
}

/// Counters in such a file.
pub fn totals(file: &Path) -> Totals {
    Totals::read(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn whole_answers_are_served_and_timed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("counters");
    let upstream = upstream();
    let gateway = Gateway::counting(upstream.address, 2, &file, "");
    for _ in 0..6 {
        let mut client = gateway.connect();
        assert_eq!(client.get("/a").status(), 200);
        assert_eq!(client.get("/../a").status(), 400, "its own answer");
    }
    assert_eq!(
        gateway.connect().ask("nonsense\r\n\r\n").status(),
        400,
        "no request"
    );
    let mut cut_off = gateway.connect();
    cut_off.send("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(cut_off.try_response(false).is_none());
    gateway.tell_to_stop();
    gateway.join();
    let totals = totals(&file);
    let count = |counter| totals.get(counter);
    assert_eq!(count(Counter::Received), 14);
    assert_eq!(count(Counter::Served), 13, "but the one that was cut off");
    assert_eq!(count(Counter::Malformed), 1);
    assert_eq!(count(Counter::Accepted), 8);
    assert_eq!(totals.own_times().count(), 12, "of those with a head");
}

#[test]
fn what_a_drain_cuts_off_is_not_served() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("counters");
    let upstream = Upstream::start(|mut peer, _| {
        peer.request().unwrap();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
        assert!(peer.request().is_none(), "until the gateway goes");
    });
    let gateway = Gateway::counting(upstream.address, 1, &file, "");
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.read_head().unwrap().starts_with("HTTP/1.1 200 OK"));
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("1 connections were cut off"), "{told}");
    let totals = totals(&file);
    assert_eq!(totals.get(Counter::Received), 1);
    assert_eq!(totals.get(Counter::Served), 0);
    assert_eq!(totals.own_times().count(), 0);
}
