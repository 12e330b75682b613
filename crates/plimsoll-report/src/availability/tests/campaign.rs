//! Trials of several faults together, and a year of them.

use super::{settings, trial};
use crate::availability::figures::{Length, outage_figures};
use crate::availability::{FaultInputs, Impact, annual, read_trial, summarise};
use crate::record::metric::Metric;
use crate::record::{
    ArmData, AvailabilitySettings, AvailabilitySummary, FaultFacts, FaultRate, FaultTrial,
    LoadModel, Role, SHAM, TrialOutage, TrialSummary,
};

fn facts(servers: u32, per_year: Option<FaultRate>) -> FaultFacts {
    FaultFacts {
        fault: "crash".to_owned(),
        kind: "kill".to_owned(),
        target: Some("application".to_owned()),
        servers,
        per_year,
    }
}

/// A trial with an outage of so many seconds, of all arrivals.
fn trial_of(fault: &str, number: u32, seconds: f64) -> (FaultTrial, TrialSummary) {
    let row = FaultTrial {
        fault: fault.to_owned(),
        number,
        ..trial()
    };
    let mut read = read_trial(&settings(100.0), &row, &super::even(|_| None));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    let failed = (seconds * 100.0) as u64;
    read.outage = TrialOutage {
        low_s: seconds,
        estimate_s: seconds,
        high_s: seconds,
        lost_s: seconds,
        failed,
        bursts: 1,
        ..TrialOutage::default()
    };
    read.below_resolution = seconds == 0.0;
    (row, read)
}

/// Eighteen trials of one fault and two shams.
pub(super) fn campaign(
    per_year: Option<f64>,
    change: impl Fn(&mut FaultTrial, &mut TrialSummary),
) -> AvailabilitySummary {
    campaign_of(18, per_year.map(FaultRate::Declared), change)
}

/// So many trials of one fault, each of as many seconds as its number says, and two shams.
pub(super) fn campaign_of(
    trials: u32,
    per_year: Option<FaultRate>,
    change: impl Fn(&mut FaultTrial, &mut TrialSummary),
) -> AvailabilitySummary {
    let mut settings = AvailabilitySettings {
        repair_s: Some(1_800.0),
        within_s: Some(31.5),
        ..settings(100.0)
    };
    settings
        .faults
        .insert("application".to_owned(), facts(3, per_year));
    let numbers = 1..=trials + 2;
    let trials = numbers.map(|number| {
        let (fault, seconds) = match number > trials {
            true => (SHAM, 0.0),
            false => ("application", f64::from(number)),
        };
        let (mut row, mut read) = trial_of(fault, number, seconds);
        change(&mut row, &mut read);
        read.void_reasons.clone_from(&row.void);
        read
    });
    summarise(&settings, trials.collect(), 1)
}

#[test]
fn figures_of_a_fault() {
    let found = campaign(Some(1.0), |_, _| ());
    let fault = &found.faults[0];
    let p50 = fault.outage.p50.unwrap();
    assert_eq!((p50.value, p50.low, p50.high), (9.5, Some(5.0), Some(14.0)));
    assert_eq!(
        (fault.outage.p95.unwrap().value, fault.outage.max),
        (18.0, Some(18.0))
    );
    assert_eq!((fault.trials, fault.failed_failovers.count), (18, 0));
    assert!((fault.failed_failovers.high - 0.185).abs() < 5e-4);
    assert_eq!(fault.lost.unwrap().value, 9.5);
    assert!((fault.budget_share.unwrap() - 9.5 / 259.2).abs() < 1e-12);
    assert_eq!((found.sham.trials, found.sham.with_outage), (2, 0));
    assert!(
        fault.sentences[0].contains("18 outages bounds 84.7 % of cases"),
        "{:?}",
        fault.sentences
    );
}

