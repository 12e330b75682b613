//! Times: a stall of the target shows in full in response times, and once in service times.

use super::rig::{Answer, Server, iterations, open, open_for, plan, run, step};
use crate::plan::{Action, Extract, Pacing, Source, Span};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::GroupTally;
use plimsoll_base::time_kind::TimeKind;
use std::collections::BTreeMap;
use std::time::Duration;

/// One connection, an arrival every 10 ms for a second, and a target that stalls for two after ten of them: whoever comes then waits for
/// the rest of the stall. Only one exchange was slow, yet ninety saw it.
#[test]
fn a_stall_counts_for_everyone_who_came_in_it() {
    let server = Server::start(|number| {
        if number == 10 {
            Answer::After(Duration::from_secs(2))
        } else {
            Answer::Status(200)
        }
    });
    let mut plan = plan(server.address);
    plan.scenarios[0].load = open_for(Duration::from_secs(1), 100.0, 1, 1000);
    plan.duration = Duration::from_secs(5);
    let outcome = run(plan);
    assert_eq!(outcome.count(OutcomeClass::Passed), 100);
    let above = |kind, limit: f64| {
        let times = outcome.times(OutcomeClass::Passed, kind);
        times.count() - times.count_at_most(limit)
    };
    assert_eq!(above(TimeKind::ServiceTime, 1.9), 1);
    // The stall begins 100 ms after the start or later, so whoever came in the rest of the second waited for at least the second after it.
    let waited = above(TimeKind::ResponseTime, 1.0);
    assert!((90..100).contains(&waited), "{waited}");
    let under_way: f64 = outcome
        .measured()
        .map(|fragment| fragment.in_flight_s)
        .sum();
    let sum = |kind| {
        let times = outcome.iteration_times(kind);
        times.mean().unwrap() * 100.0
    };
    let expected =
        sum(TimeKind::IterationTime) - sum(TimeKind::PacingLag) - sum(TimeKind::ConnectionWait);
    assert!(
        (under_way / expected - 1.0).abs() < 0.02,
        "{under_way} {expected}"
    );
    let waits = outcome.iteration_times(TimeKind::ConnectionWait);
    let lag = outcome.iteration_times(TimeKind::PacingLag);
    assert!(waits.max().unwrap() > 1.9);
    assert!(
        waits.mean() > lag.mean(),
        "the stall is the target's, not ours"
    );
}

/// Per exchange, lag, wait, connecting and service make up the response time; so do their sums.
#[test]
fn response_time_is_the_sum_of_its_parts() {
    for pacing in [Pacing::default(), Pacing::Precise] {
        let server = Server::start(|_| Answer::After(Duration::from_millis(3)));
        let mut plan = plan(server.address);
        plan.pacing = pacing;
        plan.scenarios[0].load = open(500.0, 1, 1000);
        let outcome = run(plan);
        let sum = |histogram: plimsoll_base::histogram::TimeHistogram| {
            histogram
                .mean()
                .map_or(0.0, |mean| mean * histogram.count() as f64)
        };
        let response = sum(outcome.times(OutcomeClass::Passed, TimeKind::ResponseTime));
        let parts = sum(outcome.times(OutcomeClass::Passed, TimeKind::ServiceTime))
            + sum(outcome.iteration_times(TimeKind::PacingLag))
            + sum(outcome.iteration_times(TimeKind::ConnectionWait))
            + sum(outcome.iteration_times(TimeKind::ConnectTime));
        assert!(
            (parts / response - 1.0).abs() < 0.01,
            "{pacing:?}: {parts} {response}"
        );
    }
}

/// A group's passes last from the intended start of what it begins with to the end of what it ends with; its response times leave the
/// pauses out. A failed exchange fails every group around it, and an iteration that ends early leaves them.
#[test]
fn groups_are_timed_as_a_whole() {
    let server = Server::start(|number| match number % 3 {
        0 => Answer::After(Duration::from_millis(100)),
        1 => Answer::Status(200),
        _ => Answer::Status(500),
    });
    let mut plan = plan(server.address);
    iterations(&mut plan, 1, 4);
    for name in ["second", "third"] {
        plan.steps.push(step(name));
    }
    // What the third exchange fails to give ends the iteration.
    plan.steps[2].extract = vec![Extract {
        name: "missing".to_owned(),
        from: Source::Header("x-missing".to_owned()),
        default: None,
    }];
    let group = |name: &str, actions| Action::Group {
        name: name.to_owned(),
        actions,
    };
    let pause = Action::Pause(Span::Constant(Duration::from_millis(200)));
    plan.scenarios[0].program = vec![
        group(
            "outer",
            vec![
                group(
                    "well",
                    vec![Action::Step(0), pause.clone(), Action::Step(1)],
                ),
                pause,
                group("ill", vec![Action::Step(2), Action::Step(1)]),
            ],
        ),
        group("never", vec![Action::Step(1)]),
    ];
    let outcome = run(plan);
    let mut groups: BTreeMap<String, GroupTally> = BTreeMap::new();
    for (name, tally) in outcome.measured().flat_map(|fragment| &fragment.groups) {
        groups.entry(name.clone()).or_default().merge(tally);
    }
    let counts: Vec<(&str, u64, u64)> = groups
        .iter()
        .map(|(name, tally)| (name.as_str(), tally.count, tally.failed))
        .collect();
    assert_eq!(
        counts,
        [("outer", 4, 4), ("outer/ill", 4, 4), ("outer/well", 4, 0)]
    );
    let least = |name: &str| {
        let tally = &groups[name];
        (
            tally.duration.min().unwrap(),
            tally.response_time.min().unwrap(),
        )
    };
    // Times are recorded to three digits.
    let (outer, well) = (least("outer"), least("outer/well"));
    assert!(outer.0 > 0.499 && outer.1 > 0.0999, "{outer:?}");
    assert!(well.0 > 0.299 && well.1 > 0.0999, "{well:?}");
    let pauses = groups["outer/well"].duration.mean().unwrap()
        - groups["outer/well"].response_time.mean().unwrap();
    assert!((0.199..0.202).contains(&pauses), "{pauses}");
}

/// Pauses are part of the iteration and of no exchange, wherever they stand: before the first one, between two, and after the last.
#[test]
fn pauses_are_waited_and_are_nobodys_response_time() {
    let server = Server::start(|_| Answer::Status(200));
    let mut plan = plan(server.address);
    let pause = Duration::from_millis(400);
    let (from, to) = (pause, pause * 5 / 4);
    iterations(&mut plan, 1, 1);
    plan.scenarios[0].program = vec![
        Action::Pause(Span::Constant(pause)),
        Action::Step(0),
        Action::Pause(Span::Uniform { from, to }),
        Action::Step(0),
        Action::Pause(Span::Constant(pause)),
    ];
    let outcome = run(plan);
    assert_eq!(outcome.count(OutcomeClass::Passed), 2);
    // What no exchange took are the three pauses, of 1.3 s at most: were one of them part of an exchange, far less would be left.
    let iteration = outcome.iteration_times(TimeKind::IterationTime).mean();
    let response = outcome.times(OutcomeClass::Passed, TimeKind::ResponseTime);
    let pauses = iteration.unwrap() - 2.0 * response.mean().unwrap();
    // Times are recorded to three digits.
    assert!(pauses > 1.198, "{pauses} of {iteration:?}");
}
