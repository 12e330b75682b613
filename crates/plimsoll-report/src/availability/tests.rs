//! Trials with outages of known length, and of none.

mod campaign;
mod cut_short;
mod heal;
mod sparse;

use super::answers::answers;
use super::read_trial;
use super::recovery::{baseline, first_settled};
use crate::record::{
    AvailabilitySettings, ControlFigures, FaultTrial, Retries, SingleExchange, TrialSummary,
};
use indexmap::IndexMap;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::random::{Draw, Stream};
use std::collections::BTreeMap;

const MEASURED: f64 = 0.5;
const INJECTED: f64 = 1.5;
const HEAL: f64 = 8.0;
const ENDED: f64 = 15.0;
/// Trials of each cell.
const RUNS: u32 = 60;
/// Deadline of every trial.
const DEADLINE: f64 = 1.0;

fn settings(rate_per_s: f64) -> AvailabilitySettings {
    AvailabilitySettings {
        rate_per_s,
        deadline_s: DEADLINE,
        slow_s: 0.5,
        gap_s: 1.0,
        settle_s: 5.0,
        abort_s: 60.0,
        repair_s: None,
        within_s: None,
        retries: None,
        faults: IndexMap::new(),
    }
}

fn trial() -> FaultTrial {
    FaultTrial {
        number: 1,
        arm: "a".to_owned(),
        round: 1,
        fault: "crash".to_owned(),
        victim: None,
        role: None,
        measured: MEASURED,
        injected: INJECTED,
        proved: Some(INJECTED + 0.1),
        heal_begun: HEAL,
        healed: Some(HEAL + 0.5),
        ended: ENDED,
        pacing_lag_p999_s: 0.0,
        longest_stall_s: 0.0,
        control: ControlFigures::default(),
        void: Vec::new(),
    }
}

/// Which arrivals an outage hits.
#[derive(Debug, Clone, Copy)]
enum Hit {
    /// Each with this chance.
    AtRandom(f64),
    /// One of so many, in turn.
    InTurn(u64),
}

/// One arrival at a random moment of each slot; those that are hit within `outage` fail.
fn slots(rate: f64, outages: &[(f64, f64)], hit: Hit, draw: &mut Draw) -> Vec<SingleExchange> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "slots and microseconds of a short load"
    )]
    let exchanges = (0..(ENDED * rate) as u64).map(|slot| {
        let at = (slot as f64 + draw.unit()) / rate;
        let is_hit = match hit {
            Hit::AtRandom(share) => draw.unit() < share,
            Hit::InTurn(one_of) => slot % one_of == 0,
        };
        let is_down = outages.iter().any(|(from, to)| (*from..*to).contains(&at));
        SingleExchange {
            intended_us: (at * 1e6) as u64,
            response_us: 2_000,
            late_us: 0,
            sent_us: Some(0),
            class: match is_hit && is_down {
                true => OutcomeClass::Reset,
                false => OutcomeClass::Passed,
            },
            status: None,
            reason: None,
            step: 0,
            extracted: BTreeMap::new(),
        }
    });
    exchanges.collect()
}

/// Results of one cell over its trials.
#[derive(Debug, Default)]
struct Cell {
    told: f64,
    held: f64,
    width: f64,
    lost: f64,
    estimate: f64,
}

fn cell(rate: f64, seconds: f64, hit: Hit) -> Cell {
    let mut cell = Cell::default();
    for run in 0..RUNS {
        let mut draw = Draw::new(27, Stream::Arrivals, u64::from(run));
        let from = INJECTED + 0.2 + draw.unit();
        let exchanges = slots(rate, &[(from, from + seconds)], hit, &mut draw);
        let read = read_trial(&settings(rate), &trial(), &exchanges);
        let outage = read.outage;
        cell.lost += outage.lost_s / f64::from(RUNS);
        if read.below_resolution {
            continue;
        }
        cell.told += 1.0;
        // Intended starts are whole microseconds.
        let holds = outage.low_s <= seconds + 2e-6 && seconds <= outage.high_s + 2e-6;
        cell.held += f64::from(u8::from(holds));
        cell.width += outage.high_s - outage.low_s;
        cell.estimate += outage.estimate_s;
    }
    cell.held /= cell.told;
    cell.width /= cell.told;
    cell.estimate /= cell.told;
    cell
}

