//! Criterion 4: the generator's threads had a processor when they needed one, and room on it.
//!
//! Ready and waiting for at most 5 % of the time; in no second busier than 85 %. A closed loop drives its generator as far as it goes:
//! its throughput then carries a note instead.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Effect, LoadModel, Sense, ValidityRow};

const RUN_DELAY: f64 = 0.05;
const BUSIEST_CORES: f64 = 0.85;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    if arm.model == LoadModel::Closed {
        return Vec::new();
    }
    let mut rows = Vec::new();
    if let Some(delay) = arm.health.run_delay_share {
        let finding = Finding {
            criterion: 4,
            name: "generator waiting for a processor",
            value: delay,
            limit: RUN_DELAY,
            unit: "share",
            sense: Sense::AtMost,
            good: "The generator had a processor when it needed one.".to_owned(),
            bad: "The generator's threads were ready and had to wait for a processor: give them their own (`cpus`), or stop what else runs here.".to_owned(),
        };
        rows.extend(finding.rows(&arm.name, || reach::of_time_share(arm, delay)));
    }
    if let Some(cores) = arm.health.busiest_thread_cores_max {
        let finding = Finding {
            criterion: 4,
            name: "generator's busiest thread",
            value: cores,
            limit: BUSIEST_CORES,
            unit: "cores",
            sense: Sense::AtMost,
            good: "The generator had room on its processor.".to_owned(),
            bad: "A thread of the generator was so busy that exchanges queue in it: lower the rate, or give it more shards.".to_owned(),
        };
        rows.extend(finding.rows(&arm.name, || reach::all_times(Effect::Marked)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;

    #[test]
    fn waiting_reaches_its_share_and_a_full_thread_all_times() {
        let mut arm = sample::spread("a", 0.2);
        arm.health.run_delay_share = Some(0.10);
        let rows = judge(&arm);
        assert_eq!(sample::effect(&rows, "response_time.p50"), Effect::None);
        assert_eq!(sample::effect(&rows, "response_time.p95"), Effect::Invalid);
        arm.health.run_delay_share = Some(0.05);
        arm.health.busiest_thread_cores_max = Some(0.9);
        let rows = judge(&arm);
        assert_eq!((rows[0].ok, rows[1].ok), (true, false));
        assert_eq!(sample::effect(&rows, "response_time.p50"), Effect::Marked);
        assert_eq!(sample::effect(&rows, "achieved_per_s"), Effect::None);
        arm.model = LoadModel::Closed;
        assert_eq!(judge(&arm), []);
    }
}
