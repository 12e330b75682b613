//! Who uses a connection, for how long, and from where.

use crate::server::{Answer, Manner, Server};
use crate::{EXCHANGES, obliging, plan, run};
use plimsoll_base::outcome::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::plan::{ConnectionPolicy, Connections, Plan, Resolve};
use std::net::IpAddr;
use std::time::Duration;

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

#[test]
fn each_timeout_is_kept() {
    let server = Server::start(Manner {
        answer: |_| Answer::Never,
        ..obliging()
    });
    let mut plan = plan(server.address, 2);
    plan.connections = Connections {
        first_byte_timeout: Some(Duration::from_millis(50)),
        ..Connections::default()
    };
    plan.scenarios[0].iterations = Some(4);
    let whole = plan.timeout.as_secs_f64();
    let run = run(plan);
    assert_eq!(run.count(OutcomeClass::TimedOut), 4);
    let longest = run.of_step(TimeKind::ServiceTime).max();
    assert!(longest.is_some_and(|time| time < whole), "{longest:?}");
}
