//! Criterion 9: the canary, which has few exchanges and a thread of its own, saw the service times that the whole generator saw.
//!
//! Where the generator's are longer, exchanges queued in the generator (Leverich and Kozyrakis, "Reconciling High Server Utilization and
//! Sub-millisecond Quality-of-Service", EuroSys 2014; Zhang et al., "Treadmill", ISCA 2016). Of each quantile the 95 % intervals are
//! compared: only what lies between the canary's upper and the generator's lower end counts.

use super::reach::{self, Reached};
use super::row::Finding;
use crate::record::{ArmData, Effect, Sense, Statistic, ValidityRow};
use crate::statistics::{Distortion, Figure, quantile_interval};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_base::units::format_seconds;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let gaps = gaps(arm);
    let excess = |gap: &Distortion| gap.by / gap.allowed();
    let Some(worst) = gaps.iter().max_by(|a, b| excess(a).total_cmp(&excess(b))) else {
        return Vec::new();
    };
    let finding = Finding {
        criterion: 9,
        name: "service time beyond the canary's",
        value: worst.by,
        limit: worst.allowed(),
        unit: "s",
        sense: Sense::AtMost,
        good: format!(
            "The generator's canary, on a thread of its own, saw the same service times at {}; for other figures it saw too few.",
            reach::list(gaps.iter().map(|gap| gap.figure.label()))
        ),
        bad: format!(
            "At {} the generator saw at least {} more than its canary, which has few exchanges and a thread of its own: exchanges queue in the generator. Lower the rate, or give it more shards.",
            worst.figure.label(),
            format_seconds(worst.by)
        ),
    };
    finding.rows(&arm.name, || {
        let kinds = [TimeKind::ResponseTime, TimeKind::ServiceTime];
        let reached = kinds
            .into_iter()
            .flat_map(|kind| gaps.iter().map(move |gap| reach::reached(kind, *gap)));
        let reached = reached.filter(|r: &Reached| r.effect != Effect::None);
        reach::and_of_parts(reached.collect())
    })
}

/// How much longer the generator's quantiles are than the canary's, at least; of those that both know.
fn gaps(arm: &ArmData) -> Vec<Distortion> {
    let Some(canary) = &arm.health.canary else {
        return Vec::new();
    };
    let own = arm.histogram(TimeKind::ServiceTime);
    let gap = |statistic: Statistic| {
        let share = statistic.share()?;
        let (mine, canaries) = (
            quantile_interval(&own, share)?,
            quantile_interval(canary, share)?,
        );
        let figure = Figure::Of(statistic);
        Some(Distortion {
            figure,
            value: own.quantile(share)?,
            by: (mine.low - canaries.high).max(0.0),
        })
    };
    Statistic::ALL.into_iter().filter_map(gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample::{self, histogram};

    #[test]
    fn only_a_clear_gap_counts() {
        let own = histogram((0..10_000).map(|i| 5_000 + i));
        let with = |canary| {
            let mut arm = sample::arm("a", &own);
            arm.health.canary = Some(canary);
            judge(&arm)
        };
        let same = with(histogram((0..1_000).map(|i| 5_000 + 10 * i)));
        assert!(same[0].ok, "{same:?}");
        let faster = with(histogram((0..1_000).map(|i| 1_000 + 10 * i)));
        for time in ["service_time", "first_byte_time"] {
            let median = format!("{time}.p50");
            assert_eq!(sample::effect(&faster, &median), Effect::Invalid);
        }
        assert_eq!(with(histogram([1; 3])), [], "too few to compare");
    }
}
