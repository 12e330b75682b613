//! Listeners over TLS: who gets in, what upstreams are told, and that a certificate which holds no more ends what it began.

use crate::secured::{Realm, Secured};
use crate::support::{Gateway, PATIENCE, Upstream, configuration, read, to};
use plimsoll_testbed::authority::{Authority, Issued};
use std::io::Read as _;
use std::sync::{Arc, Mutex, mpsc};

const REQUIRED: &str = "clients: required, ca: ca.pem, crl: ca.crl";
const OPTIONAL: &str = "clients: optional, ca: ca.pem";

#[test]
fn a_listener_over_tls_serves_anybody_and_says_so_to_upstreams() {
    let realm = Realm::new();
    let gateway = realm.gateway("clients: none", &to(Upstream::echo().address));
    let mut client = realm.caller(None).connect(gateway.address("main"));
    for _ in 0..2 {
        let echo = client.get("/").body_text();
        assert!(echo.contains("\nX-Forwarded-Proto: https\n"), "{echo}");
        assert!(!echo.to_lowercase().contains("client-cert"), "{echo}");
    }
}

#[test]
fn who_gets_in() {
    let realm = Realm::new();
    let stranger = Authority::new().unwrap();
    let known = realm.issue("urn:known");
    let foreign = stranger.issue(&["foreign"]).unwrap();
    let expired = realm.authority.issue_expired(&["old"]).unwrap();
    let revoked = realm.issue("urn:revoked");
    let list = realm.authority.revoked(&[&revoked], 2099).unwrap();
    realm
        .files
        .lock()
        .unwrap()
        .insert("ca.crl".to_owned(), list.into());
    let upstream = to(Upstream::echo().address);
    let statuses = |clients: &str| {
        let gateway = realm.gateway(clients, &upstream);
        let ask = |own: Option<&Issued>| realm.caller(own).asks(gateway.address("main"), "/").0;
        let all = [
            None,
            Some(&known),
            Some(&foreign),
            Some(&expired),
            Some(&revoked),
        ];
        let statuses = all.map(ask);
        for (reason, expected) in [("unknown_issuer", 1), ("expired", 1)] {
            let sample = format!("handshakes_failed_total{{reason=\"{reason}\"}}");
            gateway.reaches(&sample, expected);
        }
        statuses
    };
    assert_eq!(statuses(REQUIRED), [0, 200, 0, 0, 0]);
    assert_eq!(statuses(OPTIONAL), [200, 200, 0, 0, 200]);
    let with_list = format!("{OPTIONAL}, crl: ca.crl");
    assert_eq!(statuses(&with_list), [200, 200, 0, 0, 0]);
}

#[test]
fn fields_about_certificates_come_from_the_gateway_alone() {
    let realm = Realm::new();
    let own = realm.issue("urn:ann;x");
    let rest = format!(
        "identity: {{ forward: [client_cert, client_cert_chain, xfcc] }}\n{}",
        to(Upstream::echo().address)
    );
    let gateway = realm.gateway(OPTIONAL, &rest);
    let forged = "GET / HTTP/1.1\r\nHost: a\r\nClient-Cert: :Zm9yZ2Vk:\r\nX-Forwarded-Client-Cert: Hash=forged\r\nX_SHARD: forged\r\nSSL-Client-Cert: forged\r\nConnection: X-Forwarded-Client-Cert\r\n\r\n";
    let address = gateway.address("main");
    let echo = realm.caller(None).connect(address).ask(forged).body_text();
    assert!(
        !echo.contains("forged") && !echo.contains("Zm9yZ2Vk"),
        "{echo}"
    );
    assert!(!echo.contains("Client-Cert"), "{echo}");
    let echo = realm
        .caller(Some(&own))
        .connect(address)
        .ask(forged)
        .body_text();
    assert!(
        !echo.contains("forged") && !echo.contains("Zm9yZ2Vk"),
        "{echo}"
    );
    let field = |name: &str| {
        let line = echo
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("{name} in {echo}"))
            .to_owned()
    };
    let base64: String = own
        .certificate
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    assert_eq!(field("Client-Cert"), format!(":{base64}:"));
    let element = field("X-Forwarded-Client-Cert");
    assert!(element.starts_with("Hash="), "{element}");
    assert!(
        element.ends_with(";Subject=\"CN=client\";URI=\"urn:ann;x\""),
        "{element}"
    );
    assert!(!echo.contains("Client-Cert-Chain"), "{echo}");
}

