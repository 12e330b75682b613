//! HTTP/2: streams that share connections, and what servers may do to them.

use crate::secured::tls;
use crate::server::{Answer, Manner, Server};
use crate::{EXCHANGES, acceptor, obliging, plan, run};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_load::plan::{Plan, Protocol, Trust};
use plimsoll_testbed::authority::Authority;
use std::time::Duration;

/// A server that answers so, and a plan of six users, three to a connection.
fn rig(answer: fn(u64) -> Answer) -> (Server, Plan) {
    let server = Server::start(Manner {
        http2: true,
        answer,
        ..obliging()
    });
    let mut plan = plan(server.address, 6);
    plan.connections.protocol = Protocol::Http2 { streams: 3 };
    (server, plan)
}

#[test]
fn users_share_connections_with_prior_knowledge() {
    let (server, plan) = rig(|_| Answer::Bytes(2));
    let run = run(plan);
    assert_eq!(run.count(OutcomeClass::Passed), EXCHANGES);
    assert_eq!(server.seen().requests, EXCHANGES);
    assert_eq!((server.seen().connections, run.connected()), (2, 2));
}

#[test]
fn each_user_has_one_stream_at_a_time() {
    let (server, mut plan) = rig(|_| Answer::Never);
    plan.timeout = Duration::from_secs(2);
    plan.scenarios[0].iterations = Some(6);
    let run = run(plan);
    assert_eq!(run.count(OutcomeClass::TimedOut), 6);
    assert_eq!(server.seen().streams, 3);
}

#[test]
fn windows_are_opened_as_data_is_read() {
    let (_server, mut plan) = rig(|_| Answer::Bytes(3 << 20));
    plan.scenarios[0].iterations = Some(20);
    let run = run(plan);
    assert_eq!(run.count(OutcomeClass::Passed), 20);
    let bytes: u64 = run
        .fragments
        .iter()
        .map(|fragment| fragment.steps[0].bytes_received)
        .sum();
    assert_eq!(bytes, 20 * (3 << 20));
}

#[test]
fn what_servers_do_to_streams_is_told_apart() {
    let check = |answer: fn(u64) -> Answer, reason| {
        let (server, plan) = rig(answer);
        let run = run(plan);
        run.all_for(reason);
        assert_eq!(server.seen().requests, EXCHANGES, "{reason:?}");
        run.connected()
    };
    assert_eq!(check(|_| Answer::Refuse, Reason::Stream), 2);
    assert_eq!(check(|_| Answer::ResetStream, Reason::ResetStream), 2);
}

#[test]
fn after_a_goaway_streams_end_and_a_new_connection_is_made() {
    let (server, plan) = rig(|number| match number % 10 {
        9 => Answer::ThenGoAway,
        _ => Answer::Bytes(2),
    });
    let run = run(plan);
    let closed = run.count(OutcomeClass::Closed);
    assert_eq!(run.sent(), EXCHANGES);
    assert_eq!(run.count(OutcomeClass::Passed) + closed, EXCHANGES);
    assert_eq!(run.count(OutcomeClass::Passed), server.seen().requests);
    assert!(run.connected() > 4, "{}", run.connected());
    assert!(run.reconnected() >= run.connected() - 2);
    let left_out = run.reasons().get(&Reason::GoAway).copied();
    assert_eq!(left_out.unwrap_or(0), closed, "{:?}", run.reasons());
}

#[test]
fn a_connection_that_drops_ends_its_streams() {
    let (_server, plan) = rig(|number| match number % 10 {
        9 => Answer::Drop,
        _ => Answer::Bytes(2),
    });
    let run = run(plan);
    let lost = run.count(OutcomeClass::Closed) + run.count(OutcomeClass::Reset);
    assert_eq!(run.sent(), EXCHANGES);
    assert_eq!(run.count(OutcomeClass::Passed) + lost, EXCHANGES);
    assert!(lost > 0);
}

#[test]
fn http2_over_tls_is_agreed_on_or_fails() {
    let authority = Authority::new().unwrap();
    for (alpn, class) in [
        ("h2", OutcomeClass::Passed),
        ("http/1.1", OutcomeClass::TlsFailed),
    ] {
        let server = Server::start(Manner {
            tls: Some(acceptor(&authority, &[alpn], false)),
            http2: true,
            ..obliging()
        });
        let mut plan = plan(server.address, 6);
        plan.connections.protocol = Protocol::Http2 { streams: 3 };
        let trust = Trust::Authorities(authority.certificate().to_owned());
        plan.connections.tls = Some(tls(trust));
        let run = run(plan);
        assert_eq!(run.count(class), EXCHANGES, "{alpn}");
        if class == OutcomeClass::TlsFailed {
            run.all_for(Reason::NoProtocol);
        }
    }
}

/// In TLS 1.3 the server objects when the client takes the handshake for done, and has sent its first stream perhaps.
#[test]
fn a_certificate_that_is_missing_is_no_lost_connection() {
    let authority = Authority::new().unwrap();
    let server = Server::start(Manner {
        tls: Some(acceptor(&authority, &["h2"], true)),
        http2: true,
        ..obliging()
    });
    let mut plan = plan(server.address, 6);
    plan.connections.protocol = Protocol::Http2 { streams: 3 };
    plan.connections.tls = Some(tls(Trust::Authorities(authority.certificate().to_owned())));
    run(plan).all_for(Reason::AlertCertificateRequired);
}

#[test]
fn a_server_that_speaks_http1_only_gives_no_answer() {
    let server = Server::start(obliging());
    let mut plan = plan(server.address, 1);
    plan.connections.protocol = Protocol::Http2 { streams: 1 };
    let run = run(plan);
    assert_eq!(run.count(OutcomeClass::Passed), 0);
    assert_eq!(run.sent(), EXCHANGES);
}
