//! Counts: equal on both sides of the socket, and exact in every phase.

use super::rig::{Answer, LONG, Server, count, iterations, open, open_for, plan, run, step};
use crate::fragment::Fragment;
use crate::plan::{Action, ConnectionPolicy, Load, Profile};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use std::time::Duration;

#[test]
fn an_open_load_sends_its_schedule_and_the_server_gets_it() {
    for shards in [1, 2] {
        let server = Server::start(|_| Answer::Status(200));
        let mut plan = plan(server.address);
        plan.shards = shards;
        plan.scenarios[0].load = open_for(Duration::from_millis(400), 1000.0, 4, 1000);
        plan.warmup = Duration::from_millis(100);
        let outcome = server.run_until_received(plan, 400);
        let (warmup, measured) = (&outcome.accounts.warmup, &outcome.accounts.measured);
        assert_eq!((warmup.intended, measured.intended), (100, 300));
        assert_eq!((warmup.sent, measured.sent), (100, 300));
        let due = outcome.measured().filter_map(|fragment| fragment.due);
        assert_eq!(due.sum::<u64>(), 300);
        assert_eq!(
            count(warmup, OutcomeClass::Passed) + count(measured, OutcomeClass::Passed),
            400
        );
        assert_eq!(server.requests(), 400);
        assert_eq!(server.connections(), 4);
        for kind in [
            TimeKind::IterationTime,
            TimeKind::PacingLag,
            TimeKind::ConnectionWait,
        ] {
            assert_eq!(outcome.iteration_times(kind).count(), 300, "{kind:?}");
        }
    }
}

#[test]
fn a_closed_load_counts_what_the_server_counts() {
    let server = Server::start(|number| Answer::Status(if number % 10 == 9 { 404 } else { 200 }));
    let outcome = run(plan(server.address));
    let measured = &outcome.accounts.measured;
    assert_eq!(measured.sent, server.requests());
    assert_eq!(measured.intended, measured.sent);
    assert_eq!(
        outcome.count(OutcomeClass::CheckFailed),
        server.requests() / 10
    );
    let bytes: u64 = outcome
        .measured()
        .map(|fragment| fragment.steps[0].bytes_received)
        .sum();
    assert_eq!(bytes, 2 * server.requests());
}

/// Users that think start spread over one think time, and each goes round once per think time and service time, at most.
#[test]
fn closed_users_go_round_once_per_think_time() {
    let server = Server::start(|_| Answer::Status(200));
    let mut plan = plan(server.address);
    plan.duration = Duration::from_secs(3);
    plan.scenarios[0].load = Load::closed(10, Duration::from_secs(1), plan.duration);
    let sent = run(plan).accounts.measured.sent;
    assert!((10..=30).contains(&sent), "{sent}");
}

#[test]
fn a_staircase_offers_its_levels() {
    let server = Server::start(|_| Answer::Status(200));
    let mut plan = plan(server.address);
    plan.duration = Duration::from_secs(2);
    let staircase = Profile::Staircase {
        from: 50.0,
        step: 100.0,
        every: Duration::from_secs(1),
    };
    plan.scenarios[0].load = Load::open(vec![staircase.lasting(plan.duration)], 4, 100);
    let outcome = run(plan);
    let offered: Vec<u64> = outcome.measured().map(|f| f.intended).collect();
    assert_eq!(offered.iter().sum::<u64>(), 200);
    // Where this host is slow, arrivals of one second are released in the next; but none comes early.
    assert!((1..=50).contains(&offered[0]), "{offered:?}");
    let length: f64 = outcome.measured().map(|f| f.length_s).sum();
    assert_eq!(length, 2.0);
}