/// Revokes this one and waits for the acknowledgement.
fn revoke(realm: &Realm, gateway: &Gateway, revoked: &Issued) {
    let list = realm.authority.revoked(&[revoked], 2099).unwrap();
    gateway.rewrites("ca.crl", &list);
}

#[test]
fn a_revoked_certificate_ends_idle_connections_and_sessions() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let realm = Realm::new();
        let (good, bad) = (realm.issue("urn:good"), realm.issue("urn:bad"));
        let gateway = realm.gateway(REQUIRED, &to(Upstream::echo().address));
        let address = gateway.address("main");
        let good = realm.caller_of(Some(&good), &[version]);
        let caller = realm.caller_of(Some(&bad), &[version]);
        assert_eq!(good.asks(address, "/"), (200, false));
        assert_eq!(caller.asks(address, "/"), (200, false));
        assert_eq!(
            caller.asks(address, "/"),
            (200, true),
            "it resumes, so that there is something to refuse"
        );
        let mut kept: Vec<Secured> = (0..4).map(|_| caller.connect(address)).collect();
        let mut kept_good = good.connect(address);
        assert!(kept.iter_mut().all(|client| client.status_of("/") == 200));
        assert_eq!(kept_good.status_of("/"), 200);
        revoke(&realm, &gateway, &bad);
        for client in &mut kept {
            let read = client.stream.read(&mut [0]);
            let has_ended = match &read {
                Ok(bytes) => *bytes == 0,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            };
            assert!(has_ended, "{read:?}");
            assert_eq!(client.status_of("/"), 0);
        }
        assert_eq!(caller.asks(address, "/").0, 0);
        assert_eq!(kept_good.status_of("/"), 200);
        assert_eq!(good.asks(address, "/").0, 200);
        gateway.reaches("client_connections_ended_total{reason=\"revoked\"}", 4);
        gateway.reaches("handshakes_failed_total{reason=\"revoked\"}", 1);
    }
}

#[test]
fn a_revoked_certificate_ends_an_exchange_under_way() {
    let (asked, is_asked) = mpsc::channel();
    let (end, may_end) = mpsc::channel::<()>();
    let may_end = Arc::new(Mutex::new(may_end));
    let slow = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
            asked.send(()).unwrap();
            if may_end.lock().unwrap().recv().is_err() {
                return;
            }
        }
    });
    let realm = Realm::new();
    let own = realm.issue("urn:own");
    let gateway = realm.gateway(REQUIRED, &to(slow.address));
    let mut client = realm.caller(Some(&own)).connect(gateway.address("main"));
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    revoke(&realm, &gateway, &own);
    assert!(client.try_response(false).is_none());
    gateway.reaches("aborted_total{route=\"/\"}", 1);
    drop(end);
}

#[test]
fn a_revoked_certificate_ends_a_tunnel() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.read_head().unwrap();
        peer.send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        while matches!(peer.stream.read(&mut [0]), Ok(1..)) {}
    });
    let realm = Realm::new();
    let own = realm.issue("urn:own");
    let rest = to(upstream.address).replace("upstream: up", "upstream: up, upgrades: [websocket]");
    let gateway = realm.gateway(REQUIRED, &rest);
    let mut client = realm.caller(Some(&own)).connect(gateway.address("main"));
    let offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert_eq!(client.ask(offer).status(), 101);
    // The tunnel begins a moment after its client has its answer.
    gateway.reaches("upgraded_connections{route=\"/\"}", 1);
    revoke(&realm, &gateway, &own);
    assert!(matches!(client.stream.read(&mut [0]), Ok(0) | Err(_)));
    gateway.reaches("upgraded_connections{route=\"/\"}", 0);
}

