//! Trials whose outages would have lasted longer than they were seen: what is said of them, of a year, and of thresholds on them.

use super::campaign::campaign;
use crate::record::metric::Metric;
use crate::record::{
    ArmData, ArmSummary, AvailabilitySummary, FaultRate, LoadModel, RetriedOutage, VerdictResult,
};
use crate::threshold::{Bound, Standing, Threshold, judge};

/// A campaign of eighteen trials, the last of which, of so many seconds as its number says, was ended by the heal.
fn ended_by_heal() -> AvailabilitySummary {
    campaign(Some(1.0), |row, read| {
        read.reaches_into_heal = row.number == 18;
    })
}

#[test]
fn who_came_back_by_the_heal_did_not_recover() {
    let found = ended_by_heal();
    let fault = &found.faults[0];
    assert_eq!(
        (
            fault.failed_failovers.count,
            fault.reached_into_heal,
            fault.ended_by_heal
        ),
        (0, 1, 1)
    );
    // The mean is of the seventeen others.
    assert_eq!((fault.lost.unwrap().value, fault.outage.mean), (9.0, None));
    assert_eq!(fault.outage.max_bounds_share, None);
    assert_eq!(
        fault.sentences[..2],
        [
            "the longest of 18 outages bounds nothing: some would have lasted longer",
            "in 1 of 18 trials callers may have come back only because the fault was healed: how long it lasts otherwise is not known, as `for` was too short",
        ]
    );
    let annual = found.annual.unwrap();
    let expected = 3.0 * (17.0 / 18.0 * 9.0 + 1_800.0 / 18.0);
    assert!(
        (annual.expected.value - expected).abs() < 1e-9,
        "{annual:?}"
    );
    let said = "trials in which callers may have come back only because the fault was healed are priced as failed failovers, as nobody else heals it: 1 of 18 of application";
    assert!(annual.sentences.iter().any(|one| one == said), "{annual:?}");
}

/// A failed failover is no outage of a known length either.
#[test]
fn the_longest_of_outages_that_did_not_end_bounds_nothing() {
    let found = campaign(Some(1.0), |row, read| {
        read.failed_failover = row.number == 18;
        read.reaches_into_heal = row.number == 18;
    });
    let fault = &found.faults[0];
    assert_eq!((fault.failed_failovers.count, fault.ended_by_heal), (1, 0));
    assert_eq!(
        (fault.reached_into_heal, fault.outage.max_bounds_share),
        (1, None)
    );
    assert!(
        !fault
            .sentences
            .iter()
            .any(|one| one.contains("of cases (95 % certain)"))
    );
}

/// The longest is the largest upper end, the median and the p95 are of the best single figures.
#[test]
fn the_longest_is_an_upper_end() {
    let found = campaign(Some(1.0), |row, read| {
        if row.number == 2 {
            read.outage.high_s = 40.0;
        }
    });
    let outage = found.faults[0].outage;
    let p95 = outage.p95.unwrap();
    assert_eq!((outage.max, p95.value, p95.high), (Some(40.0), 18.0, None));
}

/// Half of the callers, by outages of which the upper end is twice the best single figure and the lower end three quarters of it.
#[test]
fn impact_is_over_the_best_single_figure() {
    let of = |lost: f64| {
        campaign(Some(1.0), |_, read| {
            let seconds = read.outage.estimate_s;
            read.outage.low_s = 0.75 * seconds;
            read.outage.high_s = 2.0 * seconds;
            read.outage.lost_s = lost * seconds;
        })
    };
    let half = of(0.5);
    assert!((half.faults[0].impact.unwrap() - 0.5).abs() < 1e-12);
    assert!((of(0.9).faults[0].impact.unwrap() - 0.9).abs() < 1e-12);
    // No trial failed: the upper end is that of q, at most 15 % with 95 %, and prices it at ⅔ of the callers.
    let high = half.annual.unwrap().expected.high;
    let price = |share: f64| 3.0 * (1.0 - 0.05_f64.powf(1.0 / 18.0)) * 1_800.0 * share;
    assert!((price(0.66)..price(0.72)).contains(&high), "{high}");
}

fn judged(found: AvailabilitySummary, figure: &str, bound: Bound) -> (VerdictResult, String) {
    let mut arm: ArmSummary =
        crate::summarise::figures(&ArmData::new("a", "t", LoadModel::Open, None));
    arm.availability = Some(found);
    let path = format!("availability.faults.application.outage.{figure}");
    let threshold = Threshold {
        arm: "a".to_owned(),
        metric: Metric::parse(&path).unwrap(),
        bound,
        abort: None,
    };
    let reading = threshold.metric.read(&arm);
    let found = judge(&threshold, reading, Standing::Sound, None);
    (found.result, found.reason)
}

/// Eighteen trials bound no 95th percentile, sixty do; nothing is bounded where one was cut short. One that is too long is too long anyhow.
#[test]
fn thresholds_want_enough_trials_that_ended() {
    use VerdictResult::{Failed, Inconclusive, Passed};
    let check = |found: AvailabilitySummary, figure: &str, bound: Bound, expected, why: &str| {
        let (result, reason) = judged(found, figure, bound);
        assert_eq!(result, expected, "{reason}");
        assert!(reason.contains(why), "{reason}");
    };
    let few = || campaign(Some(1.0), |_, _| ());
    let many = || super::campaign::campaign_of(60, Some(FaultRate::Declared(1.0)), |_, _| ());
    let cut_short = || {
        super::campaign::campaign_of(60, Some(FaultRate::Declared(1.0)), |row, read| {
            read.reaches_into_heal = row.number == 3;
        })
    };
    for figure in ["p95", "max"] {
        check(
            few(),
            figure,
            Bound::Below(30.0),
            Inconclusive,
            "n = 18 is too small: the p95 needs at least 59",
        );
        check(few(), figure, Bound::Below(5.0), Failed, "not below 5.00 s");
        check(many(), figure, Bound::Below(61.0), Passed, "below 61.0 s");
        let why = "in 1 of 60 trials callers had not recovered by themselves";
        check(cut_short(), figure, Bound::Below(61.0), Inconclusive, why);
        check(cut_short(), figure, Bound::Below(5.0), Failed, "at least");
    }
    let why = "its interval straddles the limit";
    check(many(), "p95", Bound::Below(58.0), Inconclusive, why);
    check(
        cut_short(),
        "p50",
        Bound::Below(61.0),
        Inconclusive,
        "recovered by themselves",
    );
    check(
        cut_short(),
        "mean",
        Bound::Below(61.0),
        Inconclusive,
        "has no sample",
    );
}

/// A client that tries again is held against one that does not over the same trials: those from which callers recovered by themselves.
#[test]
fn who_tries_again_loses_less_of_the_same_trials() {
    let found = campaign(Some(1.0), |row, read| {
        read.reaches_into_heal = row.number == 18;
        read.heal_outage.lost_s = 1.0;
        read.retried = Some(RetriedOutage {
            failed: 200,
            lost_s: 2.0,
        });
    });
    let fault = &found.faults[0];
    assert_eq!(fault.retried_lost_s, Some(2.0));
    assert_eq!(fault.unretried_lost_s, Some(9.0 + 1.0));
    let said = |text: &str| fault.sentences.iter().any(|one| one.contains(text));
    assert!(said(
        "would lose 2.00 s against 10.0 s without trying again, on average where callers recover by themselves"
    ));
    assert!(said(
        "an outage from which callers recover by themselves uses"
    ));
}