/// The mean width of an interval that rests on a handful of failures, in mean distances of those that are hit.
const WIDEST_OF_FEW: f64 = 14.0;

/// Outages that are longer than the resolution of those they hit: their interval holds them, lost-request seconds are unbiased.
#[test]
fn outages_of_known_length() {
    let check = |hit: Hit, share: f64, held: f64, widest: f64| {
        for rate in [150.0, 1_000.0] {
            for seconds in [0.01, 0.05, 0.2, 1.0, 5.0] {
                let hits = rate * share * seconds;
                let cell = cell(rate, seconds, hit);
                let place = format!("{hit:?}, {rate}/s, {seconds} s: {cell:?}");
                let deviation = 5.0 * (hits / f64::from(RUNS)).sqrt() / rate;
                assert!(
                    (cell.lost - seconds * share).abs() <= deviation.max(1e-3 * seconds),
                    "{place}"
                );
                if hits < 5.0 {
                    continue;
                }
                assert!(cell.held >= held, "{place}");
                // Of few gaps nobody can tell whether they are even.
                let widest = if hits < 8.0 {
                    widest.max(WIDEST_OF_FEW)
                } else {
                    widest
                };
                assert!(cell.width * rate * share <= widest, "{place}");
            }
        }
    };
    // Two gaps of which each holds a given moment are 7/6 units long on average.
    check(Hit::AtRandom(1.0), 1.0, 1.0, 2.6);
    check(Hit::InTurn(3), 1.0 / 3.0, 0.98, 2.5);
    check(Hit::InTurn(9), 1.0 / 9.0, 0.98, 2.5);
    // Those at random lie farther from the ends: mean distances to both are two units, and 98 of 100 lie within 5.8.
    check(Hit::AtRandom(1.0 / 3.0), 1.0 / 3.0, 0.93, 14.0);
    check(Hit::AtRandom(1.0 / 9.0), 1.0 / 9.0, 0.93, 14.0);
}

/// From when on everything was settled between two moments.
fn recovered(
    settings: &AvailabilitySettings,
    baseline: Option<f64>,
    window: (f64, f64),
    exchanges: &[SingleExchange],
) -> Option<f64> {
    first_settled(settings, baseline, window, &answers(settings, exchanges))
}

/// All arrivals of a trial at 100/s, every one in the middle of its slot; `changed` may make another of each by its intended start.
fn even(mut changed: impl FnMut(f64) -> Option<(OutcomeClass, u64)>) -> Vec<SingleExchange> {
    let every = (0..1_500_u32).map(|slot| {
        let intended_us = u64::from(slot) * 10_000 + 5_000;
        let at = f64::from(slot) / 100.0 + 0.005;
        let (class, response_us) = changed(at).unwrap_or((OutcomeClass::Passed, 2_000));
        SingleExchange {
            intended_us,
            response_us,
            late_us: 0,
            sent_us: Some(0),
            class,
            status: None,
            reason: None,
            step: 0,
            extracted: BTreeMap::new(),
        }
    });
    every.collect()
}

fn read(changed: impl Fn(f64) -> Option<(OutcomeClass, u64)>) -> TrialSummary {
    read_trial(&settings(100.0), &trial(), &even(changed))
}

fn close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-6, "{actual}, not {expected}");
}

const RESET: Option<(OutcomeClass, u64)> = Some((OutcomeClass::Reset, 1_000));

#[test]
fn nothing_broken_is_no_outage() {
    let sham = read(|_| None);
    assert!(!sham.outage.is_any() && !sham.heal_outage.is_any());
    assert!(sham.below_resolution && !sham.failed_failover && !sham.unhealthy_before);
    close(sham.resolution_s, 0.02);
    close(sham.failed_over_s.unwrap(), 0.0);
    close(sham.recovered_s.unwrap(), HEAL + 0.5 - INJECTED);
    assert_eq!(sham.exchanges, 1_450);
    assert!(sham.stall_s < 0.011, "{}", sham.stall_s);
}

