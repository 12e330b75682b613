//! Verdicts of trials of faults.

use super::*;
use crate::fixture;

/// Outages, deaths and nothing but failures are what trials of faults are for; only a fault of which no trial counts leaves nothing to say.
#[test]
fn trials_of_faults() {
    let failing = || {
        let mut data = block("a", 10, 1_000);
        let step = data.steps.get_mut("s").unwrap();
        let class = step.classes.remove(&OutcomeClass::Passed).unwrap();
        step.classes.insert(OutcomeClass::Refused, class);
        step.statuses.clear();
        data
    };
    let mut facts = facts("e");
    facts.deaths = vec!["api died".to_owned()];
    let found = fixture::AVAILABILITY.summary.arms["direct"]
        .availability
        .clone();
    let summary = |found: AvailabilitySummary, thresholds: &[Threshold]| {
        let method = Method::Availability([("a".to_owned(), found)].into());
        summarise(&facts, &method, &[arm("a", [failing()])], thresholds)
    };
    let found = found.unwrap();
    let passed = summary(found.clone(), &[]);
    check(
        &passed,
        VerdictResult::Passed,
        0,
        "a: at most 1520 s a year are expected (95 % certain): 99.99518 % in service",
    );
    assert_eq!(passed.validity.len(), 1);
    let median = "availability.faults.load balancer.outage.p50";
    let above = [threshold("a", median, Bound::Below(1.0))];
    assert_eq!(
        summary(found.clone(), &above).verdict.result,
        VerdictResult::Failed
    );
    let mut none = found;
    none.faults[1].trials = 0;
    check(
        &summary(none, &[]),
        VerdictResult::Invalid,
        4,
        "a: criterion 17, faults without a trial that counts: Nothing is known of `application`: no trial counts. The last one: the control load was silent for 63 ms.",
    );
}
