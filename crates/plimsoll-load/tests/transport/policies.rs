//! Who uses a connection, for how long, and from where.

use crate::secured::tls;
use crate::server::{Answer, Manner, Server};
use crate::{EXCHANGES, obliging, plan, run};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::plan::{ConnectionPolicy, Plan, Resolve, Trust};
use std::collections::BTreeMap;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::time::Duration;
use tokio::net::TcpSocket;

/// Three users; gives how many connections the server saw, and how many requests.
fn check(change: impl FnOnce(&mut Plan)) -> (u64, u64) {
    let server = Server::start(obliging());
    let mut plan = plan(server.address, 3);
    change(&mut plan);
    let run = run(plan);
    let seen = server.seen();
    assert_eq!(run.count(OutcomeClass::Passed), EXCHANGES);
    assert_eq!(seen.requests, EXCHANGES);
    assert_eq!(seen.connections, run.connected());
    assert_eq!(run.times(TimeKind::ConnectTime), run.connected());
    (seen.connections, seen.requests)
}

#[test]
fn a_user_keeps_its_connection() {
    let (connections, _) = check(|_| {});
    assert_eq!(connections, 3);
}

#[test]
fn users_share_so_many_connections() {
    let (connections, _) = check(|plan| plan.connections.policy = ConnectionPolicy::Shared(2));
    assert_eq!(connections, 2);
}

#[test]
fn an_iteration_or_an_exchange_has_its_own() {
    for policy in [
        ConnectionPolicy::PerIteration,
        ConnectionPolicy::PerExchange,
    ] {
        let (connections, requests) = check(|plan| plan.connections.policy = policy);
        assert_eq!(connections, requests, "{policy:?}");
    }
}

#[test]
fn a_connection_carries_so_many_exchanges() {
    for policy in [ConnectionPolicy::PerUser, ConnectionPolicy::Shared(3)] {
        let (connections, requests) = check(|plan| {
            plan.connections.policy = policy;
            plan.connections.exchanges = Some(4);
        });
        assert!(
            (requests.div_ceil(4)..=requests / 4 + 3).contains(&connections),
            "{policy:?}: {connections} for {requests}"
        );
    }
}

#[test]
fn connections_come_from_the_given_addresses_in_turn() {
    let sources: Vec<IpAddr> = ["127.0.0.2", "127.0.0.3"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let server = Server::start(obliging());
    let mut plan = plan(server.address, 3);
    plan.connections.sources.clone_from(&sources);
    let run = run(plan);
    assert_eq!(run.count(OutcomeClass::Passed), EXCHANGES);
    assert_eq!(server.seen().sources, sources.into_iter().collect());
}

#[test]
fn a_name_is_looked_up_as_often_as_is_asked_for() {
    let resolve = |every| {
        move |plan: &mut Plan| {
            plan.connections.policy = ConnectionPolicy::PerExchange;
            plan.connections.resolve = Some(Resolve {
                host: "127.0.0.1".to_owned(),
                port: plan.target.addresses[0].port(),
                every,
            });
            // It is not used.
            plan.target.addresses[0].set_port(1);
        }
    };
    check(resolve(Duration::ZERO));
    check(resolve(Duration::from_secs(60)));
}

/// Users who each have an exchange, none of which is answered; gives why.
fn unanswered(users: u32, change: impl FnOnce(&mut Plan)) -> BTreeMap<Reason, u64> {
    let server = Server::start(Manner {
        answer: |_| Answer::Never,
        ..obliging()
    });
    let mut plan = plan(server.address, users);
    plan.scenarios[0].iterations = Some(users.into());
    change(&mut plan);
    let run = run(plan);
    assert_eq!(run.sent(), u64::from(users));
    run.reasons()
}

/// Sooner than anything else that could end an exchange.
const SOON: Duration = Duration::from_millis(50);
/// Long enough for a connection to be made on a machine that is busy with other things.
const LATER: Duration = Duration::from_secs(2);

#[test]
fn each_timeout_is_kept_and_says_what_was_waited_for() {
    let first_byte = |plan: &mut Plan| plan.connections.first_byte_timeout = Some(SOON);
    assert_eq!(
        unanswered(2, first_byte),
        [(Reason::FirstByteTimeout, 2)].into()
    );
    let whole = |plan: &mut Plan| plan.timeout = LATER;
    assert_eq!(unanswered(2, whole), [(Reason::TimeoutFirstByte, 2)].into());
    // One has it and the others wait for it. Whoever begins later may still have it for its last moments.
    let shared = |plan: &mut Plan| {
        whole(plan);
        plan.connections.policy = ConnectionPolicy::Shared(1);
    };
    let reasons = unanswered(20, shared);
    let waited = reasons.keys().copied().collect::<Vec<_>>();
    assert_eq!(
        waited,
        [Reason::TimeoutConnection, Reason::TimeoutFirstByte],
        "{reasons:?}"
    );
    assert_eq!(reasons.values().sum::<u64>(), 20, "{reasons:?}");
    // Far more than a socket holds.
    let long = |plan: &mut Plan| {
        whole(plan);
        plan.steps[0].method = "POST".to_owned();
        plan.steps[0].body = vec![b'x'; 8 << 20].into();
    };
    assert_eq!(unanswered(2, long), [(Reason::TimeoutRequest, 2)].into());
}

#[test]
fn a_connection_that_does_not_come_about_says_what_was_waited_for() {
    let check = |change: fn(&mut Plan), address, expected| {
        let reasons = unanswered(2, |plan: &mut Plan| {
            plan.target.addresses = vec![address];
            change(plan);
        });
        assert_eq!(reasons, [(expected, 2)].into());
    };
    let connect: fn(&mut Plan) = |plan| plan.connections.connect_timeout = Some(SOON);
    let whole: fn(&mut Plan) = |plan| plan.timeout = SOON;
    // Its queue is full, so that TCP does not connect.
    let full = TcpSocket::new_v4().unwrap();
    full.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = full.local_addr().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let _listener = {
        let _guard = runtime.enter();
        full.listen(1).unwrap()
    };
    let fill = || TcpStream::connect_timeout(&address, Duration::from_millis(200));
    let _held: Vec<TcpStream> = std::iter::from_fn(|| fill().ok()).collect();
    check(connect, address, Reason::ConnectTimeoutTcp);
    check(whole, address, Reason::TimeoutTcp);
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let secured: fn(&mut Plan) = |plan| {
        plan.connections.tls = Some(tls(Trust::Anybody));
        plan.connections.connect_timeout = Some(SOON);
    };
    check(secured, address, Reason::ConnectTimeoutTls);
    let secured: fn(&mut Plan) = |plan| {
        plan.connections.tls = Some(tls(Trust::Anybody));
        plan.timeout = SOON;
    };
    check(secured, address, Reason::TimeoutTls);
}

#[test]
fn a_name_that_nobody_knows_refuses_the_connection() {
    let reasons = unanswered(2, |plan: &mut Plan| {
        plan.connections.resolve = Some(Resolve {
            // No name at all, so that nobody is asked.
            host: "..".to_owned(),
            port: 1,
            every: Duration::ZERO,
        });
    });
    assert_eq!(reasons, [(Reason::Lookup, 2)].into());
}
