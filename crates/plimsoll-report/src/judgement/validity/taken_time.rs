//! Criterion 5: nobody took processor time away: no CPU quota throttled the generator, and the hypervisor gave at most 1 % of the
//! machine's time to others over the run and 5 % in any second.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Sense, ValidityRow};

const STEAL_MEAN: f64 = 0.01;
const STEAL_MAX: f64 = 0.05;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let health = &arm.health;
    let mut rows = Vec::new();
    if let Some(throttled) = health.throttled_s {
        let share = throttled / arm.seconds.max(f64::MIN_POSITIVE);
        let row = finding("time throttled by a CPU quota", throttled, 0.0, "s");
        rows.extend(row.rows(&arm.name, || reach::of_time_share(arm, share)));
    }
    let stolen = health.steal_share_mean;
    if let Some(mean) = stolen {
        let row = finding("time stolen by the hypervisor", mean, STEAL_MEAN, "share");
        rows.extend(row.rows(&arm.name, || reach::of_time_share(arm, mean)));
    }
    if let Some(most) = health.steal_share_max {
        let row = finding("time stolen in the worst second", most, STEAL_MAX, "share");
        let share = stolen.unwrap_or(most);
        rows.extend(row.rows(&arm.name, || reach::of_time_share(arm, share)));
    }
    rows
}

fn finding(name: &'static str, value: f64, limit: f64, unit: &'static str) -> Finding {
    let bad = if unit == "s" {
        "A CPU quota stopped the generator: raise the quota of the container or the service that Plimsoll runs in."
    } else {
        "The hypervisor gave this machine's time to others: repeat at a quieter time, or on a machine of your own."
    };
    Finding {
        criterion: 5,
        name,
        value,
        limit,
        unit,
        sense: Sense::AtMost,
        good: "No processor time was taken away.".to_owned(),
        bad: bad.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;
    use crate::record::Effect;

    #[test]
    fn what_was_taken_reaches_its_share() {
        let mut arm = sample::spread("a", 0.2);
        (arm.health.steal_share_mean, arm.health.steal_share_max) = (Some(0.01), Some(0.05));
        arm.health.throttled_s = Some(0.0);
        assert!(judge(&arm).iter().all(|row| row.ok));
        arm.health.throttled_s = Some(1.0);
        arm.health.steal_share_max = Some(0.5);
        let rows = judge(&arm);
        assert!(!rows[0].ok, "a tenth of ten seconds was throttled");
        assert!(rows.iter().any(|row| !row.ok && row.unit == "share"));
        assert_eq!(sample::effect(&rows, "response_time.p95"), Effect::Invalid);
        assert_eq!(sample::effect(&rows, "response_time.p50"), Effect::None);
    }
}
