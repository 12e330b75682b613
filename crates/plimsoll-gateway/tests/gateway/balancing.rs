//! Which endpoint gets an exchange, by the ways of choosing that do more than take turns.

use crate::support::{Gateway, Nobody, Upstream};
use std::collections::HashMap;
use std::net::SocketAddr;

fn answering(letter: char) -> Upstream {
    Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            peer.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{letter}"
            ));
        }
    })
}

fn before(endpoints: &[SocketAddr], rest: &str, shards: usize) -> Gateway {
    let endpoints: Vec<String> = endpoints
        .iter()
        .map(|e| format!("\"http://{e}\""))
        .collect();
    let text = format!(
        "upstreams: {{ up: {{ endpoints: [{}], {rest} }} }}\nroutes: [{{ path: /, upstream: up }}]\n",
        endpoints.join(", ")
    );
    Gateway::with_shards(shards, &text)
}

fn of_tenant(gateway: &Gateway, tenant: usize) -> String {
    let request = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Tenant: t{tenant}\r\n\r\n");
    gateway.connect().ask(&request).body_text()
}

#[test]
fn a_field_decides_where_its_requests_go_on_every_shard() {
    let upstreams = ['a', 'b', 'c'].map(answering);
    let addresses = upstreams.each_ref().map(|upstream| upstream.address);
    let rest = "balance: consistent_hash, hash_by: X-Tenant";
    let gateway = before(&addresses, rest, 2);
    let first: Vec<String> = (0..40).map(|tenant| of_tenant(&gateway, tenant)).collect();
    for letter in ["a", "b", "c"] {
        assert!(first.iter().any(|answer| answer == letter), "{first:?}");
    }
    let again: Vec<String> = (0..40).map(|tenant| of_tenant(&gateway, tenant)).collect();
    assert_eq!(again, first);
    // Who has no such field goes by its address, which is the same for all here.
    let plain = (0..10).map(|_| gateway.connect().get("/").body_text());
    assert_eq!(plain.collect::<std::collections::HashSet<_>>().len(), 1);
}

#[test]
fn the_keys_of_an_endpoint_that_is_away_move_and_no_others() {
    let upstreams = ['a', 'b'].map(answering);
    let [a, b] = upstreams.each_ref().map(|upstream| upstream.address);
    let nobody = Nobody::new();
    // Places go by name, so the one that is away has its keys as if it were there.
    let gateway = before(
        &[a, b, nobody.address],
        "balance: consistent_hash, hash_by: X-Tenant",
        1,
    );
    let with_it: Vec<String> = (0..60).map(|tenant| of_tenant(&gateway, tenant)).collect();
    let moved = gateway.metric("upstream_errors_total{upstream=\"up\",kind=\"connect\"}");
    assert!((5..40).contains(&moved), "{moved}");
    let without = before(&[b, a], "balance: consistent_hash, hash_by: X-Tenant", 1);
    let alone: Vec<String> = (0..60).map(|tenant| of_tenant(&without, tenant)).collect();
    assert_eq!(with_it, alone);
}

#[test]
fn an_endpoint_that_fails_fast_is_not_the_best_by_latency() {
    let upstreams = ['a', 'b'].map(answering);
    let [a, b] = upstreams.each_ref().map(|upstream| upstream.address);
    let nobody = Nobody::new();
    let gateway = before(&[a, nobody.address, b], "balance: peak_ewma", 1);
    let mut client = gateway.connect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for _ in 0..100 {
        *counts.entry(client.get("/").body_text()).or_default() += 1;
    }
    assert!(counts["a"] > 0 && counts["b"] > 0, "{counts:?}");
    let failed = gateway.metric("upstream_errors_total{upstream=\"up\",kind=\"connect\"}");
    assert!(failed <= 2, "{failed}");
}
