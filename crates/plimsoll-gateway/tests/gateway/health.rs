//! Endpoints that fail, and those that fail their checks: when they are left alone, and when they are back.

use crate::support::{Gateway, Upstream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";

/// An upstream that counts its requests and does not answer them.
fn failing() -> (Upstream, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let upstream = Upstream::start(move |mut peer, _| {
        if peer.request().is_some() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (upstream, requests)
}

fn before(endpoints: &[&Upstream], rest: &str, shards: usize) -> Gateway {
    let endpoints = endpoints
        .iter()
        .map(|up| format!("\"http://{}\"", up.address));
    let endpoints = endpoints.collect::<Vec<_>>().join(", ");
    let text = format!(
        "upstreams: {{ up: {{ endpoints: [{endpoints}], {rest} }} }}\nroutes: [{{ path: /, upstream: up }}]\n"
    );
    Gateway::with_shards(shards, &text)
}

fn statuses(gateway: &Gateway, count: usize) -> Vec<u16> {
    (0..count)
        .map(|_| gateway.connect().get("/").status())
        .collect()
}

fn failures(statuses: &[u16]) -> usize {
    statuses.iter().filter(|status| **status != 200).count()
}

#[test]
fn who_fails_again_and_again_is_left_alone_by_every_shard() {
    let (bad, asked) = failing();
    let good = Upstream::answering(OK);
    let gateway = before(&[&bad, &good], "eject: { after: 3, for: 1h }", 2);
    let seen = statuses(&gateway, 40);
    assert_eq!(
        (failures(&seen), asked.load(Ordering::SeqCst)),
        (3, 3),
        "{seen:?}"
    );
    gateway.reaches("upstream_ejections_total{upstream=\"up\"}", 1);
    gateway.reaches("upstream_endpoints_ejected{upstream=\"up\"}", 1);
}

#[test]
fn the_last_endpoints_are_never_ejected() {
    let (bad, asked) = failing();
    let gateway = before(
        &[&bad],
        "eject: { after: 1, for: 1h, at_most_percent: 99 }",
        1,
    );
    assert_eq!(statuses(&gateway, 5), [502; 5]);
    assert_eq!(asked.load(Ordering::SeqCst), 5);
    let (other, also_asked) = failing();
    let gateway = before(&[&bad, &other], "eject: { after: 1, for: 1h }", 1);
    assert_eq!(statuses(&gateway, 10), [502; 10]);
    let [one, two] = [&asked, &also_asked].map(|count| count.load(Ordering::SeqCst));
    assert_eq!((one, two), (6, 9));
}

#[test]
fn an_endpoint_is_back_after_its_time() {
    let (bad, asked) = failing();
    let good = Upstream::answering(OK);
    let gateway = before(&[&bad, &good], "eject: { after: 1, for: 300ms }", 1);
    assert_eq!(failures(&statuses(&gateway, 6)), 1);
    while asked.load(Ordering::SeqCst) < 2 {
        gateway.connect().get("/");
    }
    gateway.reaches("upstream_ejections_total{upstream=\"up\"}", 2);
}

#[test]
fn statuses_count_where_they_are_named() {
    let ill = Upstream::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    let good = Upstream::answering(OK);
    let named = before(
        &[&ill, &good],
        "eject: { after: 2, for: 1h, statuses: [503] }",
        1,
    );
    assert_eq!(failures(&statuses(&named, 20)), 2);
    let not_named = before(&[&ill, &good], "eject: { after: 2, for: 1h }", 1);
    assert_eq!(failures(&statuses(&not_named, 20)), 10);
}

#[test]
fn endpoints_that_fail_their_checks_get_nothing_until_they_pass() {
    let well = Arc::new(AtomicBool::new(true));
    let is_well = Arc::clone(&well);
    let upstream = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let checked = request.head.starts_with("GET /healthz?deep HTTP/1.1\r\n");
            match checked && !is_well.load(Ordering::SeqCst) {
                true => {
                    peer.send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
                }
                false => peer.send(OK),
            }
        }
    });
    let check = "check: { path: \"/healthz?deep\", every: 10ms, down_after: 2, up_after: 1 }";
    let gateway = before(&[&upstream], check, 2);
    assert_eq!(gateway.connect().get("/").status(), 200);
    let down = "upstream_endpoints_down{upstream=\"up\"}";
    well.store(false, Ordering::SeqCst);
    gateway.reaches(down, 1);
    assert_eq!(
        gateway.connect().get("/").refusal(),
        "503 no endpoint is available"
    );
    well.store(true, Ordering::SeqCst);
    gateway.reaches(down, 0);
    assert_eq!(gateway.connect().get("/").status(), 200);
    assert!(gateway.metric("upstream_failed_checks_total{upstream=\"up\"}") >= 2);
}
