//! Criterion 7: arrivals came as planned. The Kolmogorov–Smirnov distance of released from planned arrivals, which is the largest
//! backlog of arrivals that were due and not released, as a share of all, is at most 2 %.
//!
//! The plan is known exactly, so this is a distance and not a test. A backlog is released in a burst that the plan did not hold: the
//! target's answer to that burst is in the times of those exchanges and of as many behind them. Arrivals that the plan itself has in one
//! moment count as one: their burst is planned. Of so few that one is more than that, nothing is said.

use super::reach;
use super::row::{self, Finding};
use crate::record::{ArmData, Sense, ValidityRow};

const LIMIT: f64 = 0.02;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let says_something = row::says_something(arm.due(), LIMIT);
    let Some(distance) = arm.health.schedule_ks.filter(|_| says_something) else {
        return Vec::new();
    };
    let finding = Finding {
        criterion: 7,
        name: "arrivals against their plan",
        value: distance,
        limit: LIMIT,
        unit: "share",
        sense: Sense::AtMost,
        good: "Arrivals came as planned.".to_owned(),
        bad: "Arrivals piled up in the generator and were released in a burst: lower the rate, or give it a processor of its own (`cpus`).".to_owned(),
    };
    finding.rows(&arm.name, || reach::of_time_share(arm, distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;
    use crate::record::{Effect, LoadModel};

    #[test]
    fn a_backlog_reaches_its_share() {
        let mut arm = sample::spread("a", 0.1);
        arm.health.schedule_ks = Some(0.02);
        assert!(judge(&arm)[0].ok);
        // Of users who give themselves their iterations, only what comes by a schedule beside them is judged.
        arm.model = LoadModel::Closed;
        assert_eq!(judge(&arm), []);
        arm.scheduled = 100;
        arm.health.schedule_ks = Some(0.05);
        let rows = judge(&arm);
        assert_eq!(sample::effect(&rows, "response_time.p99"), Effect::Invalid);
        assert_eq!(sample::effect(&rows, "response_time.p50"), Effect::None);
    }
}
