//! Loads for which no cause is told: those that were carried, and those of which too little is known.

use super::super::{Case, attribute};
use super::check;
use super::load::{Load, limited, part};
use crate::record::{ArmData, BottleneckConclusion, CauseKind};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;

#[test]
fn what_is_not_known_is_not_guessed() {
    let load = Load {
        // Half of the connections are under way, nobody works, and nothing inside is known.
        service_s: 0.040,
        upstream: None,
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(
        found.conclusion,
        BottleneckConclusion::Unknown,
        "{found:#?}"
    );
    assert_eq!(found.causes, []);
    assert!(found.ruled_out.len() >= 4, "{found:#?}");
}

#[test]
fn a_load_that_was_carried_has_no_cause() {
    let load = Load {
        offered: Some(600.0),
        service_s: 0.006,
        proxy: part(0.4, 1.0),
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(found.conclusion, BottleneckConclusion::NothingGaveWay);
    insta::assert_snapshot!(found.statement, @"Nothing gave way at 600/s: the limit lies higher.");
}

/// A few arrivals of which all were answered are carried, also where the last answer came after the end.
#[test]
fn a_few_arrivals_are_no_shortfall() {
    let few = Load {
        offered: Some(0.8),
        achieved: 0.7,
        ..limited()
    };
    let mut data = few.data();
    (data.intended, data.scheduled, data.sent, data.dropped) = (8, 8, 8, 0);
    let found = attribute(&Case::of_one(&data, 2));
    assert_eq!(
        found.conclusion,
        BottleneckConclusion::NothingGaveWay,
        "{found:#?}"
    );
}

/// A target that fails whatever the load has no limit, and no load that was carried either.
#[test]
fn nothing_is_known_of_a_limit_where_nothing_was_good() {
    let load = Load {
        offered: Some(600.0),
        ..limited()
    };
    let mut data = load.data();
    let step = data.steps.values_mut().next().unwrap();
    step.statuses.clear();
    step.reasons.insert(Reason::Expired, 6_000);
    let all = step.classes.remove(&OutcomeClass::Passed).unwrap();
    step.classes.insert(OutcomeClass::TlsFailed, all);
    let found = attribute(&Case::of_one(&data, 2));
    assert_eq!(found.conclusion, BottleneckConclusion::Unknown);
    insta::assert_snapshot!(found.statement, @"No exchange succeeded, so no limit can be determined: see what failed.");
}

/// A wrong path fails at any rate; a gateway that sheds does not.
#[test]
fn only_failures_that_speak_of_load_are_giving_way() {
    let carried = Load {
        offered: Some(600.0),
        service_s: 0.006,
        ..limited()
    };
    let concluded = |statuses: &[(u16, u64)], class| {
        let mut data = carried.data();
        let step = data.steps.values_mut().next().unwrap();
        step.statuses = statuses.iter().copied().collect();
        let (_, last) = statuses.last().unwrap();
        step.classes.get_mut(&OutcomeClass::Passed).unwrap().count -= last;
        step.classes.entry(class).or_default().count += last;
        attribute(&Case::of_one(&data, 2)).conclusion
    };
    let nothing = BottleneckConclusion::NothingGaveWay;
    assert_eq!(
        concluded(&[(200, 5_000), (404, 1_000)], OutcomeClass::CheckFailed),
        nothing
    );
    for status in [408, 429, 500, 503] {
        let found = concluded(&[(200, 5_900), (status, 100)], OutcomeClass::CheckFailed);
        assert_ne!(found, nothing, "{status}");
    }
    // Who expects it gets what was wanted.
    assert_eq!(concluded(&[(503, 6_000)], OutcomeClass::Passed), nothing);
}

#[test]
fn what_nobody_looked_at_is_said() {
    let mut data = limited().data();
    data.unseen
        .insert("staging".to_owned(), "it runs elsewhere".to_owned());
    let found = attribute(&Case::of_one(&data, 2));
    assert_eq!(found.unseen, ["staging: it runs elsewhere"]);
}

/// All connections wait for answers and everybody who was looked at is idle: who was not looked at may be the one.
#[test]
fn who_was_not_looked_at_is_not_idle() {
    let all_busy = Load {
        achieved: 490.0,
        service_s: 0.102,
        fastest_s: 0.101,
        upstream: None,
        ..limited()
    };
    check(&all_busy, CauseKind::Connections, None);
    let unknown = |data: &ArmData| {
        let found = attribute(&Case::of_one(data, 2));
        assert_eq!(
            found.conclusion,
            BottleneckConclusion::Unknown,
            "{found:#?}"
        );
    };
    let mut elsewhere = all_busy.data();
    elsewhere
        .unseen
        .insert("database".to_owned(), "it runs elsewhere".to_owned());
    unknown(&elsewhere);
    let mut no_target = all_busy.data();
    no_target.components.shift_remove("proxy");
    unknown(&no_target);
    // What looks like a pool of four could be the target's processors.
    let pool = Load {
        achieved: 200.0,
        service_s: 0.25,
        fastest_s: 0.021,
        upstream: Some((200.0, 0.02, 0.02)),
        ..limited()
    };
    let mut no_target = pool.data();
    no_target.components.shift_remove("proxy");
    unknown(&no_target);
}
