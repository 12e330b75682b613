//! Upstreams that close their connections when they like: what is safe to repeat does not notice, and nothing else is done twice.

use crate::support::{Gateway, Upstream};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How often each request was answered, by its path.
type Executions = Arc<Mutex<HashMap<String, usize>>>;

/// An upstream whose connections end at random: a tenth of them behind an answer, a tenth when the next request has come, unanswered.
fn moody() -> (Upstream, Executions) {
    let executions = Executions::default();
    let log = Arc::clone(&executions);
    let upstream = Upstream::start(move |mut peer, number| {
        let mut random = u64::try_from(number)
            .unwrap()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            | 1;
        let mut served = 0;
        while let Some(request) = peer.request() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mood = random % 10;
            let first = request.head.lines().next().unwrap();
            let path = first.split(' ').nth(1).unwrap().to_owned();
            // The first request of a connection is always answered: it came on a fresh one.
            if mood == 0 && served > 0 {
                return;
            }
            *log.lock().unwrap().entry(path).or_default() += 1;
            served += 1;
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
            if mood == 1 {
                return;
            }
        }
    });
    (upstream, executions)
}

#[test]
fn safe_requests_do_not_notice_and_others_are_never_done_twice() {
    let (upstream, executions) = moody();
    let gateway = Gateway::with_shards(2, &crate::support::to(upstream.address));
    let refused: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let gateway = &gateway;
                scope.spawn(move || {
                    let mut connection = gateway.connect();
                    let mut refused = 0;
                    for number in 0..1000 {
                        let get = connection.get(&format!("/get/{client}/{number}"));
                        assert_eq!(get.status(), 200);
                        if number % 4 == 0 {
                            let post = connection.ask(&format!(
                                "POST /post/{client}/{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
                            ));
                            refused += usize::from(post.status() == 502);
                            if post.field("connection") == Some("close") {
                                connection = gateway.connect();
                            }
                        }
                    }
                    refused
                })
            })
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum()
    });
    let executions = executions.lock().unwrap();
    let posts = executions
        .iter()
        .filter(|(path, _)| path.starts_with("/post/"));
    let (done, twice): (Vec<_>, Vec<_>) = posts.partition(|(_, times)| **times == 1);
    assert_eq!(twice, []);
    // Each was done, or refused because it may have been.
    assert_eq!(done.len() + refused, 1000);
    let retries = gateway.metric("retries_total{upstream=\"up\"}");
    assert!(retries > 50, "{retries}");
    assert_eq!(gateway.metric("retries_refused_total{upstream=\"up\"}"), 0);
}

#[test]
fn without_a_budget_a_stale_connection_is_an_error() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        peer.request();
    });
    let text = crate::support::to(upstream.address)
        .replace("\"] }", "\"], retry: { percent: 0, per_second: 0 } }");
    let gateway = Gateway::start(&text);
    let mut client = gateway.connect();
    assert_eq!(client.get("/").status(), 200);
    assert_eq!(
        client.get("/").refusal(),
        "502 the upstream closed the connection"
    );
    assert_eq!(gateway.metric("retries_refused_total{upstream=\"up\"}"), 1);
}
