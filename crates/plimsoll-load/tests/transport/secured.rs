//! Connections over TLS.

use crate::server::{Answer, Manner, Server};
use crate::{EXCHANGES, Run, acceptor, obliging, plan, run};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::plan::{
    ConnectionPolicy, Identity, Plan, PrivateKey, Resolve, Tls, TlsVersion, Trust,
};
use plimsoll_testbed::authority::Authority;
use std::time::Duration;

fn tls(trust: Trust) -> Tls {
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
    let (_server, mut plan) = rig(&authority, false);
    plan.connections.tls = Some(tls(Trust::Authorities(other.certificate().to_owned())));
    let failed = run(plan.clone());
    assert_eq!(failed.count(OutcomeClass::TlsFailed), EXCHANGES);
    plan.connections.tls = Some(tls(Trust::Anybody));
    all_passed(&run(plan));
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
    // Without one the server ends the connection.
    let (_server, plan) = rig(&authority, true);
    let refused = run(plan);
    assert_eq!(refused.sent(), EXCHANGES);
    assert_eq!(refused.count(OutcomeClass::Passed), 0);
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
