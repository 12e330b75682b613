//! Reloading: what holds from the acknowledgement on, what an invalid configuration changes (nothing), and what is taken over.

use crate::support::{Client, Gateway, PATIENCE, Upstream, configuration, to};
use plimsoll_testbed::port;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

/// Answers every request with this name.
fn named(name: &'static str) -> SocketAddr {
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            let length = name.len();
            peer.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{name}"
            ));
        }
    });
    upstream.address
}

#[test]
fn after_the_acknowledgement_every_connection_goes_by_the_new_routes() {
    let (a, b) = (named("a"), named("b"));
    let gateway = Gateway::with_shards(2, &to(a));
    let mut kept: Vec<Client> = (0..4).map(|_| gateway.connect()).collect();
    for (upstream, name) in [(a, "a"), (b, "b"), (a, "a")] {
        gateway.becomes(configuration(&to(upstream)));
        for client in &mut kept {
            assert_eq!(client.get("/").body_text(), name);
        }
        assert_eq!(gateway.connect().get("/").body_text(), name);
    }
    assert_eq!(gateway.metric("generation"), 4);
}

#[test]
fn an_invalid_configuration_is_refused_with_its_place_and_changes_nothing() {
    let gateway = Gateway::before(named("a"), "");
    let mut client = gateway.connect();
    for (text, expected) in [
        (
            configuration(
                "upstreams: { up: { endpoints: [] } }\nroutes: [{ path: /, upstream: up }]\n",
            ),
            "422 gateway.yaml:4:20: upstreams.up.endpoints: at least one endpoint is needed",
        ),
        (
            "version: [".to_owned(),
            "422 gateway.yaml:2:1: not valid YAML",
        ),
    ] {
        gateway.rewrite(text);
        let refusal = gateway.reload().refusal();
        assert!(refusal.starts_with(expected), "{refusal}");
        assert_eq!(client.get("/").body_text(), "a");
    }
    assert_eq!(gateway.metric("generation"), 1);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        told.contains("the old one stays:\ngateway.yaml:4:20"),
        "{told}"
    );
}

#[test]
fn what_is_set_up_once_cannot_change() {
    let gateway = Gateway::before(named("a"), "");
    let moved = configuration(&to(named("a"))).replace(
        "admin: { address: \":0\" }",
        "admin: { address: \":9\" }\nanalytics: { file: x.jsonl }",
    );
    gateway.rewrite(moved);
    let refusal = gateway.reload().refusal();
    insta::assert_snapshot!(refusal.replace("\\n", "\n"), @r"
    422 gateway.yaml:3:19: admin.address: this cannot change while the gateway runs: restart it, or leave it as it was
    gateway.yaml:4:1: analytics: this cannot change while the gateway runs: restart it, or leave it as it was
    ");
}

#[test]
fn an_exchange_ends_by_the_configuration_that_it_began_with() {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    let slow = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asked.send(()).unwrap();
            may_answer.lock().unwrap().recv().unwrap();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold");
        }
    });
    let gateway = Gateway::before(slow.address, "");
    let mut busy = gateway.connect();
    busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    gateway.becomes(configuration(&to(named("new"))));
    assert_eq!(gateway.connect().get("/").body_text(), "new");
    answer.send(()).unwrap();
    assert_eq!(busy.response(false).body_text(), "old");
    assert_eq!(busy.get("/").body_text(), "new");
}

#[test]
fn a_signal_reloads_too() {
    let gateway = Gateway::before(named("a"), "");
    gateway.rewrite(configuration(&to(named("b"))));
    gateway.hang_up();
    gateway.reaches("generation", 2);
    assert_eq!(gateway.connect().get("/").body_text(), "b");
}

#[test]
fn listeners_open_and_close() {
    let upstream = named("a");
    let with = |more: &str| {
        configuration(&to(upstream)).replace("\":0\" } }", &format!("\":0\" }}{more} }}"))
    };
    let gateway = Gateway::of(2, with(""));
    let own = port::own_host();
    gateway.rewrite(with(&format!(", also: {{ address: \"{own}:0\" }}")));
    let opened = gateway.reload().body_text();
    let address = opened.split('"').nth(7).unwrap();
    let address: SocketAddr = address.parse().unwrap();
    let mut also = Client::connect(address);
    assert_eq!(also.get("/").body_text(), "a");
    gateway.becomes(with(""));
    assert_eq!(also.get("/").body_text(), "a");
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(gateway.connect().get("/").body_text(), "a");
    let taken = gateway.address("admin");
    gateway.rewrite(with(&format!(", also: {{ address: \"{taken}\" }}")));
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.starts_with("422 listener `also` cannot listen on"),
        "{refusal}"
    );
}

#[test]
fn budgets_connections_and_counters_are_taken_over() {
    let limited = |upstream: SocketAddr, routes: &str| {
        configuration(&format!(
            "upstreams: {{ up: {{ endpoints: [\"http://{upstream}\"] }} }}\nroutes:\n  - path: /\n    upstream: up\n    policies: {{ rate_limit: {{ rate: 1/h, burst: 3, per: route }} }}\n{routes}"
        ))
    };
    let upstream = named("a");
    let gateway = Gateway::of(1, limited(upstream, ""));
    let mut client = gateway.connect();
    let mut statuses = vec![client.get("/").status(), client.get("/").status()];
    gateway.becomes(limited(
        upstream,
        "  - { path: /more, upstream: up, allow_weaker_auth: true }\n",
    ));
    statuses.extend([client.get("/").status(), client.get("/").status()]);
    assert_eq!(statuses, [200, 200, 200, 429]);
    let sample = |class: &str| format!("requests_total{{route=\"/\",class=\"{class}\"}}");
    assert_eq!(gateway.metric(&sample("2xx")), 3);
    assert_eq!(gateway.metric(&sample("4xx")), 1);
    assert_eq!(
        gateway.metric("upstream_connections_new_total{upstream=\"up\"}"),
        1
    );
}

/// One reload after the other while clients ask as fast as they can: none fails, and none is answered by a generation that was not the
/// current one at some moment of its exchange.
#[test]
fn reloads_under_load_lose_and_misdirect_nothing() {
    const RELOADS: u64 = 60;
    let upstreams = [named("0"), named("1")];
    let text =
        |generation: u64| configuration(&to(upstreams[usize::try_from(generation % 2).unwrap()]));
    let gateway = Gateway::of(2, text(0));
    let (asked, acknowledged) = (AtomicU64::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let address = gateway.address("main");
    let requests: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Client::connect(address);
                    let mut count = 0;
                    while !over.load(Ordering::SeqCst) {
                        let oldest = acknowledged.load(Ordering::SeqCst);
                        let answer = client.get("/");
                        let newest = asked.load(Ordering::SeqCst);
                        assert_eq!(answer.status(), 200, "{}", answer.body_text());
                        let by: u64 = answer.body_text().parse().unwrap();
                        assert!(
                            newest > oldest || by == oldest % 2,
                            "generation {oldest} was acknowledged, {by} answered"
                        );
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        for generation in 1..=RELOADS {
            asked.store(generation, Ordering::SeqCst);
            gateway.becomes(text(generation));
            acknowledged.store(generation, Ordering::SeqCst);
        }
        over.store(true, Ordering::SeqCst);
        clients.into_iter().map(|c| c.join().unwrap()).sum()
    });
    assert!(requests > RELOADS, "{requests}");
    assert_eq!(gateway.metric("generation"), RELOADS + 1);
}
