//! HTTP/2 as nginx speaks it, and connections that it closes after so many requests.

use super::{Account, CLOSED, OPEN, Secured, measured, reconciled};
use crate::program::Workspace;
use plimsoll_testbed::peers::nginx::{Logged, Nginx, Site};
use std::collections::BTreeMap;

/// A load over TLS against an nginx with these directives.
fn over_tls(listen: &str, directives: &str, load: &str) -> (Account, Vec<Logged>) {
    let secured = Secured::start(listen, directives);
    let workspace = secured.workspace();
    let load = format!("{load}, tls: {{ ca: ca.pem }}");
    let account = measured(&workspace, "https", secured.nginx.address(), &load);
    (account, secured.nginx.quit().unwrap())
}

/// An account of HTTP/2 in plaintext.
fn in_clear(listen: &str, directives: &str, load: &str) -> (Account, Vec<Logged>) {
    let body = format!("{directives}\nlocation / {{ return 200 ok; }}");
    let site = Site {
        listen,
        server: &body,
        ..Site::default()
    };
    let nginx = Nginx::start(&site).unwrap();
    let account = measured(&Workspace::new(), "http", nginx.address(), load);
    (account, nginx.quit().unwrap())
}

/// How many answers each connection carried.
fn by_connection(log: &[Logged]) -> BTreeMap<&str, usize> {
    let mut answers = BTreeMap::new();
    for line in log {
        *answers.entry(line.connection.as_str()).or_default() += 1;
    }
    answers
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn http2_is_agreed_on_over_tls_and_known_beforehand_without_it() {
    let load = format!("{OPEN}, protocol: http2, streams: 2");
    for (account, log) in [
        over_tls("ssl http2", "", &load),
        in_clear("http2", "", &load),
    ] {
        account.all("200");
        reconciled(&account, &log);
        assert!(log.iter().all(|line| line.protocol == "HTTP/2.0"));
        assert!(by_connection(&log).len() <= 2, "{log:?}");
    }
    let (account, log) = over_tls("ssl", "", &load);
    account.all("tls_failed");
    assert!(log.is_empty());
}

/// HTTP/1.1: nginx says `Connection: close` with the last answer. HTTP/2: it sends GOAWAY, and streams that it leaves out are `closed`.
#[test]
#[ignore = "needs nginx: run scripts/test"]
fn connections_that_end_after_ten_requests_lose_nothing() {
    let ten = "keepalive_requests 10;";
    for (account, log) in [
        in_clear("", ten, OPEN),
        over_tls("ssl", ten, OPEN),
        in_clear(
            "http2",
            ten,
            &format!("{OPEN}, protocol: http2, streams: 1"),
        ),
    ] {
        account.all("200");
        reconciled(&account, &log);
        let connections = by_connection(&log);
        assert!(connections.values().all(|answers| *answers <= 10));
        let full = log.len().div_ceil(10);
        assert!(
            (full..full + 4).contains(&connections.len()),
            "{connections:?}"
        );
    }
    let (account, log) = in_clear(
        "http2",
        ten,
        &format!("{CLOSED}, protocol: http2, streams: 4"),
    );
    reconciled(&account, &log);
    let accounted = account.count("200") + account.count("closed");
    assert_eq!(accounted, account.sent(), "{account:?}");
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn a_server_that_takes_one_stream_at_a_time_is_given_one() {
    let one = "http2_max_concurrent_streams 1; keepalive_requests 1000000;";
    let load = format!("{CLOSED}, protocol: http2, streams: 4");
    for (account, log) in [
        in_clear("http2", one, &load),
        over_tls("ssl http2", one, &load),
    ] {
        account.all("200");
        reconciled(&account, &log);
        assert_eq!(by_connection(&log).len(), 1);
    }
}

/// hey offers both, and speaks HTTP/1.1 with a server that knows no other.
#[test]
#[ignore = "needs nginx: run scripts/test"]
fn hey_leaves_the_choice_to_the_server() {
    for (listen, protocol) in [("ssl http2", "HTTP/2.0"), ("ssl", "HTTP/1.1")] {
        let secured = Secured::start(listen, "");
        let workspace = secured.workspace();
        let url = format!("https://{}/", secured.nginx.address());
        let finished = workspace.run(&["hey", "-h2", "-n", "20", "-c", "4", "-cpus", "1", &url]);
        let finished = finished.ended_with(0);
        assert!(
            finished.stdout.contains("[200]\t20 responses"),
            "{finished:?}"
        );
        let log = secured.nginx.quit().unwrap();
        assert_eq!(log.len(), 20);
        assert!(log.iter().all(|line| line.protocol == protocol), "{log:?}");
        let connections = by_connection(&log).len();
        let expected = if listen == "ssl" { 2..=4 } else { 1..=1 };
        assert!(expected.contains(&connections), "{log:?}");
    }
}