/// A failed failover is no outlier: it counts as an outage, and is priced as a repair in a year.
#[test]
fn failed_void_and_roles() {
    let found = campaign(Some(1.0), |row, read| {
        if row.number == 18 {
            read.failed_failover = true;
        }
        if row.number == 1 {
            row.void.push("a dropped arrival".to_owned());
        }
        read.role = Some(if row.number % 2 == 0 {
            Role::Leader
        } else {
            Role::Follower
        });
    });
    let names: Vec<&str> = found
        .faults
        .iter()
        .map(|fault| fault.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "application",
            "application, leader",
            "application, follower"
        ]
    );
    let fault = &found.faults[0];
    assert_eq!(
        (
            fault.trials,
            fault.void_trials,
            fault.failed_failovers.count
        ),
        (17, 1, 1)
    );
    assert_eq!(
        (fault.outage.max, fault.lost.unwrap().value),
        (Some(18.0), 9.5)
    );
    assert_eq!(found.void_trials.len(), 1);
    assert_eq!((found.faults[1].trials, found.faults[2].trials), (9, 8));
    let annual = found.annual.unwrap();
    let expected = 3.0 * (16.0 / 17.0 * 9.5 + 1_800.0 / 17.0);
    assert!(
        (annual.expected.value - expected).abs() < 1e-9,
        "{annual:?}"
    );
    assert!((annual.lerna.seconds - 3.0 * 10.0).abs() < 1e-9);
    assert_eq!(
        annual.tornado[0].input,
        "application: share that is repaired"
    );
}

#[test]
fn without_rates_there_is_no_year() {
    let found = campaign(None, |_, _| ());
    assert_eq!(found.annual, None);
    assert_eq!(
        found.notes,
        ["nothing is said of a year: `per_year` is not stated for application"]
    );
    let found = campaign(Some(1.0), |row, _| {
        row.void.push("the fault was not proved".to_owned())
    });
    assert_eq!((found.annual, found.faults[0].trials), (None, 0));
}

/// Six faults of which callers always recovered at once.
fn clean(trials: usize, per_year: FaultRate) -> Vec<FaultInputs> {
    let one = |number: u32| FaultInputs {
        name: number.to_string(),
        servers: 1.0,
        per_year,
        lost_s: vec![0.0; trials],
        failed: 0,
        ended_by_heal: 0,
        impact: Impact::WHOLE,
        median_s: 0.0,
    };
    (0..6).map(one).collect()
}

fn year_of(trials: usize, per_year: FaultRate) -> crate::record::Annual {
    let settings = AvailabilitySettings {
        repair_s: Some(1_800.0),
        within_s: Some(31.5),
        ..settings(100.0)
    };
    annual(&settings, &clean(trials, per_year), 1)
}

/// Sixty clean trials each of six faults and half an hour of repair leave 99.999 %.
#[test]
fn clean_trials_leave_much_open() {
    let year = year_of(60, FaultRate::Declared(1.0));
    assert!(
        (year.expected.high - 310.0).abs() < 10.0,
        "{:?}",
        year.expected
    );
    assert_eq!((year.expected.value, year.expected.low), (0.0, 0.0));
    assert!((year.expected.availability_low - 0.999_99).abs() < 1e-6);
    let within = year.year.within.unwrap();
    // Each of six faults fails with an average chance of 1/122.
    assert!(
        (within - (1.0 - 1.0_f64 / 122.0).powi(6)).abs() < 0.01,
        "{within}"
    );
    // With so many trials each the upper end is what was asked for.
    let needed = year.trials_needed.unwrap();
    let after = year_of(
        60 + usize::try_from(needed.of_each).unwrap(),
        FaultRate::Declared(1.0),
    );
    assert!(
        (after.expected.high / 31.5 - 1.0).abs() < 0.08,
        "{needed:?} {:?}",
        after.expected
    );
    // (1 − 31.5/10800)^n = 5 %, less the 360 that were made.
    let pooled = needed.pooled.unwrap();
    assert!(pooled.abs_diff(1_026 - 360) < 10, "{pooled}");
}

