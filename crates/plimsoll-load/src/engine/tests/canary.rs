//! The canary: a part of the plan's own load on a thread of its own, which does not wait behind the others' exchanges.

use super::rig::{Answer, Outcome, Server, count, open, open_for, plan, run};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use std::time::Duration;

#[test]
fn the_lookout_takes_over_a_part_of_the_load_and_adds_none() {
    let server = Server::start(|number| Answer::Status(if number % 2 == 0 { 200 } else { 503 }));
    let mut plan = plan(server.address);
    plan.shards = 2;
    plan.scenarios[0].load = open_for(Duration::from_millis(2_200), 5_000.0, 40, 11_000);
    plan.warmup = Duration::from_millis(200);
    let outcome = server.run_until_received(plan, 11_000);
    let (warmup, measured) = (&outcome.accounts.warmup, &outcome.accounts.measured);
    assert_eq!((warmup.sent, measured.sent), (1_000, 10_000));
    assert_eq!(server.requests(), 11_000);
    assert_eq!(server.connections(), 40);
    let canary = outcome.canary();
    // Of its 50 the good answers, like those of the shards that they are held against.
    assert!((1..50).contains(&canary.count()), "{}", canary.count());
    let answered = [OutcomeClass::Passed, OutcomeClass::CheckFailed];
    assert_eq!(
        answered
            .map(|class| count(measured, class))
            .iter()
            .sum::<u64>(),
        10_000
    );
    let warm = outcome.fragments.iter().filter(|fragment| fragment.warmup);
    let warm = warm.filter_map(|fragment| fragment.canary.as_ref());
    assert!(warm.map(TimeHistogram::count).sum::<u64>() <= 5);
}

/// Where the target never answers, the canary's arrivals wait, are dropped and are accounted for like any other's.
#[test]
fn the_lookout_waits_for_the_target_like_everyone() {
    let server = Server::start(|_| Answer::Never);
    let mut plan = plan(server.address);
    plan.scenarios[0].load = open(20_000.0, 20, 400);
    plan.duration = Duration::from_millis(500);
    plan.timeout = Duration::from_secs(4);
    let outcome = run(plan);
    let measured = &outcome.accounts.measured;
    assert_eq!(
        (measured.intended, measured.sent, measured.unstarted),
        (10_000, 20, 400)
    );
    assert_eq!(server.requests(), 20);
    assert_eq!(outcome.canary().count(), 1, "its exchange timed out");
}

/// Answers that take the generator far longer to read than the server to write, at a rate at which one thread falls behind: its 149 users
/// wait for each other there, and the canary for none of them.
#[test]
fn what_queues_in_the_generator_does_not_queue_for_the_lookout() {
    let server = Server::start(|_| Answer::Crumbs);
    let mut plan = plan(server.address);
    plan.scenarios[0].load = open(50_000.0, 150, 10_000);
    plan.duration = Duration::from_secs(2);
    let outcome = run(plan);
    let canary = outcome.canary();
    let all = outcome.times(OutcomeClass::Passed, TimeKind::ServiceTime);
    let (own, all) = (canary.quantile(0.5).unwrap(), all.quantile(0.9).unwrap());
    assert!(all > 5.0 * own, "all {all} s, canary {own} s");
}

impl Outcome {
    /// All service times of the canary on the measured side.
    fn canary(&self) -> TimeHistogram {
        let mut all = TimeHistogram::new();
        let seen = self.measured().filter_map(|f| f.canary.as_ref());
        seen.for_each(|times| all.merge(times));
        all
    }
}
