//! Connections over TLS.

use crate::server::{Answer, Manner, Server};
use crate::{EXCHANGES, Run, acceptor, obliging, of_manner, plan, run};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::plan::{
    ConnectionPolicy, Identity, Plan, PrivateKey, Resolve, Tls, TlsVersion, Trust,
};
use plimsoll_testbed::authority::Authority;
use plimsoll_testbed::peers::tls_server;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::time::Duration;

/// TLS as most plans have it.
pub fn tls(trust: Trust) -> Tls {
    Tls {
        server_name: "localhost".to_owned(),
        trust,
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: None,
        resumption: true,
        identities: vec![],
    }
}

fn identity(authority: &Authority, name: &str) -> Identity {
    let issued = authority.issue(&[name]).unwrap();
    Identity {
        name: format!("{name}.key"),
        certificate: issued.certificate,
        key: PrivateKey(issued.key),
    }
}

/// A server of this authority, and a plan of three users who trust it.
fn rig(authority: &Authority, asks: bool) -> (Server, Plan) {
    let server = Server::start(Manner {
        tls: Some(acceptor(authority, &["http/1.1"], asks)),
        ..obliging()
    });
    let mut plan = plan(server.address, 3);
    plan.connections.tls = Some(tls(Trust::Authorities(authority.certificate().to_owned())));
    (server, plan)
}

fn all_passed(run: &Run) {
    assert_eq!(run.sent(), EXCHANGES, "{:?}", run.accounts);
    assert_eq!(run.count(OutcomeClass::Passed), EXCHANGES);
}

#[test]
fn users_keep_their_secured_connections() {
    let authority = Authority::new().unwrap();
    let (server, plan) = rig(&authority, false);
    let run = run(plan);
    all_passed(&run);
    assert_eq!(server.seen().connections, 3);
    assert_eq!(server.seen().requests, run.sent());
}

/// Every part of a response time has its kind: connecting with lookup and handshake before, first byte and body within the service time.
#[test]
fn the_parts_of_a_time_sum_to_it() {
    let authority = Authority::new().unwrap();
    let server = Server::start(Manner {
        tls: Some(acceptor(&authority, &["http/1.1"], false)),
        answer: |number| match number % 2 {
            0 => Answer::InParts,
            _ => Answer::Bytes(2),
        },
        ..obliging()
    });
    let mut plan = plan(server.address, 3);
    plan.connections.tls = Some(tls(Trust::Authorities(authority.certificate().to_owned())));
    plan.connections.policy = ConnectionPolicy::PerExchange;
    plan.connections.resolve = Some(Resolve {
        host: "127.0.0.1".to_owned(),
        port: server.address.port(),
        every: Duration::ZERO,
    });
    let run = run(plan);
    all_passed(&run);
    let sent = run.sent();
    let parts_of_connecting = [TimeKind::DnsTime, TimeKind::TcpTime, TimeKind::TlsTime];
    for kind in parts_of_connecting
        .into_iter()
        .chain([TimeKind::ConnectTime])
    {
        assert_eq!(run.times(kind), sent, "{kind:?}");
    }
    let total = |times: TimeHistogram| times.mean().map_or(0.0, |mean| mean * times.count() as f64);
    let sum = |kind| run.histogram(kind).map_or(0.0, total);
    let of_step = |kind| {
        let times = run.of_step(kind);
        assert_eq!(times.count(), sent, "{kind:?}");
        total(times)
    };
    let service = of_step(TimeKind::ServiceTime);
    let body = of_step(TimeKind::BodyTime);
    let parts = of_step(TimeKind::FirstByteTime) + body;
    assert!((parts / service - 1.0).abs() < 0.02, "{parts} of {service}");
    // Every other body comes 20 ms after the first byte, unless this machine is so busy that both are read at once.
    assert!(body > 0.002 * sent as f64);
    let connecting: f64 = parts_of_connecting.map(sum).iter().sum();
    let connect = sum(TimeKind::ConnectTime);
    // Lookups take microseconds, to which each of them is rounded.
    assert!(
        (connecting - connect).abs() < 0.02 * connect + 2e-6 * sent as f64,
        "{connecting} of {connect}"
    );
    assert!(of_step(TimeKind::ResponseTime) >= 0.98 * (service + connect));
}

#[test]
fn a_certificate_that_does_not_hold_is_an_outcome_unless_anybody_is_trusted() {
    let (authority, other) = (Authority::new().unwrap(), Authority::new().unwrap());
    let trust = |authority: &Authority| Trust::Authorities(authority.certificate().to_owned());
    let (_server, mut plan) = rig(&authority, false);
    plan.connections.tls = Some(tls(trust(&other)));
    run(plan.clone()).all_for(Reason::UnknownIssuer);
    plan.connections.tls = Some(Tls {
        server_name: "elsewhere.example".to_owned(),
        ..tls(trust(&authority))
    });
    run(plan.clone()).all_for(Reason::NameMismatch);
    plan.connections.tls = Some(tls(Trust::Anybody));
    all_passed(&run(plan.clone()));
    let expired = Server::start(Manner {
        tls: Some(of_manner(
            &authority,
            tls_server::Manner {
                versions: rustls::ALL_VERSIONS,
                alpn: &["http/1.1"],
                asks: false,
                expired: true,
            },
        )),
        ..obliging()
    });
    plan.target.addresses = vec![expired.address];
    plan.connections.tls = Some(tls(trust(&authority)));
    run(plan).all_for(Reason::Expired);
}

