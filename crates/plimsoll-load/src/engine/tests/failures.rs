//! Failures: each of its own class, none of them hidden by trying again.

use super::rig::{Answer, Outcome, Server, iterations, open, plan, run};
use crate::plan::Plan;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use std::time::Duration;
use tokio::net::TcpSocket;

/// Fifteen arrivals at a server that answers all alike; all must end in `class`.
fn check(answer: fn(u64) -> Answer, class: OutcomeClass, change: impl Fn(&mut Plan)) -> Outcome {
    let server = Server::start(answer);
    let mut plan = plan(server.address);
    plan.scenarios[0].load = open(50.0, 15, 0);
    change(&mut plan);
    let outcome = run(plan);
    assert_eq!(outcome.count(class), 15, "{class:?}");
    assert_eq!(
        server.requests(),
        15,
        "{class:?}: every request is sent once"
    );
    assert_eq!(
        outcome.times(class, TimeKind::ServiceTime).count(),
        15,
        "{class:?}"
    );
    outcome
}

/// Checks that all failures have this reason.
fn check_reason(answer: fn(u64) -> Answer, reason: Reason, change: impl Fn(&mut Plan)) -> Outcome {
    let outcome = check(answer, reason.class(), change);
    assert_eq!(outcome.reasons(), [(reason, 15)].into());
    outcome
}

#[test]
fn outcomes_and_their_reasons_are_told_apart() {
    let soon = |plan: &mut Plan| plan.timeout = Duration::from_secs(2);
    check_reason(|_| Answer::Reset, Reason::ResetUnanswered, |_| {});
    check_reason(|_| Answer::ResetsInBody, Reason::ResetBody, |_| {});
    check_reason(|_| Answer::Closes, Reason::ClosedUnanswered, |_| {});
    check_reason(|_| Answer::CutHead, Reason::ClosedHead, |_| {});
    check_reason(|_| Answer::Truncated, Reason::ClosedBody, |_| {});
    check_reason(|_| Answer::StallsInHead, Reason::TimeoutHead, soon);
    check_reason(|_| Answer::Stalls, Reason::TimeoutBody, soon);
    check_reason(|_| Answer::Garbage, Reason::BadHead, |_| {});
    check_reason(|_| Answer::Surplus, Reason::Surplus, |_| {});
    check(|_| Answer::Status(503), OutcomeClass::CheckFailed, |_| {});
    check(|_| Answer::Status(302), OutcomeClass::Passed, |_| {});
    check(
        |_| Answer::Status(503),
        OutcomeClass::Passed,
        |plan| plan.steps[0].check.status = Some(vec![503]),
    );
}

/// An end of a connection that has been answered on tells of the server's patience with idle ones, not of the request.
#[test]
fn a_kept_connection_that_ends_is_no_new_one() {
    let check = |answer: fn(u64) -> Answer, expected| {
        let server = Server::start(answer);
        let mut plan = plan(server.address);
        iterations(&mut plan, 1, 10);
        let outcome = run(plan);
        assert_eq!(outcome.count(OutcomeClass::Passed), 5);
        assert_eq!(outcome.reasons(), [(expected, 5)].into());
    };
    check(|n| every_other(n, Answer::Closes), Reason::ClosedKept);
    check(|n| every_other(n, Answer::Reset), Reason::ResetKept);
}

fn every_other(number: u64, answer: Answer) -> Answer {
    match number % 2 {
        0 => Answer::Status(200),
        _ => answer,
    }
}

/// Far more than a socket holds: the answer must be read while the request is still going out.
#[test]
fn an_answer_may_come_before_the_request_is_out() {
    let server = Server::start(|_| Answer::BeforeBody);
    let mut plan = plan(server.address);
    plan.scenarios[0].load = open(10.0, 3, 0);
    plan.steps[0].method = "POST".to_owned();
    plan.steps[0].body = vec![b'x'; 8 << 20].into();
    let outcome = run(plan);
    assert_eq!(outcome.count(OutcomeClass::Passed), 3);
    let closed = outcome.measured().last().unwrap();
    assert_eq!(closed.connections, 0, "they cannot carry another exchange");
}

#[test]
fn a_timeout_is_recorded_at_its_deadline() {
    check(
        |_| Answer::Never,
        OutcomeClass::TimedOut,
        |plan| {
            plan.timeout = Duration::from_secs(60);
            plan.steps[0].timeout = Some(Duration::from_secs(2));
        },
    );
    let outcome = check_reason(
        |_| Answer::Never,
        Reason::TimeoutFirstByte,
        |plan| plan.timeout = Duration::from_secs(2),
    );
    let times = outcome.times(OutcomeClass::TimedOut, TimeKind::ServiceTime);
    assert!(times.max().unwrap() <= 2.002, "{:?}", times.max());
    let closed = outcome.measured().last().unwrap();
    assert_eq!(
        closed.connections, 0,
        "a connection that timed out is closed"
    );
}

#[test]
fn a_refused_connection_is_an_outcome_without_service_time() {
    // A port that is taken, so that nobody else gets it, and on which nobody listens.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = taken.local_addr().unwrap();
    let mut open_plan = plan(address);
    open_plan.scenarios[0].load = open(50.0, 2, 15);
    let outcome = run(open_plan);
    assert_eq!(outcome.count(OutcomeClass::Refused), 15);
    assert_eq!(outcome.reasons(), [(Reason::ConnectionRefused, 15)].into());
    let times = |kind| outcome.times(OutcomeClass::Refused, kind).count();
    assert_eq!(times(TimeKind::ResponseTime), 15);
    assert_eq!(times(TimeKind::ServiceTime), 0);

    // In the closed model the pause after each refusal bounds how often a user tries.
    let outcome = run(plan(address));
    let refused = outcome.count(OutcomeClass::Refused);
    assert!((3..=3 * 31).contains(&refused), "{refused}");
}
