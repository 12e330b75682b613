//! Criterion 16: every fault had the effect that it was to have. One without any would show as a system that nothing can harm.

use super::row::Finding;
use crate::record::{ArmData, Sense, ValidityRow};

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    if arm.faults.is_empty() {
        return Vec::new();
    }
    let unproved = arm.faults.iter().filter(|fault| fault.proved.is_none());
    let said: Vec<String> = unproved
        .map(|fault| format!("`{}`: {}", fault.name, fault.effect))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a number of faults")]
    let value = said.len() as f64;
    let finding = Finding {
        criterion: 16,
        name: "faults without a proved effect",
        value,
        limit: 0.0,
        unit: "count",
        sense: Sense::AtMost,
        good: format!(
            "Each of {} faults was seen to have its effect.",
            arm.faults.len()
        ),
        bad: format!(
            "Whatever callers saw, it is not known to be the fault's doing. Not proved: {}.",
            said.join("; ")
        ),
    };
    vec![finding.row_on_all(&arm.name)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CallerFigures, Effect, FaultRow, LoadModel};

    #[test]
    fn one_without_effect_takes_the_arm_with_it() {
        let mut arm = ArmData::new("a", "t", LoadModel::Open, None);
        assert!(judge(&arm).is_empty());
        let fault = FaultRow {
            name: "crash".to_owned(),
            kind: "kill".to_owned(),
            target: Some("api".to_owned()),
            role: None,
            arm: "a".to_owned(),
            block: 1,
            injected: 1.0,
            proved: Some(1.1),
            effect: "no process is left".to_owned(),
            heal_begun: 2.0,
            healed: Some(2.5),
            heal: "it is ready".to_owned(),
            callers: CallerFigures::default(),
        };
        arm.faults.push(fault.clone());
        assert!(judge(&arm)[0].ok);
        arm.faults.push(FaultRow {
            proved: None,
            effect: "it still answers".to_owned(),
            ..fault
        });
        let row = &judge(&arm)[0];
        assert_eq!(
            (row.ok, row.effect, row.value),
            (false, Effect::Invalid, Some(1.0))
        );
        assert!(
            row.advice.contains("`crash`: it still answers"),
            "{}",
            row.advice
        );
    }
}