#[test]
fn an_outage_and_its_moments() {
    let found = read(|at| {
        if (1.6..2.1).contains(&at) {
            RESET
        } else {
            None
        }
    });
    let outage = found.outage;
    close(outage.low_s, 0.49);
    close(outage.high_s, 0.51);
    close(outage.lost_s, 0.5);
    close(outage.impact.unwrap(), 1.0);
    assert_eq!((outage.failed, outage.bursts), (50, 1));
    close(outage.first_s.unwrap(), 0.105);
    close(found.failed_over_s.unwrap(), 0.605);
    assert!(!found.heal_outage.is_any() && !found.below_resolution);
    let course = &found.course;
    assert_eq!(course.failed.iter().sum::<u32>(), 50);
    assert_eq!(course.good.iter().sum::<u32>(), 1_400);
    assert!(course.good.len() <= 120, "{}", course.good.len());
}

/// Arrivals that were released late met the target later than they were meant to: the ends of an outage take that in, and no other lateness.
#[test]
fn lateness_at_the_ends_widens_an_outage() {
    let is_down = |at: f64| (1.6..2.1).contains(&at);
    let check = |late: &[(f64, u64)], low: f64, high: f64| {
        let mut exchanges = even(|at| if is_down(at) { RESET } else { None });
        for (at, late_us) in late {
            let place = exchanges.partition_point(|one| one.intended_s() < *at);
            exchanges[place].late_us = *late_us;
        }
        let outage = read_trial(&settings(100.0), &trial(), &exchanges).outage;
        close(outage.low_s, low);
        close(outage.high_s, high);
    };
    check(&[], 0.49, 0.51);
    check(
        &[(1.2, 500_000), (1.8, 500_000), (2.5, 500_000)],
        0.49,
        0.51,
    );
    // The first that failed, and the first good one after.
    check(&[(1.601, 30_000), (2.101, 40_000)], 0.46, 0.55);
    // The last good one before, and the last that failed: neither end may be drawn in.
    check(&[(1.591, 9_000), (2.091, 9_000)], 0.49, 0.51);
}

/// A request met whatever was gone when it began to be sent, or its connection was refused, and no earlier than it was released.
#[test]
fn an_outage_is_met_between_release_and_sending() {
    let is_down = |at: f64| (1.6..2.1).contains(&at);
    let check = |at: f64, change: fn(&mut SingleExchange), low: f64, high: f64| {
        let mut exchanges = even(|at| if is_down(at) { RESET } else { None });
        let place = exchanges.partition_point(|one| one.intended_s() < at);
        change(&mut exchanges[place]);
        let outage = read_trial(&settings(100.0), &trial(), &exchanges).outage;
        close(outage.low_s, low);
        close(outage.high_s, high);
    };
    // The first that failed, and the first good one after.
    check(1.601, |one| one.sent_us = Some(4_000), 0.486, 0.51);
    check(2.101, |one| one.sent_us = Some(1_500), 0.49, 0.5115);
    // Refused after 1 ms, and silence from its release on.
    check(1.601, |one| one.sent_us = None, 0.489, 0.51);
    let silent: fn(&mut SingleExchange) = |one| {
        (one.sent_us, one.class) = (None, OutcomeClass::TimedOut);
    };
    check(1.601, silent, 0.49, 0.51);
    // Neither end is drawn in.
    check(1.591, |one| one.sent_us = Some(1_500), 0.49, 0.51);
    check(2.091, |one| one.sent_us = Some(1_500), 0.49, 0.51);
}

/// A third is hit from 1.6 s on. From 2.0 to 2.3 s the generator stood still, in which the outage ended: nobody failed any more.
#[test]
fn lateness_behind_a_partial_outage_widens_it() {
    let outage = |late: bool| {
        let mut slot = 0_u32;
        let mut exchanges = even(|at| {
            slot += 1;
            let is_hit = slot.is_multiple_of(3) && (1.6..2.0).contains(&at);
            is_hit.then_some((OutcomeClass::Reset, 1_000))
        });
        for one in exchanges.iter_mut().filter(|_| late) {
            if (2_000_000..2_300_000).contains(&one.intended_us) {
                one.late_us = 2_300_000 - one.intended_us;
            }
        }
        read_trial(&settings(100.0), &trial(), &exchanges).outage
    };
    assert!(outage(false).high_s < 0.5, "{:?}", outage(false));
    assert!(outage(true).high_s > 0.69, "{:?}", outage(true));
    close(outage(true).low_s, outage(false).low_s);
}

