//! Criterion 1: the generator offered the load that was planned.
//!
//! At least 99 % of arrivals over the run and 95 % in every second were released. What waited for a connection, or was dropped
//! because every allowed connection was busy, is the target's doing and does not count. A closed loop has no plan to fall short of.

use crate::record::{ArmData, Effect, LoadModel, ValidityRow};

const RUN_LIMIT: f64 = 0.99;
const SECOND_LIMIT: f64 = 0.95;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    if arm.model == LoadModel::Closed {
        return Vec::new();
    }
    vec![
        row(arm, "arrivals released", over_run(arm), RUN_LIMIT),
        row(
            arm,
            "arrivals released in the worst second",
            arm.worst_second,
            SECOND_LIMIT,
        ),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn over_run(arm: &ArmData) -> Option<f64> {
    let released = arm.intended.saturating_sub(arm.dropped_by_generator);
    (arm.intended > 0).then(|| released as f64 / arm.intended as f64)
}

fn row(arm: &ArmData, name: &str, value: Option<f64>, limit: f64) -> ValidityRow {
    let ok = value.is_none_or(|share| share >= limit);
    ValidityRow {
        criterion: 1,
        name: name.to_owned(),
        arm: arm.name.clone(),
        value,
        limit,
        unit: "share".to_owned(),
        ok,
        effect: if ok { Effect::None } else { Effect::Invalid },
        affects: Vec::new(),
        advice: if ok {
            "The planned load was offered.".to_owned()
        } else {
            "The generator fell behind its plan: lower the rate, give it a processor of its own (`cpus`), or stop what else runs here.".to_owned()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Second;

    fn arm(model: LoadModel, intended: u64, lost: u64, worst: Option<f64>) -> ArmData {
        let mut arm = ArmData::new("a", "t", model, Some(100.0));
        (arm.intended, arm.dropped_by_generator, arm.worst_second) = (intended, lost, worst);
        arm
    }

    #[test]
    fn limits() {
        let check = |arm: ArmData, expected: &[bool]| {
            assert_eq!(
                judge(&arm).iter().map(|row| row.ok).collect::<Vec<_>>(),
                expected
            );
        };
        check(arm(LoadModel::Open, 1000, 10, Some(0.95)), &[true, true]);
        check(arm(LoadModel::Open, 1000, 11, Some(0.94)), &[false, false]);
        check(arm(LoadModel::Open, 0, 0, None), &[true, true]);
        check(arm(LoadModel::Closed, 1000, 900, Some(0.1)), &[]);
    }

    /// Drops and waits behind busy connections are the target's doing; arrivals released late are ours.
    #[test]
    fn whose_fault_a_second_is() {
        let check = |intended, sent, dropped, waiting: (u64, u64), expected: Option<f64>| {
            let mut arm = arm(LoadModel::Open, 0, 0, None);
            arm.observe_second(Second {
                intended,
                sent,
                dropped,
                waiting_before: waiting.0,
                waiting_after: waiting.1,
            });
            assert_eq!(arm.worst_second, expected);
        };
        check(100, 100, 0, (0, 0), Some(1.0));
        check(100, 50, 30, (0, 20), Some(1.0));
        check(100, 60, 0, (10, 0), Some(0.5));
        check(100, 150, 0, (0, 0), Some(1.0));
        check(10, 9, 0, (0, 0), Some(1.0));
        check(0, 0, 0, (0, 0), None);
    }
}
