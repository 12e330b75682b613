//! Criterion 8: nothing is counted twice or lost. `intended = sent + dropped` per arm, `sent = Σ outcomes + in flight` per step, and
//! against our own mock or gateway `answered ≤ served ≤ received ≤ sent`, equal throughout when everything was answered.

use super::row::Finding;
use crate::record::{ArmData, Sense, TargetLedger, ValidityRow};

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let mut rows = vec![row(
        arm,
        "own accounts",
        own_discrepancy(arm),
        "Every arrival and every exchange is accounted for.",
        "Arrivals or exchanges were counted twice or lost: this is a bug in Plimsoll; keep the run directory and report it.",
    )];
    if !arm.ledgers.is_empty() {
        rows.push(row(
            arm,
            "accounts against the target",
            arm.ledgers.iter().map(ledger_discrepancy).sum(),
            "The target counted what the generator counted.",
            "The counts of generator and target contradict each other: something else talks to the target or answers in its place, or this is a bug in Plimsoll.",
        ));
    }
    rows
}

fn own_discrepancy(arm: &ArmData) -> u64 {
    let arrivals = arm.intended.abs_diff(arm.sent + arm.dropped);
    let exchanges = arm.steps.values().map(|step| {
        let accounted =
            step.classes.values().map(|class| class.count).sum::<u64>() + step.in_flight;
        step.sent.abs_diff(accounted)
    });
    arrivals + exchanges.sum::<u64>()
}

/// How far the chain of the law runs the wrong way, in exchanges.
fn ledger_discrepancy(ledger: &TargetLedger) -> u64 {
    let chain = [ledger.answered, ledger.served, ledger.received, ledger.sent];
    chain
        .windows(2)
        .map(|pair| pair[0].saturating_sub(pair[1]))
        .sum()
}

fn row(arm: &ArmData, name: &'static str, discrepancy: u64, good: &str, bad: &str) -> ValidityRow {
    #[expect(clippy::cast_precision_loss, reason = "shown to people")]
    let value = discrepancy as f64;
    let finding = Finding {
        criterion: 8,
        name,
        value,
        limit: 0.0,
        unit: "count",
        sense: Sense::AtMost,
        good: good.to_owned(),
        bad: bad.to_owned(),
    };
    finding.row_on_all(&arm.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LoadModel;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::tally::{ClassTally, StepTally};

    #[test]
    fn own() {
        let check = |intended, sent, dropped, step: (u64, u64, u64), expected: f64| {
            let mut arm = ArmData::new("a", "t", LoadModel::Open, None);
            (arm.intended, arm.sent, arm.dropped) = (intended, sent, dropped);
            let class = ClassTally {
                count: step.1,
                ..ClassTally::default()
            };
            arm.steps.insert(
                "s".to_owned(),
                StepTally {
                    sent: step.0,
                    in_flight: step.2,
                    classes: [(OutcomeClass::Passed, class)].into(),
                    ..StepTally::default()
                },
            );
            let rows = judge(&arm);
            assert_eq!(
                (rows[0].value, rows[0].ok),
                (Some(expected), expected == 0.0)
            );
        };
        check(10, 8, 2, (8, 7, 1), 0.0);
        check(10, 8, 1, (8, 7, 1), 1.0);
        check(10, 8, 2, (8, 8, 1), 1.0);
    }

    #[test]
    fn against_the_target() {
        let check = |[answered, served, received, sent]: [u64; 4], expected: f64| {
            let mut arm = ArmData::new("a", "t", LoadModel::Open, None);
            arm.ledgers.push(TargetLedger {
                component: "m".to_owned(),
                sent,
                answered,
                received,
                served,
            });
            assert_eq!(judge(&arm)[1].value, Some(expected));
        };
        check([10, 10, 10, 10], 0.0);
        check([7, 8, 9, 10], 0.0);
        check([10, 9, 10, 10], 1.0);
        check([10, 10, 12, 10], 2.0);
    }
}
