//! Criterion 8, second part: Little's law, L = X·R, holds within 2 % between what was in flight, what ended and how long it took
//! (Little, "A Proof for the Queuing Formula L = λW", 1961). Where it does not, times or counts are not what they seem.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Effect, Sense, ValidityRow};

const LIMIT: f64 = 0.02;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let Some(error) = arm.health.littles_law_error else {
        return Vec::new();
    };
    let finding = Finding {
        criterion: 8,
        name: "Little's law",
        value: error,
        limit: LIMIT,
        unit: "share",
        sense: Sense::AtMost,
        good: "The number in flight matches rate × mean time.".to_owned(),
        bad: "The number in flight does not match rate × mean time: exchanges were in flight at the start or end of the measured time, or this is a bug in Plimsoll. Measure longer.".to_owned(),
    };
    let means = [
        "response_time.mean",
        "service_time.mean",
        "achieved_per_s",
        "good_per_s",
    ];
    let reached = || reach::and_of_parts(reach::paths(means, Effect::Marked));
    finding.rows(&arm.name, reached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;

    #[test]
    fn a_disagreement_marks_means() {
        let mut arm = sample::spread("a", 0.0);
        arm.health.littles_law_error = Some(0.02);
        assert!(judge(&arm)[0].ok);
        arm.health.littles_law_error = Some(0.03);
        let rows = judge(&arm);
        assert_eq!(sample::effect(&rows, "response_time.mean"), Effect::Marked);
        assert_eq!(sample::effect(&rows, "body_time.mean"), Effect::Marked);
        assert_eq!(sample::effect(&rows, "response_time.p99"), Effect::None);
    }
}
