//! Criterion 12: the second half of the measured time was like the first. A figure differs when the 95 % intervals of its quantile in
//! the two halves do not meet and the quantile itself changed by more than a quarter and by more than 0.5 ms.
//!
//! Intervals alone would find the smallest drift in a long run, and neighbouring times depend on each other: hence the margins. A
//! change of less than 0.5 ms is what any figure may be off by without a mark.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Effect, Halves, Sense, Statistic, ValidityRow};
use crate::statistics::{ALWAYS_ALLOWED, quantile_interval};

const LIMIT: f64 = 0.25;
const LOOKED_AT: [Statistic; 3] = [Statistic::P50, Statistic::P90, Statistic::P99];

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let Some(halves) = &arm.health.halves else {
        return Vec::new();
    };
    let changes: Vec<(Statistic, f64)> = LOOKED_AT
        .into_iter()
        .filter_map(|statistic| Some((statistic, change(halves, statistic)?)))
        .collect();
    let Some((worst, value)) = changes.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let finding = Finding {
        criterion: 12,
        name: "change from first to second half",
        value: *value,
        limit: LIMIT,
        unit: "share",
        sense: Sense::AtMost,
        good: "The second half was like the first.".to_owned(),
        bad: format!(
            "{} was not the same in the second half as in the first: warm up longer, measure longer, or look for what changed.",
            worst.label()
        ),
    };
    finding.rows(&arm.name, || {
        let changed = changes.iter().filter(|(_, change)| *change > LIMIT);
        let names: Vec<String> = changed
            .map(|(statistic, _)| format!("response_time.{}", statistic.name()))
            .collect();
        reach::paths(names.iter().map(String::as_str), Effect::Marked)
    })
}

/// By which share of the larger the quantile changed; 0 while the intervals meet or the change is small, `None` without intervals.
fn change(halves: &Halves, statistic: Statistic) -> Option<f64> {
    let share = statistic.share()?;
    let first = quantile_interval(&halves.first, share)?;
    let second = quantile_interval(&halves.second, share)?;
    if first.low <= second.high && second.low <= first.high {
        return Some(0.0);
    }
    let (a, b) = (
        halves.first.quantile(share)?,
        halves.second.quantile(share)?,
    );
    let change = (a - b).abs();
    Some(if change > ALWAYS_ALLOWED {
        change / a.max(b)
    } else {
        0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::sample::{self, histogram};

    fn rows(first: u64, second: u64) -> Vec<ValidityRow> {
        let half = |base: u64| histogram((0..1_000).map(|i| base + i % 100));
        let mut arm = sample::spread("a", 0.0);
        arm.health.halves = Some(Halves {
            first: half(first),
            second: half(second),
        });
        judge(&arm)
    }

    #[test]
    fn drift_marks_what_drifted() {
        assert!(rows(1_000, 1_000)[0].ok);
        assert!(rows(1_000, 1_200)[0].ok, "a change, but a small share");
        assert!(
            rows(100, 500)[0].ok,
            "a change, but less than half a millisecond"
        );
        let drifted = rows(1_000, 2_000);
        assert_eq!(
            sample::effect(&drifted, "response_time.p50"),
            Effect::Marked
        );
        assert_eq!(sample::effect(&drifted, "response_time.mean"), Effect::None);
    }
}
