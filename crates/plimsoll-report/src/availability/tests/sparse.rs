//! Failures that come farther apart than `gap`: one outage, or several.

use super::campaign::campaign;
use super::{ENDED, HEAL, Hit, INJECTED, RESET, cell, close, even, read_trial, settings, trial};
use crate::record::TrialSummary;

/// A trial in which the arrivals of these moments fail.
fn failing(moments: &[f64]) -> TrialSummary {
    let exchanges = even(|at| {
        let slot = (at * 100.0).floor();
        let fails = moments
            .iter()
            .any(|moment| (moment * 100.0).round() == slot);
        if fails { RESET } else { None }
    });
    read_trial(&settings(100.0), &trial(), &exchanges)
}

/// One arrival in eighty is hit for five seconds: these failures are all that anybody sees of it.
#[test]
fn few_failures_far_apart_are_one_outage() {
    let found = failing(&[1.7, 2.9, 3.3, 4.6, 5.9, 6.6]);
    let outage = found.outage;
    assert!(outage.is_torn && outage.bursts == 4, "{outage:?}");
    // The bursts alone are certain: 2.9 to 3.3, 5.9 to 6.6.
    close(outage.low_s, 0.4 + 0.7);
    assert!(
        outage.estimate_s > 4.9 && outage.high_s > outage.estimate_s,
        "{outage:?}"
    );
    // Nobody saw more than that.
    assert!(outage.high_s <= ENDED - INJECTED, "{outage:?}");
    assert!(outage.impact.unwrap() < 0.02);
    assert!(!found.below_resolution);
}

/// It reaches into the heal as well as one whose failures are closer: half of what is unknown of its length lies behind the last of them.
#[test]
fn a_sparse_outage_may_last_into_the_heal() {
    let far = failing(&[1.7, 3.2, 4.6, 6.1, 7.5]);
    assert!(far.reaches_into_heal, "{:?}", far.outage);
    // Even ones end within one distance of the last.
    let even = failing(&[1.5, 2.55, 3.6, 4.65, 5.7, 6.75]);
    assert!(
        even.outage.is_torn && !even.reaches_into_heal,
        "{:?}",
        even.outage
    );
}

/// Many failures at once, and some much later: chance leaves no such gap.
#[test]
fn what_chance_would_not_tear_apart_is_several() {
    let burst = |from: u32, many: u32| (0..many).map(move |one| f64::from(from + one) / 100.0);
    let check = |moments: Vec<f64>, bursts: u32, is_torn: bool| {
        let outage = failing(&moments).outage;
        assert_eq!(
            (outage.bursts, outage.is_torn),
            (bursts, is_torn),
            "{outage:?}"
        );
    };
    check(burst(200, 30).chain(burst(400, 20)).collect(), 2, false);
    check(burst(200, 5).chain([4.0]).collect(), 2, false);
    check(burst(200, 2).chain([4.0]).collect(), 2, false);
    // Of so few nobody can tell.
    check(vec![2.0, 2.04, 5.0], 2, false);
    check(vec![2.0, 4.0], 2, false);
    // Five that chance may have torn apart, long after thirty at once.
    let few = [5.0, 5.7, 6.2, 7.4, 7.5];
    check(burst(200, 30).chain(few).collect(), 3, true);
}

/// Four failures of several bursts show no length, and neither do they reach into the heal.
#[test]
fn too_few_of_several_bursts_are_below_resolution() {
    let few = failing(&[2.0, 2.04, 3.6, 5.0]);
    assert!(few.outage.is_unmeasured && few.below_resolution);
    assert!(!few.reaches_into_heal, "{:?}", few.outage);
}

/// Several that only their failures bound are no longer together than anybody looked, and those of the heal no longer than that lasted.
#[test]
fn no_outage_is_longer_than_it_was_looked_for() {
    let several = failing(&[2.0, 2.2, 7.3, 7.5, 7.7]).outage;
    assert!(!several.is_torn && several.bursts == 2, "{several:?}");
    close(several.high_s, ENDED - INJECTED);
    let heal = failing(&[8.2, 8.6, 10.0, 11.2, 12.9, 13.2]).heal_outage;
    assert!(heal.is_torn, "{heal:?}");
    close(heal.high_s, ENDED - HEAL);
}

/// Outages of one caller in a hundred, at random: their intervals hold them.
#[test]
fn sparse_outages_of_known_length() {
    let found = cell(150.0, 5.0, Hit::AtRandom(0.01));
    assert!(found.held >= 0.93, "{found:?}");
    let found = cell(150.0, 5.0, Hit::InTurn(160));
    assert!(found.held >= 0.93, "{found:?}");
}

#[test]
fn it_is_said() {
    let found = campaign(None, |_, read| read.outage.is_torn = read.number < 3);
    let fault = &found.faults[0];
    assert_eq!(fault.torn, 2);
    let said = fault.sentences.iter().find(|one| one.contains("`gap`"));
    assert!(
        said.unwrap()
            .starts_with("in 2 of 18 trials, failures were so few")
    );
}