/// Failures before the injection, of the fault, into the heal, and of the heal.
#[test]
fn whose_a_burst_is() {
    let before = read(|at| {
        if (0.7..0.8).contains(&at) {
            RESET
        } else {
            None
        }
    });
    assert!(before.unhealthy_before && !before.outage.is_any());
    let warm_up = read(|at| if at < 0.3 { RESET } else { None });
    assert!(!warm_up.unhealthy_before);
    let heal = read(|at| {
        if (8.1..8.3).contains(&at) {
            RESET
        } else {
            None
        }
    });
    assert!(!heal.outage.is_any() && !heal.reaches_into_heal);
    close(heal.heal_outage.lost_s, 0.2);
    let into = read(|at| {
        if (7.8..8.3).contains(&at) {
            RESET
        } else {
            None
        }
    });
    assert!(into.reaches_into_heal && !into.heal_outage.is_any());
    close(into.outage.lost_s, 0.5);
    // Exchanges that hung when the service was back fail while it is healed, but came before: callers had recovered.
    let silent = |at: f64| {
        (6.5..7.8)
            .contains(&at)
            .then_some((OutcomeClass::TimedOut, 1_000_000))
    };
    let hung = read(silent);
    assert!(!hung.reaches_into_heal && hung.outage.failed == 130);
    let apart = read(
        |at| match (2.0..2.5).contains(&at) || (4.0..4.2).contains(&at) {
            true => RESET,
            false => None,
        },
    );
    assert_eq!(apart.outage.bursts, 2);
    close(apart.outage.low_s, 0.49 + 0.19);
}

/// Late answers are failed at the deadline whatever the timeout is, and slow before; what we ended ourselves is nothing until then.
#[test]
fn failed_slow_and_nothing() {
    let class = |class: OutcomeClass, response_us: u64| {
        let found = read(|at| (2.0..3.0).contains(&at).then_some((class, response_us)));
        let slow: u32 = found.course.slow.iter().sum();
        (found.outage.failed, slow, found.exchanges)
    };
    assert_eq!(class(OutcomeClass::Passed, 1_000_001), (100, 0, 1_450));
    assert_eq!(class(OutcomeClass::Passed, 600_000), (0, 100, 1_450));
    assert_eq!(class(OutcomeClass::Aborted, 600_000), (0, 0, 1_350));
    assert_eq!(class(OutcomeClass::Aborted, 1_200_000), (100, 0, 1_450));
    assert_eq!(class(OutcomeClass::CheckFailed, 1_000), (100, 0, 1_450));
    // A silence completes nothing, though deadlines pass.
    let silent = read(|at| {
        (2.0..4.0)
            .contains(&at)
            .then_some((OutcomeClass::TimedOut, 1_000_000))
    });
    close(silent.stall_s, 2.01);
}

#[test]
fn recovery_needs_a_quiet_time() {
    let settings = settings(100.0);
    let slow_until_five = even(|at| (at < 5.0).then_some((OutcomeClass::Passed, 700_000)));
    let found =
        |baseline, since, until| recovered(&settings, baseline, (since, until), &slow_until_five);
    close(found(None, 1.0, 14.0).unwrap(), 5.005 - 0.05);
    // Three times the p99 of before is more than `slow`.
    close(found(Some(0.3), 1.0, 14.0).unwrap(), 1.0);
    assert_eq!(found(None, 1.0, 9.9), None);
    assert_eq!(baseline(&slow_until_five, (0.0, 1.0)), Some(0.7));
    assert_eq!(baseline(&slow_until_five, (1.0, 1.0)), None);
    let never = read(|at| if at > 2.0 { RESET } else { None });
    assert!(never.failed_failover && never.reaches_into_heal && never.recovered_s.is_none());
}

/// Trying again after 0.3 s: of an outage of half a second the first 0.2 s fail again, at any number of attempts until it is over.
#[test]
fn one_who_tries_again() {
    let failed = |times| {
        let settings = AvailabilitySettings {
            retries: Some(Retries {
                times,
                after_s: 0.3,
            }),
            ..settings(100.0)
        };
        let exchanges = even(|at| {
            if (2.0..2.5).contains(&at) {
                RESET
            } else {
                None
            }
        });
        let read = read_trial(&settings, &trial(), &exchanges);
        read.retried.unwrap().failed
    };
    assert_eq!((failed(0), failed(1), failed(2)), (50, 20, 0));
}
