//! Criterion 14: the arms of a comparison fail alike. What fails early, or is missing, moves the rank of every quantile: a share that is
//! more than a tenth of what lies beyond a quantile moves it noticeably, and beyond 1 % it speaks for itself.
//!
//! An arm that fails more and looks no slower has not been shown to be as fast; an arm that fails more and is slower is slower.

use super::reach;
use super::row::Finding;
use crate::record::{
    Difference, DifferenceVerdict, Effect, Reservation, Sense, Statistic, ValidityRow,
};

const MOST: f64 = 0.01;
const SHARE_BEYOND: f64 = 0.1;

/// The shares of failed exchanges of an arm and its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailedShares {
    /// Of the arm.
    pub arm: f64,
    /// Of the baseline.
    pub baseline: f64,
}

impl FailedShares {
    /// By how much the shares differ; positive: the arm fails more.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.arm - self.baseline
    }

    /// Whether the difference can move a figure.
    #[must_use]
    pub fn moves(&self, statistic: Statistic) -> bool {
        // Shares are ratios of counts: equal ones can differ in the last digit.
        self.difference().abs() > limit(statistic) + 1e-12
    }
}

/// Where the arms have different failure rates, only that the one which fails more is slower too is a finding.
pub fn reserve(found: &mut Difference, failed: FailedShares, statistic: Statistic) {
    if !failed.moves(statistic) {
        return;
    }
    found.reservation = Some(Reservation::Failures);
    let slower = if failed.difference() > 0.0 {
        DifferenceVerdict::Worse
    } else {
        DifferenceVerdict::Improved
    };
    if found.verdict != slower && found.verdict != DifferenceVerdict::Invalid {
        found.verdict = DifferenceVerdict::Inconclusive;
        found.more_blocks = None;
    }
}

/// By how much shares may differ before a figure is moved. A mean moves as a p99 does: by rare exchanges of other length.
fn limit(statistic: Statistic) -> f64 {
    let beyond = 1.0 - statistic.share().unwrap_or(0.99);
    MOST.min(SHARE_BEYOND * beyond)
}

/// Judges one arm; `None` while no figure up to the p99 is moved and neither fails more than 1 %.
#[must_use]
pub fn judge(arm: &str, shares: FailedShares) -> Option<ValidityRow> {
    let moved: Vec<Statistic> = Statistic::ALL
        .into_iter()
        .filter(|statistic| shares.moves(*statistic))
        .collect();
    let most = shares.arm.max(shares.baseline);
    if moved.iter().all(|statistic| *statistic == Statistic::P999) && most <= MOST {
        return None;
    }
    let strictest = moved.iter().map(|s| limit(*s)).reduce(f64::min);
    let (name, value, limit) = match strictest {
        Some(limit) => (
            "difference of failed shares",
            shares.difference().abs(),
            limit,
        ),
        None => ("failed share of both arms", most, MOST),
    };
    let finding = Finding {
        criterion: 14,
        name,
        value,
        limit,
        unit: "share",
        sense: Sense::AtMost,
        good: String::new(),
        bad: format!(
            "{:.2} % of the exchanges of {arm} failed and {:.2} % of the baseline's: a fast failure is not a fast answer. Find the cause before comparing times.",
            100.0 * shares.arm,
            100.0 * shares.baseline
        ),
    };
    let affected: Vec<String> = moved
        .iter()
        .map(|statistic| format!("added.{}", statistic.name()))
        .collect();
    let reached = || match affected.len() {
        0 => reach::paths(["added"], Effect::Marked),
        _ => reach::paths(affected.iter().map(String::as_str), Effect::Marked),
    };
    finding.rows(arm, reached).pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_move_what_lies_as_far_out() {
        let check = |arm, baseline, expected: &[&str]| {
            let affects = judge("a", FailedShares { arm, baseline });
            let affects = affects.map(|row| row.affects).unwrap_or_default();
            assert_eq!(affects, expected);
        };
        check(0.0, 0.0, &[]);
        check(0.0005, 0.0, &[]);
        check(0.0, 0.002, &["added.mean", "added.p99", "added.p999"]);
        check(0.05, 0.05, &["added"]);
        let all = Statistic::ALL.map(|s| format!("added.{}", s.name()));
        check(0.05, 0.0, &all.each_ref().map(String::as_str));
    }
}
