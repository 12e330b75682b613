//! Criterion 1: the generator offered the load that was planned.
//!
//! At least 99 % of arrivals over the run and 95 % in every second were released. What waited for a connection, or was dropped
//! because every allowed connection was busy, is the target's doing and does not count. A closed loop has no plan to fall short of; of a
//! load in which both are, what comes by a schedule is judged over the run.
//! Arrivals that were never released are missing from every figure; seconds that fell short reach their share of the exchanges.

use super::reach;
use super::row::{self, Finding};
use crate::record::{ArmData, Effect, SECOND_RELEASED, Sense, ValidityRow};

/// A smaller share of arrivals released over a run is no load as planned.
pub const RELEASED: f64 = 0.99;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    if !arm.has_schedule() {
        return Vec::new();
    }
    let mut rows = Vec::new();
    if let Some(released) = over_run(arm) {
        rows.extend(
            finding("arrivals released", released, RELEASED)
                .rows(&arm.name, || reach::everything(Effect::Invalid)),
        );
    }
    if let Some(worst) = arm.worst_second {
        rows.extend(
            finding(
                "arrivals released in the worst second",
                worst,
                SECOND_RELEASED,
            )
            .rows(&arm.name, || reach::of_time_share(arm, short_share(arm))),
        );
    }
    rows
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn over_run(arm: &ArmData) -> Option<f64> {
    let due = arm.due();
    let released = due.saturating_sub(arm.dropped_by_generator);
    row::says_something(due, 1.0 - RELEASED).then(|| released as f64 / due as f64)
}

/// The share of seconds that fell short.
fn short_share(arm: &ArmData) -> f64 {
    f64::from(arm.seconds_short) / f64::from(arm.seconds_observed.max(1))
}

fn finding(name: &'static str, value: f64, limit: f64) -> Finding {
    Finding {
        criterion: 1,
        name,
        value,
        limit,
        unit: "share",
        sense: Sense::AtLeast,
        good: "The planned load was offered.".to_owned(),
        bad: "The generator fell behind its plan: lower the rate, give it a processor of its own (`cpus`), or stop what else runs here.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;
    use crate::record::{LoadModel, Second};

    fn arm(model: LoadModel, intended: u64, lost: u64) -> ArmData {
        let mut arm = ArmData::new("a", "t", model, Some(100.0));
        (arm.intended, arm.dropped_by_generator) = (intended, lost);
        arm
    }

    fn second(intended: u64, sent: u64) -> Second {
        Second {
            intended,
            sent,
            dropped: 0,
            waiting_before: 0,
            waiting_after: 0,
        }
    }

    #[test]
    fn limit_over_the_run() {
        let check = |arm: ArmData, expected: &[bool]| {
            let rows = judge(&arm);
            assert_eq!(rows.iter().map(|row| row.ok).collect::<Vec<_>>(), expected);
        };
        check(arm(LoadModel::Open, 1000, 10), &[true]);
        check(arm(LoadModel::Open, 1000, 11), &[false]);
        check(arm(LoadModel::Open, 0, 0), &[]);
        check(arm(LoadModel::Open, 99, 1), &[]);
        check(arm(LoadModel::Closed, 1000, 900), &[]);
        let beside = |lost| {
            let mut arm = arm(LoadModel::Closed, 1000, lost);
            arm.scheduled = 100;
            arm
        };
        check(beside(1), &[true]);
        check(beside(2), &[false]);
    }

    /// Of sixty seconds one fell short: that reaches the tail and no median.
    #[test]
    fn a_short_second_reaches_its_share() {
        let mut arm = sample::spread("a", 0.02);
        arm.intended = 60_000;
        (0..59).for_each(|_| arm.observe_second(second(1000, 1000)));
        arm.observe_second(second(1000, 700));
        let rows = judge(&arm);
        assert_eq!(rows[1].value, Some(0.7));
        assert!(!rows[1].ok);
        assert_eq!(sample::effect(&rows, "response_time.p99"), Effect::Invalid);
        assert_eq!(sample::effect(&rows, "response_time.p50"), Effect::None);
        assert_eq!(sample::effect(&rows, "achieved_per_s"), Effect::None);
    }

    /// Drops and waits behind busy connections are the target's doing; arrivals released late are ours.
    #[test]
    fn whose_fault_a_second_is() {
        let check = |intended, sent, dropped, waiting: (u64, u64), expected: Option<f64>| {
            let mut arm = arm(LoadModel::Open, 0, 0);
            arm.observe_second(Second {
                dropped,
                waiting_before: waiting.0,
                waiting_after: waiting.1,
                ..second(intended, sent)
            });
            assert_eq!(arm.worst_second, expected);
            let short = expected.is_some_and(|share| share < SECOND_RELEASED);
            assert_eq!(arm.seconds_short, u32::from(short));
        };
        check(100, 100, 0, (0, 0), Some(1.0));
        check(100, 50, 30, (0, 20), Some(1.0));
        check(100, 60, 0, (10, 0), Some(0.5));
        check(100, 150, 0, (0, 0), Some(1.0));
        check(10, 9, 0, (0, 0), Some(1.0));
        check(0, 0, 0, (0, 0), None);
    }
}