/// Trials that are needed are drawn as the upper end is: with a rate that was counted once in two years, and with losses that vary.
#[test]
fn trials_needed_are_drawn_as_the_upper_end_is() {
    let settings = AvailabilitySettings {
        repair_s: Some(1_800.0),
        within_s: Some(60.0),
        ..settings(100.0)
    };
    let year = |trials: usize| {
        let fault = FaultInputs {
            per_year: FaultRate::Counted {
                count: 1,
                years: 2.0,
            },
            lost_s: [2.0, 6.0, 4.0, 12.0].repeat(trials / 4),
            ..clean(0, FaultRate::Declared(1.0)).remove(0)
        };
        annual(&settings, &[fault], 1)
    };
    let needed = year(60).trials_needed.unwrap();
    let more = usize::try_from(needed.of_each).unwrap();
    let after = year(60 + more).expected;
    assert!(
        (after.high / 60.0 - 1.0).abs() < 0.08,
        "{needed:?} {after:?}"
    );
    // Of one fault both are one figure.
    let pooled = needed.pooled.unwrap();
    let off = pooled.abs_diff(needed.of_each) * 100;
    assert!(off < 8 * pooled, "{needed:?}");
}

/// Four in two years are Gamma(4.5, 2): the 95 % point of that is 4.23 a year.
#[test]
fn counted_rates_are_drawn() {
    let year = year_of(
        60,
        FaultRate::Counted {
            count: 4,
            years: 2.0,
        },
    );
    let each = year.expected.by_fault[0].faults_per_year;
    assert!((each - 2.25).abs() < 1e-12);
    let declared = year_of(60, FaultRate::Declared(2.25));
    assert!(year.expected.high > declared.expected.high);
}

#[test]
fn without_repair_abort_is_the_price() {
    let settings = settings(100.0);
    let year = annual(&settings, &clean(60, FaultRate::Declared(1.0)), 1);
    assert!(
        (year.expected.high - 310.0 / 30.0).abs() < 0.5,
        "{:?}",
        year.expected
    );
    assert!(
        year.sentences
            .iter()
            .any(|one| one.contains("`repair` is not stated"))
    );
    assert_eq!((year.trials_needed, year.year.within), (None, None));
}

#[test]
fn thresholds_read_outages() {
    let found = campaign(Some(1.0), |_, _| ());
    let mut arm = crate::summarise::figures(&ArmData::new("a", "t", LoadModel::Open, None));
    arm.availability = Some(found);
    let read = |path: &str| Metric::parse(path).unwrap().read(&arm);
    let p95 = read("availability.faults.application.outage.p95");
    let evidence = p95.percentile.unwrap();
    assert_eq!(
        (p95.value, evidence.count, evidence.low),
        (Some(18.0), 18, Some(15.0))
    );
    let median = read("availability.faults.application.outage.p50");
    assert_eq!(
        (median.value, median.interval),
        (Some(9.5), Some((5.0, 14.0)))
    );
    assert_eq!(
        read("availability.faults.application.failed_failovers.count").value,
        Some(0.0)
    );
    let year = read("availability.annual.expected");
    assert!(year.interval.unwrap().1 > year.value.unwrap());
    assert!(read("availability.annual.year.within").value.is_some());
    assert_eq!(read("availability.faults.other.outage.p95").value, None);
}

/// Trials in which nobody saw anything bound outages from above only.
#[test]
fn an_outage_that_nobody_saw_has_no_lower_end() {
    let unseen = Length {
        low: 0.0,
        estimate: 0.013,
        high: 0.013,
        is_cut_short: false,
    };
    let figures = outage_figures(&[unseen; 59], 1, 0);
    let (p50, p95) = (figures.p50.unwrap(), figures.p95.unwrap());
    assert_eq!([p50.low, p95.low, figures.max_low], [Some(0.0); 3]);
    assert_eq!([p50.high, p95.high, figures.max], [Some(0.013); 3]);
}