#[test]
fn every_exchange_may_have_its_own_connection() {
    let server = Server::start(|_| Answer::Status(200));
    let mut plan = plan(server.address);
    plan.connections.policy = ConnectionPolicy::PerExchange;
    iterations(&mut plan, 4, 60);
    let outcome = run(plan);
    assert_eq!(server.connections(), 60);
    assert_eq!(outcome.count(OutcomeClass::Passed), 60);
    assert_eq!(outcome.iteration_times(TimeKind::ConnectTime).count(), 60);
    let closed = outcome.measured().last().unwrap();
    assert_eq!(closed.connections, 0);
}

#[test]
fn a_connection_closed_while_idle_is_replaced_before_sending() {
    let server = Server::start(|_| Answer::ThenClose);
    let mut plan = plan(server.address);
    iterations(&mut plan, 1, 15);
    plan.scenarios[0].load = Load::closed(1, Duration::from_millis(100), LONG);
    let outcome = run(plan);
    let passed = outcome.count(OutcomeClass::Passed);
    // On a slow host a request may go out before the close is seen; that exchange is lost, and not tried again.
    let lost = outcome.count(OutcomeClass::Reset) + outcome.count(OutcomeClass::Closed);
    assert_eq!(passed + lost, 15);
    assert_eq!(passed, server.requests());
    let sum = |count: fn(&Fragment) -> u64| outcome.measured().map(count).sum::<u64>();
    let (connected, reconnected) = (sum(|f| f.connected), sum(|f| f.reconnected));
    assert_eq!(connected, passed, "each carried one answer");
    assert!(
        reconnected >= 1 && reconnected + lost <= 14,
        "{reconnected}, {lost}"
    );
}

#[test]
fn steps_follow_each_other_and_are_counted_apart() {
    let server = Server::start(|_| Answer::Status(200));
    let mut plan = plan(server.address);
    iterations(&mut plan, 2, 15);
    plan.steps.push(step("second"));
    plan.scenarios[0].program.push(Action::Step(1));
    plan.steps[1].pause = crate::plan::Span::Constant(Duration::from_millis(5));
    plan.steps[1].check.status = Some(vec![201]);
    let outcome = run(plan);
    assert_eq!(server.requests(), 30);
    let steps = &outcome.accounts.measured.steps;
    assert_eq!((steps[0].sent, steps[1].sent), (15, 15));
    assert_eq!(steps[1].classes.get(&OutcomeClass::CheckFailed), Some(&15));
    let failed: u64 = outcome
        .measured()
        .map(|f| f.steps[1].checks["status"].failed)
        .sum();
    assert_eq!(failed, 15);
    let iterations = outcome.iteration_times(TimeKind::IterationTime);
    assert!(iterations.min().unwrap() >= 0.005);
}

#[test]
fn arrivals_beyond_the_queue_are_dropped_and_so_are_those_that_never_got_a_user() {
    let server = Server::start(|_| Answer::Never);
    let mut plan = plan(server.address);
    plan.scenarios[0].load = open(100.0, 2, 5);
    plan.timeout = Duration::from_secs(4);
    let outcome = run(plan);
    let measured = &outcome.accounts.measured;
    assert_eq!(
        (measured.intended, measured.sent, measured.dropped),
        (30, 2, 28)
    );
    assert_eq!(measured.unstarted, 5);
    assert_eq!(outcome.count(OutcomeClass::TimedOut), 2);
    assert_eq!(server.requests(), 2);
}

#[test]
fn a_stopped_load_keeps_what_it_measured() {
    let server = Server::start(|number| {
        if number < 50 {
            Answer::Status(200)
        } else {
            Answer::Never
        }
    });
    let outcome = server.run_until_received(plan(server.address), 53);
    assert!(outcome.accounts.stopped);
    assert!(outcome.accounts.ended_s < LONG.as_secs_f64());
    assert_eq!(outcome.count(OutcomeClass::Passed), 50);
    assert_eq!(outcome.count(OutcomeClass::Aborted), 3);
    let length: f64 = outcome.measured().map(|f| f.length_s).sum();
    assert!((length - outcome.accounts.ended_s).abs() < 1e-9);
}
