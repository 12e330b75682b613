//! Outages around the heal: whose they are, and whether callers had recovered before it.

use super::{DEADLINE, ENDED, INJECTED, RESET, close, even, recovered, settings, trial};
use crate::availability::read_trial;
use crate::record::{AvailabilitySettings, FaultTrial, TrialSummary};
use plimsoll_base::outcome_class::OutcomeClass;

/// Reads a trial that is healed at `heal_begun`.
fn healed_at(
    heal_begun: f64,
    changed: impl Fn(f64) -> Option<(OutcomeClass, u64)>,
) -> TrialSummary {
    let row = FaultTrial {
        heal_begun,
        healed: Some(heal_begun + 0.01),
        ..trial()
    };
    read_trial(&settings(100.0), &row, &even(changed))
}

/// A caller who hangs from this moment on, and is answered at `until` or gives up at the deadline.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "microseconds of a short load"
)]
fn hangs(at: f64, until: f64) -> Option<(OutcomeClass, u64)> {
    match until - at <= DEADLINE {
        true => Some((OutcomeClass::Passed, ((until - at) * 1e6).round() as u64)),
        false => Some((OutcomeClass::TimedOut, 1_000_000)),
    }
}

/// Callers of a silence that is shorter than the deadline fail when it is over.
#[test]
fn a_silence_within_the_deadline_is_the_faults() {
    let found = healed_at(2.2, |at| {
        let is_silent = (INJECTED..2.2).contains(&at);
        is_silent.then_some((OutcomeClass::TimedOut, 1_000_000))
    });
    assert_eq!((found.outage.failed, found.heal_outage.failed), (70, 0));
    assert!(found.reaches_into_heal && found.failed_over_s.is_none());
}

/// Of a frozen component those who came within the deadline of the heal are answered: nobody had recovered by themselves.
#[test]
fn answers_that_the_heal_brought_are_no_recovery() {
    for share_of in [1, 2] {
        let mut number = 0;
        let exchanges = even(|at| {
            number += 1;
            let is_hit = number % share_of == 0 && (INJECTED..8.0).contains(&at);
            is_hit.then(|| hangs(at, 8.0)).flatten()
        });
        let found = read_trial(&settings(100.0), &trial(), &exchanges);
        assert!(
            found.outage.is_any() && found.reaches_into_heal,
            "{share_of}"
        );
        assert_eq!(found.failed_over_s, None, "{share_of}");
    }
    // Others took over two seconds before: one who is slow across the heal tells nothing.
    let found = healed_at(8.0, |at| match at {
        at if (INJECTED..6.0).contains(&at) => RESET,
        at if (7.7..7.71).contains(&at) => hangs(at, 8.1),
        _ => None,
    });
    assert!(!found.reaches_into_heal);
    close(found.failed_over_s.unwrap(), 6.005 - INJECTED);
}

/// One who was under way when the heal began, and no longer than is usual, was hit by it.
#[test]
fn a_heal_hits_who_is_under_way() {
    let found = healed_at(7.996, |at| {
        (7.99..8.2)
            .contains(&at)
            .then_some((OutcomeClass::Reset, 2_000))
    });
    assert_eq!((found.outage.failed, found.heal_outage.failed), (0, 21));
    assert!(!found.reaches_into_heal);
}

/// At five arrivals a second a tenth of one may see none, which is neither recovery nor failure.
#[test]
fn a_time_without_arrivals_is_no_evidence() {
    let settings = AvailabilitySettings {
        settle_s: 0.1,
        ..settings(5.0)
    };
    let check = |failed_until: f64, expected: Option<f64>| {
        let mut exchanges = even(|at| (at < failed_until).then_some((OutcomeClass::Reset, 1_000)));
        let mut number = 0;
        exchanges.retain(|_| {
            number += 1;
            number % 20 == 0
        });
        let found = recovered(&settings, None, (1.0, ENDED), &exchanges);
        assert_eq!(found, expected, "{failed_until}");
    };
    check(0.0, Some(1.195));
    check(2.0, Some(2.195));
    check(ENDED, None);
}
