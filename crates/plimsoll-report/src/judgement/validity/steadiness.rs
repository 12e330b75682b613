//! Criterion 12: the second half of the measured time was like the first. A figure differs when the 95 % intervals of its quantile in
//! the two halves do not meet and the quantile itself changed by more than a quarter and by more than 0.5 ms.
//!
//! Intervals alone would find the smallest drift in a long run, and neighbouring times depend on each other: hence the margins. A
//! change of less than 0.5 ms is what any figure may be off by without a mark.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Effect, Halves, Sense, Statistic, ValidityRow};
use crate::statistics::{ALWAYS_ALLOWED, quantile_interval};
use plimsoll_base::units::format_seconds;
use std::cmp::Ordering;

const LIMIT: f64 = 0.25;
const LOOKED_AT: [Statistic; 3] = [Statistic::P50, Statistic::P90, Statistic::P99];

/// A quantile in the two halves.
struct Change {
    statistic: Statistic,
    /// By which share of the larger it changed; 0 while its intervals meet.
    share: f64,
    /// By how much it changed, in seconds.
    by: f64,
    /// Its value in each half, in seconds.
    halves: (f64, f64),
}

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let Some(halves) = &arm.health.halves else {
        return Vec::new();
    };
    // It was changed on purpose.
    if !arm.faults.is_empty() {
        return Vec::new();
    }
    let changes: Vec<Change> = LOOKED_AT
        .into_iter()
        .filter_map(|statistic| change(halves, statistic))
        .collect();
    // Whatever counts comes before whatever does not.
    let order = |a: &&Change, b: &&Change| {
        let key = |change: &Change| (change.counts(), change.share);
        key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal)
    };
    let Some(worst) = changes.iter().max_by(order) else {
        return Vec::new();
    };
    let finding = Finding {
        criterion: 12,
        name: "change from first to second half",
        value: worst.share,
        limit: LIMIT,
        unit: "share",
        sense: Sense::AtMost,
        good: format!(
            "The second half was like the first at {}.",
            reach::list(changes.iter().map(|change| change.statistic.label()))
        ),
        bad: format!(
            "{} was {} by {} in the second half ({}) than in the first ({}): warm up longer, measure longer, or look for what changed.",
            worst.statistic.label(),
            worst.direction(),
            format_seconds(worst.by),
            format_seconds(worst.halves.1),
            format_seconds(worst.halves.0)
        ),
    };
    finding.rows(&arm.name, || {
        let changed = changes.iter().filter(|change| change.counts());
        let names: Vec<String> = changed
            .map(|change| format!("response_time.{}", change.statistic.name()))
            .collect();
        reach::paths(names.iter().map(String::as_str), Effect::Marked)
    })
}

impl Change {
    fn counts(&self) -> bool {
        self.share > LIMIT && self.by > ALWAYS_ALLOWED
    }

    fn direction(&self) -> &'static str {
        if self.halves.1 > self.halves.0 {
            "slower"
        } else {
            "faster"
        }
    }
}

/// How the quantile changed; `None` without intervals.
fn change(halves: &Halves, statistic: Statistic) -> Option<Change> {
    let share = statistic.share()?;
    let first = quantile_interval(&halves.first, share)?;
    let second = quantile_interval(&halves.second, share)?;
    let (a, b) = (
        halves.first.quantile(share)?,
        halves.second.quantile(share)?,
    );
    let meet = first.low <= second.high && second.low <= first.high;
    let by = if meet { 0.0 } else { (a - b).abs() };
    Some(Change {
        statistic,
        share: if by > 0.0 { by / a.max(b) } else { 0.0 },
        by,
        halves: (a, b),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample::{self, histogram};

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
        assert_eq!(
            drifted[0].advice,
            "p50 was slower by 1.00 ms in the second half (2.05 ms) than in the first (1.05 ms): warm up longer, measure longer, or look for what changed."
        );
        let recovered = &rows(2_000, 1_000)[0].advice;
        assert!(
            recovered.starts_with("p50 was faster by 1.00 ms"),
            "{recovered}"
        );
    }
}