#[test]
fn a_chain_that_cannot_be_read_whole_is_no_way_around_revocation() {
    let realm = Realm::new();
    let mut own = realm.issue("urn:own");
    own.certificate += "-----BEGIN CERTIFICATE-----\nanVuaw==\n-----END CERTIFICATE-----\n";
    let gateway = realm.gateway(REQUIRED, &to(Upstream::echo().address));
    let caller = realm.caller(Some(&own));
    assert_eq!(caller.asks(gateway.address("main"), "/").0, 0);
    gateway.reaches("client_connections_ended_total{reason=\"distrusted\"}", 1);
}

#[test]
fn other_authorities_end_the_clients_of_those_that_are_gone() {
    let realm = Realm::new();
    let other = Authority::new().unwrap();
    let (ours, theirs) = (realm.issue("urn:ours"), other.issue(&["theirs"]).unwrap());
    let both = format!("{}{}", realm.authority.certificate(), other.certificate());
    realm
        .files
        .lock()
        .unwrap()
        .insert("ca.pem".to_owned(), both.into());
    let gateway = realm.gateway(OPTIONAL, &to(Upstream::echo().address));
    let address = gateway.address("main");
    let mut own = realm.caller(Some(&ours)).connect(address);
    let mut foreign = realm.caller(Some(&theirs)).connect(address);
    assert_eq!((own.status_of("/"), foreign.status_of("/")), (200, 200));
    gateway.rewrites("ca.pem", realm.authority.certificate());
    assert_eq!((own.status_of("/"), foreign.status_of("/")), (200, 0));
    gateway.reaches("client_connections_ended_total{reason=\"distrusted\"}", 1);
}

#[test]
fn a_listener_is_known_by_whether_it_wants_tls() {
    let realm = Realm::new();
    let rest = to(Upstream::echo().address);
    let secured = read(&Realm::text(OPTIONAL, &rest), &realm.files).unwrap();
    let plain = read(&configuration(&rest), &realm.files).unwrap();
    let is_secured = [("main", &secured), ("admin", &secured), ("main", &plain)]
        .map(|(name, config)| config.is_secured(name));
    assert_eq!(is_secured, [true, false, false]);
}

#[test]
fn who_has_no_certificate_goes_when_one_is_required() {
    let realm = Realm::new();
    let rest = to(Upstream::echo().address);
    let plain =
        "version: 1\nlisteners: { main: { address: \":0\" } }\nadmin: { address: \":0\" }\n";
    let gateway = Gateway::with_files(2, format!("{plain}{rest}"), &realm.files);
    let address = gateway.address("main");
    let mut unsecured = gateway.connect();
    assert_eq!(unsecured.get("/").status(), 200);
    gateway.becomes(Realm::text(OPTIONAL, &rest));
    assert_eq!(unsecured.get("/").status(), 200);
    let mut certified = realm.caller(Some(&realm.issue("urn:own"))).connect(address);
    let mut nobody = realm.caller(None).connect(address);
    assert_eq!(
        (certified.status_of("/"), nobody.status_of("/")),
        (200, 200)
    );
    gateway.becomes(Realm::text(REQUIRED, &rest));
    assert_eq!((certified.status_of("/"), nobody.status_of("/")), (200, 0));
    unsecured.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(unsecured.try_response(false).is_none());
    gateway.reaches("client_connections_ended_total{reason=\"distrusted\"}", 2);
}

#[test]
fn its_own_certificate_changes_for_new_connections_and_sessions_go_on() {
    let realm = Realm::new();
    let gateway = realm.gateway(OPTIONAL, &to(Upstream::echo().address));
    let address = gateway.address("main");
    let caller = realm.caller(None);
    let mut kept = caller.connect(address);
    assert_eq!(kept.status_of("/"), 200);
    let shown = |client: &Secured| client.stream.conn.peer_certificates().unwrap()[0].clone();
    let next = realm.authority.issue(&["localhost"]).unwrap();
    gateway.write("server.pem", &next.certificate);
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.ends_with("`server.key` is not the key of its certificate"),
        "{refusal}"
    );
    gateway.rewrites("server.key", &next.key);
    assert_eq!(kept.status_of("/"), 200);
    assert_eq!(caller.asks(address, "/"), (200, true));
    let mut fresh = realm.caller(None).connect(address);
    assert_eq!(fresh.status_of("/"), 200);
    assert_ne!(shown(&kept), shown(&fresh));
}
