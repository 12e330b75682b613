//! How the time of a request splits up, where that is asked for: in responses, records and metrics.

use crate::support::{Gateway, Message, PATIENCE, Upstream};
use serde_json::Value;
use std::sync::{Arc, Mutex, mpsc};
use tokio::time::Instant;

const ALL: &str =
    "timings: { header: true, records: true, metrics: true }\nanalytics: { stdout: true }\n";

/// A route that demands a key, before an upstream.
fn keyed(upstream: &Upstream, rest: &str) -> Gateway {
    Gateway::start(&format!(
        "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}\nroutes:\n  - path: /\n    upstream: up\n    policies:\n      \
         key: {{ keys: [{{ name: a, key: k }}] }}\n      rate_limit: {{ rate: 1/min, burst: 3, per: key }}\n{rest}",
        upstream.address
    ))
}

const ASK: &str = "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: k\r\nContent-Length: 2\r\n\r\nhi";

/// The parts of a `Server-Timing`, in microseconds: the whole, and the sum of its phases.
fn parts(response: &Message) -> (u64, u64) {
    let micros = |part: &str| -> u64 {
        let (_, duration) = part.split_once(";dur=").unwrap();
        duration.replace('.', "").parse().unwrap()
    };
    let mut parts = response
        .field("server-timing")
        .unwrap()
        .split(", ")
        .map(micros);
    (parts.next().unwrap(), parts.sum())
}

/// The records that a gateway that has ended has printed.
fn records(printed: &Mutex<Vec<u8>>) -> Vec<Value> {
    let text = String::from_utf8(printed.lock().unwrap().clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_phases_of_every_request_add_up_to_what_it_took() {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<Instant>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    let (held, was_held) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asked.send(()).unwrap();
            let since = may_answer.lock().unwrap().recv().unwrap();
            held.send(since.elapsed()).unwrap();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let gateway = keyed(&upstream, ALL);
    let connecting = Instant::now();
    let mut client = gateway.connect();
    let mut outside = Vec::new();
    for number in 0..2 {
        let since = if number == 0 {
            connecting
        } else {
            Instant::now()
        };
        client.send(ASK);
        is_asked.recv_timeout(PATIENCE).unwrap();
        // Its one thread answers this, so the exchange waits for the upstream by now, however long the system kept the thread from it.
        let waiting = || gateway.metric("phase_seconds_count{phase=\"first_byte\"}");
        assert_eq!(waiting(), number);
        let held_since = Instant::now();
        assert_eq!(waiting(), number);
        answer.send(held_since).unwrap();
        let response = client.response(false);
        // An exchange is over a moment after its client has its answer.
        gateway.reaches("phase_seconds_count{phase=\"first_byte\"}", number + 1);
        outside.push((since.elapsed(), was_held.recv_timeout(PATIENCE).unwrap()));
        let (total, sum) = parts(&response);
        assert_eq!(total, sum, "{}", response.head);
    }
    let printed = gateway.printed();
    gateway.tell_to_stop();
    gateway.join();
    let records = records(&printed);
    assert_eq!(records.len(), 2);
    for (record, (outside, held)) in records.iter().zip(outside) {
        let phases = record["phases_us"].as_object().unwrap();
        let micros = |name: &str| phases[name].as_u64().unwrap();
        let names = phases.keys().filter(|name| *name != "total");
        let sum: u64 = names.map(|name| micros(name)).sum();
        assert_eq!(sum, micros("total"), "{record}");
        assert!(
            u128::from(sum) <= outside.as_micros(),
            "{record}, outside {outside:?}"
        );
        assert!(
            u128::from(micros("first_byte")) + 1 >= held.as_micros(),
            "{record}, held {held:?}"
        );
        assert!(
            micros("total") >= record["total_us"].as_u64().unwrap(),
            "{record}"
        );
    }
    let of =
        |name: &str| [0, 1].map(|index: usize| records[index]["phases_us"][name].as_u64().unwrap());
    // The second request came over a connection that was there, as was the one behind it.
    assert_eq!((of("accept")[1], of("connect")[1]), (0, 0));
    assert!(of("connect")[0] > 0, "{records:?}");
    assert!(of("head").iter().sum::<u64>() > 0, "{records:?}");
}

#[test]
fn answers_of_the_gateway_say_what_they_took_too() {
    let gateway = keyed(&Upstream::echo(), ALL);
    let refused = gateway.connect().get("/");
    assert_eq!(refused.status(), 401);
    let (total, sum) = parts(&refused);
    assert_eq!(total, sum);
}

#[test]
fn who_does_not_ask_is_told_nothing() {
    let gateway = keyed(&Upstream::echo(), "analytics: { stdout: true }\n");
    let response = gateway.connect().ask(ASK);
    assert_eq!(
        (response.status(), response.field("server-timing")),
        (200, None)
    );
    let page = gateway
        .admin()
        .get_from("localhost", "/metrics")
        .body_text();
    assert!(!page.contains("phase_seconds"));
    let printed = gateway.printed();
    gateway.tell_to_stop();
    gateway.join();
    let records = records(&printed);
    assert_eq!((records.len(), records[0].get("phases_us")), (1, None));
}
