//! TLS as nginx saw it: versions, trust, sessions and clients' certificates.

use super::{Account, CLOSED, OPEN, Secured, measured, reconciled};
use crate::program::Workspace;
use plimsoll_testbed::authority::Authority;
use plimsoll_testbed::peers::nginx::Logged;
use std::collections::{BTreeMap, BTreeSet};

/// A load of these keys; what it came to, and what nginx saw.
fn run(secured: Secured, workspace: &Workspace, load: &str) -> (Account, Vec<Logged>) {
    let account = measured(workspace, "https", secured.nginx.address(), load);
    let log = secured.nginx.quit().unwrap();
    reconciled(&account, &log);
    (account, log)
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn versions_are_those_that_both_ends_speak() {
    let check = |server: &str, client: &str, negotiated: Option<&str>| {
        let secured = Secured::start("ssl", &format!("ssl_protocols {server};"));
        let workspace = secured.workspace();
        let load = format!("{OPEN}, tls: {{ ca: ca.pem{client} }}");
        let (account, log) = run(secured, &workspace, &load);
        match negotiated {
            Some(version) => {
                account.all("200");
                assert!(log.iter().all(|line| line.tls == version), "{log:?}");
            }
            None => account.all("tls_failed"),
        }
    };
    std::thread::scope(|scope| {
        for (server, client, negotiated) in [
            ("TLSv1.2", "", Some("TLSv1.2")),
            ("TLSv1.3", "", Some("TLSv1.3")),
            ("TLSv1.2 TLSv1.3", "", Some("TLSv1.3")),
            ("TLSv1.2 TLSv1.3", ", max_version: 1.2", Some("TLSv1.2")),
            ("TLSv1.2 TLSv1.3", ", min_version: 1.3", Some("TLSv1.3")),
            ("TLSv1.3", ", max_version: 1.2", None),
            ("TLSv1.2", ", min_version: 1.3", None),
        ] {
            scope.spawn(move || check(server, client, negotiated));
        }
    });
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn a_certificate_that_does_not_hold_fails_every_exchange() {
    let check = |tls: &str, expected: &str| {
        let (outcome, reason) = expected.split_once('.').unwrap_or((expected, ""));
        let secured = Secured::start("ssl", "");
        let workspace = secured.workspace();
        let stranger = Authority::new().unwrap();
        workspace.write("stranger.pem", stranger.certificate());
        let (account, log) = run(secured, &workspace, &format!("{OPEN}, tls: {{ {tls} }}"));
        account.all(outcome);
        assert_eq!(log.is_empty(), outcome == "tls_failed");
        if outcome == "tls_failed" {
            assert_eq!(account.arm["reasons"][outcome][reason], account.sent());
            let seen = &account.arm["failures"][0];
            assert_eq!(
                (&seen["failure"], &seen["reason"]),
                (&outcome.into(), &reason.into())
            );
            assert!(
                seen["first_s"].as_f64() <= seen["last_s"].as_f64(),
                "{seen}"
            );
        }
    };
    std::thread::scope(|scope| {
        for (tls, outcome) in [
            ("ca: ca.pem", "200"),
            ("ca: stranger.pem", "tls_failed.unknown_issuer"),
            (
                "ca: ca.pem, server_name: elsewhere.example",
                "tls_failed.name_mismatch",
            ),
            ("insecure: true", "200"),
            ("insecure: true, server_name: elsewhere.example", "200"),
        ] {
            scope.spawn(move || check(tls, outcome));
        }
    });
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn sessions_are_resumed_by_the_user_whose_they_are() {
    let check = |server: &str, resumption: bool| {
        let secured = Secured::start("ssl", &format!("ssl_protocols {server};"));
        let workspace = secured.workspace();
        let load = format!(
            "{OPEN}, connection_per: exchange, tls: {{ ca: ca.pem, resumption: {resumption} }}"
        );
        let (account, log) = run(secured, &workspace, &load);
        account.all("200");
        let full = log.iter().filter(|line| !line.resumed).count();
        let connections: BTreeSet<_> = log.iter().map(|line| &line.connection).collect();
        assert_eq!(connections.len(), log.len());
        match resumption {
            // The first connection of each user, of which idle ones are taken in turn.
            true => assert!((1..=4).contains(&full), "{server}: {full} full handshakes"),
            false => assert_eq!(full, log.len()),
        }
    };
    std::thread::scope(|scope| {
        for (server, resumption) in [
            ("TLSv1.2", true),
            ("TLSv1.3", true),
            ("TLSv1.2", false),
            ("TLSv1.3", false),
        ] {
            scope.spawn(move || check(server, resumption));
        }
    });
}

/// In the summary of a kept run directory, over HTTP/1.1 and HTTP/2: a response time is what it waited for, the connection if one had to
/// be made, and the service time; and each of these is the sum of its own parts. Sums are off by what histograms round.
#[test]
#[ignore = "needs nginx: run scripts/test"]
fn the_parts_of_every_time_sum_to_it() {
    let check = |listen: &str, protocol: &str| {
        let secured = Secured::start(listen, "");
        let workspace = secured.workspace();
        let port = secured.nginx.address().port();
        let text = format!(
            "version: 1\nname: parts\ncomponents:\n  server: {{ external: \"https://localhost:{port}\", probe: none }}\n\
             scenario: [{{ mix: [{{ steps: [{{ get: / }}] }}, {{ steps: [{{ get: /long }}] }}] }}]\nload: {{ rate: 30/s, connections: 8, warmup: 0s, duration: 2s, \
             resolve: connection, exchanges_per_connection: 5, tls: {{ ca: ca.pem }}{protocol} }}\n"
        );
        workspace.write("parts.yaml", &text);
        let finished = workspace.experiment("parts.yaml", &["--no-ui"]);
        let account = Account::of(&workspace, &finished);
        assert!(account.sent() >= 20, "{account:?}");
        assert_eq!(
            account.count("200"),
            account.sent(),
            "{:?}",
            account.outcomes()
        );
        // A microsecond for each time that was recorded, and what three digits leave.
        let slack = |whole: f64| 0.005 * whole + 5e-6 * account.sent() as f64;
        let holds = |whole: &str, parts: &[&str]| {
            let sum: f64 = parts.iter().map(|part| account.total(part)).sum();
            let whole_sum = account.total(whole);
            assert!(
                (whole_sum - sum).abs() <= slack(whole_sum),
                "{listen}: {whole} {whole_sum} is not {sum}: {account:?}"
            );
        };
        holds("service_time", &["first_byte_time", "body_time"]);
        holds("connect_time", &["dns_time", "tcp_time", "tls_time"]);
        assert!(account.total("tls_time") > 0.0 && account.total("dns_time") > 0.0);
        // The long answer is sent in pieces, a tenth of a second long.
        assert!(account.total("body_time") > 0.02 * account.sent() as f64);
        let all = [
            "pacing_lag",
            "connection_wait",
            "connect_time",
            "service_time",
        ];
        match protocol {
            "" => holds("response_time", &all),
            // Who waits for a connection that another makes has that in its response time only.
            _ => {
                let sum: f64 = all.iter().map(|part| account.total(part)).sum();
                let response = account.total("response_time");
                assert!(response >= sum - slack(sum), "{response} < {sum}");
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check("ssl", ""));
        scope.spawn(|| check("ssl http2", ", protocol: http2, streams: 2"));
    });
}

/// How many answers nginx gave to each client, by its certificate's subject.
fn by_client(log: &[Logged]) -> BTreeMap<&str, usize> {
    let mut answers = BTreeMap::new();
    for line in log {
        *answers.entry(line.client.as_str()).or_default() += 1;
    }
    answers
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn users_show_one_certificate_or_each_its_own() {
    const REQUIRED: &str = "ssl_client_certificate @directory@/clients.pem; ssl_verify_client on;";
    const CSV: &str = "cert,key\nclients/bob.pem,clients/bob.key\nclients/ann.pem,clients/ann.key\n\
        clients/dan.pem,clients/dan.key\nclients/cai.pem,clients/cai.key\n";
    let check = |identities: &str, clients: &[&str]| {
        let secured = Secured::start("ssl", REQUIRED);
        let workspace = secured.workspace();
        secured.issue_to(&workspace, &["ann", "bob", "cai", "dan"]);
        workspace.write("clients.csv", CSV);
        let load = format!("{CLOSED}, think: 20ms, tls: {{ ca: ca.pem{identities} }}");
        let (account, log) = run(secured, &workspace, &load);
        assert_eq!(account.count("200"), account.sent(), "{account:?}");
        let answers = by_client(&log);
        assert_eq!(answers.keys().copied().collect::<Vec<_>>(), clients);
        // A user of the closed model keeps its connection, so its certificate.
        let pairs: BTreeSet<_> = log.iter().map(|l| (&l.connection, &l.client)).collect();
        assert_eq!(pairs.len(), 4, "{answers:?}");
    };
    let each = ["CN=ann", "CN=bob", "CN=cai", "CN=dan"];
    std::thread::scope(|scope| {
        scope.spawn(|| check(", identities: clients", &each));
        scope.spawn(|| check(", identities: clients.csv", &each));
        scope.spawn(|| check(", cert: clients/cai.pem, key: clients/cai.key", &["CN=cai"]));
    });
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn a_client_certificate_that_is_missing_is_nginxs_400() {
    let secured = Secured::start(
        "ssl",
        "ssl_client_certificate @directory@/clients.pem; ssl_verify_client on;",
    );
    let workspace = secured.workspace();
    let address = secured.nginx.address();
    let missing = measured(
        &workspace,
        "https",
        address,
        &format!("{OPEN}, tls: {{ ca: ca.pem }}"),
    );
    missing.all("400");
    assert_eq!(missing.number("failed"), missing.sent());
    let log = secured.nginx.quit().unwrap();
    reconciled(&missing, &log);
    assert_eq!(by_client(&log).into_keys().collect::<Vec<_>>(), ["-"]);
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn the_one_liner_shows_its_certificate() {
    let secured = Secured::start(
        "ssl",
        "ssl_client_certificate @directory@/clients.pem; ssl_verify_client on;",
    );
    let workspace = secured.workspace();
    secured.issue_to(&workspace, &["ann"]);
    let url = format!("https://localhost:{}/", secured.nginx.address().port());
    let args = [
        "load", &url, "-r", "100", "-c", "4", "-z", "1s", "--warmup", "0",
    ];
    let tls = [
        "--cacert",
        "ca.pem",
        "--cert",
        "clients/ann.pem",
        "--key",
        "clients/ann.key",
    ];
    let finished = workspace.run(&[&args[..], &tls, &["--out", "run", "--no-ui"]].concat());
    let account = Account::of(&workspace, &finished);
    account.all("200");
    let log = secured.nginx.quit().unwrap();
    reconciled(&account, &log);
    assert_eq!(by_client(&log), BTreeMap::from([("CN=ann", log.len())]));
}