/// Whichever version is spoken, and whenever the server says so.
#[test]
fn what_the_server_objects_to_is_told() {
    let (authority, other) = (Authority::new().unwrap(), Authority::new().unwrap());
    let check = |newest, identities: Vec<Identity>, expected| {
        let (_server, mut plan) = rig(&authority, true);
        let tls = plan.connections.tls.as_mut().unwrap();
        (tls.newest, tls.identities) = (newest, identities);
        run(plan).all_for(expected);
    };
    use TlsVersion::{Tls12, Tls13};
    check(Tls13, vec![], Reason::AlertCertificateRequired);
    check(Tls12, vec![], Reason::AlertCertificateRequired);
    let stranger = || vec![identity(&other, "stranger")];
    check(Tls13, stranger(), Reason::AlertUnknownCa);
    check(Tls12, stranger(), Reason::AlertUnknownCa);
}

#[test]
fn a_target_that_speaks_no_tls_is_not_taken_for_one_that_is_gone() {
    let check = |server: fn(&TcpListener), expected| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut plan = plan(listener.local_addr().unwrap(), 1);
        plan.scenarios[0].iterations = Some(1);
        plan.connections.tls = Some(tls(Trust::Anybody));
        std::thread::scope(|scope| {
            scope.spawn(|| server(&listener));
            run(plan).all_for(expected);
        });
    };
    check(
        |listener| {
            let (mut client, _) = listener.accept().unwrap();
            // What is left unread makes the close a reset.
            client.read_exact(&mut [0; 16]).unwrap();
        },
        Reason::ResetInHandshake,
    );
    check(
        |listener| {
            let (mut client, _) = listener.accept().unwrap();
            let mut hello = [0; 16];
            client.read_exact(&mut hello).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            // Until the client has closed, so that what it said is not answered by a reset.
            client.read_to_end(&mut vec![]).ok();
        },
        Reason::ClosedInHandshake,
    );
    check(
        |listener| {
            let (mut client, _) = listener.accept().unwrap();
            client
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
            client.read_to_end(&mut vec![]).ok();
        },
        Reason::NotTls,
    );
}

#[test]
fn sessions_are_resumed_if_wanted() {
    let authority = Authority::new().unwrap();
    for (resumption, version) in [
        (true, TlsVersion::Tls12),
        (true, TlsVersion::Tls13),
        (false, TlsVersion::Tls13),
    ] {
        let (server, mut plan) = rig(&authority, false);
        plan.connections.policy = ConnectionPolicy::PerExchange;
        let tls = plan.connections.tls.as_mut().unwrap();
        tls.resumption = resumption;
        tls.newest = version;
        let run = run(plan);
        all_passed(&run);
        let seen = server.seen();
        let expected = if resumption { seen.connections - 3 } else { 0 };
        assert_eq!(seen.resumed, expected, "{resumption} {version:?}");
    }
}

#[test]
fn each_user_shows_its_own_certificate_or_all_the_same() {
    let authority = Authority::new().unwrap();
    for identities in [1, 3] {
        let (server, mut plan) = rig(&authority, true);
        plan.connections.tls.as_mut().unwrap().identities = (0..identities)
            .map(|user| identity(&authority, &format!("user{user}")))
            .collect();
        all_passed(&run(plan));
        assert_eq!(server.seen().certificates.len(), identities);
    }
}

#[test]
fn what_does_not_hold_together_is_refused_before_anything_is_sent() {
    let authority = Authority::new().unwrap();
    let (_server, mut plan) = rig(&authority, true);
    let (ann, mut bob) = (identity(&authority, "ann"), identity(&authority, "bob"));
    bob.key = ann.key.clone();
    let tls = plan.connections.tls.as_mut().unwrap();
    tls.identities = vec![ann, bob];
    tls.oldest = TlsVersion::Tls13;
    tls.newest = TlsVersion::Tls12;
    plan.connections.policy = ConnectionPolicy::Shared(2);
    insta::assert_snapshot!(plan.check().unwrap_err(), @r"
    connections.tls.identities: are 2 for 3 virtual users: give one for all, or one for each
    connections.tls.identities: are one for each virtual user, but connections are shared: give one for all, or each user its own connection
    connections.tls: the oldest version is newer than the newest
    connections.tls.identities: `bob.key` is not the key of its certificate
    ");
}
