//! Ranges of response times: how many exchanges passed within each of a few limits that mean something to people.

use plimsoll_base::histogram::TimeHistogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bounds between the ranges, in seconds: ascending and positive, at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Ranges(Vec<f64>);

/// More bounds than this make no readable bar.
pub const MOST_RANGE_BOUNDS: usize = 8;

impl Default for Ranges {
    /// 100 ms feel instant, after 1 s a person's train of thought breaks, after 10 s so does attention (R. B. Miller, *Response time in
    /// man-computer conversational transactions*, 1968; J. Nielsen, *Usability Engineering*, 1993).
    fn default() -> Self {
        Self(vec![0.1, 1.0, 10.0])
    }
}

/// Bounds that make no ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "bounds of ranges are 1 to {MOST_RANGE_BOUNDS} times above zero, each longer than the one before"
)]
pub struct NoRanges;

impl Ranges {
    /// Ranges between these bounds.
    ///
    /// # Errors
    /// [`NoRanges`].
    pub fn try_new(bounds: Vec<f64>) -> Result<Self, NoRanges> {
        let ascending = std::iter::once(0.0)
            .chain(bounds.iter().copied())
            .zip(&bounds)
            .all(|(before, bound)| before < *bound && bound.is_finite());
        let number = (1..=MOST_RANGE_BOUNDS).contains(&bounds.len());
        (ascending && number)
            .then_some(Self(bounds))
            .ok_or(NoRanges)
    }

    /// The bounds, in seconds.
    #[must_use]
    pub fn bounds(&self) -> &[f64] {
        &self.0
    }

    /// The times of `passed` by range; the last range has no end. Shares are of `results`, the exchanges with a result, failed ones included.
    #[must_use]
    pub fn of(&self, passed: &TimeHistogram, results: u64) -> Vec<RangeSummary> {
        let ends = self.0.iter().copied().map(Some).chain([None]);
        let (mut from, mut before) = (0.0, 0);
        ends.map(|below| {
            let until = below.map_or(passed.count(), |below| passed.count_at_most(below));
            let count = until.saturating_sub(before);
            #[expect(clippy::cast_precision_loss, reason = "a share")]
            let share = (results > 0).then(|| count as f64 / results as f64);
            let range = RangeSummary {
                from,
                to: below,
                count,
                share,
            };
            (from, before) = (below.unwrap_or(from), until);
            range
        })
        .collect()
    }
}

/// Exchanges that passed within one range of response times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RangeSummary {
    /// Where the range begins, in seconds.
    pub from: f64,
    /// Where it ends, in seconds; `null` for the last, which has no end.
    pub to: Option<f64>,
    /// Exchanges that passed, after more than `from` and at most `to`, to the resolution of the histogram.
    pub count: u64,
    /// `count` over all exchanges with a result, failed ones included; `null` when there was none.
    pub share: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_ascend() {
        for (bounds, valid) in [
            (vec![0.8, 1.2], true),
            (vec![], false),
            (vec![0.0], false),
            (vec![1.0, 1.0], false),
            (vec![2.0, 1.0], false),
            (vec![f64::INFINITY], false),
            ((1..=9).map(f64::from).collect(), false),
        ] {
            assert_eq!(Ranges::try_new(bounds.clone()).is_ok(), valid, "{bounds:?}");
        }
    }

    #[test]
    fn every_time_is_in_one_range() {
        let mut passed = TimeHistogram::new();
        for millis in [20, 90, 300, 2_500, 30_000] {
            passed.record_nanos(millis * 1_000_000);
        }
        let ranges = Ranges::default().of(&passed, 10);
        let counts: Vec<_> = ranges.iter().map(|r| (r.to, r.count, r.share)).collect();
        assert_eq!(
            counts,
            [
                (Some(0.1), 2, Some(0.2)),
                (Some(1.0), 1, Some(0.1)),
                (Some(10.0), 1, Some(0.1)),
                (None, 1, Some(0.1)),
            ]
        );
        assert_eq!(ranges[2].from, 1.0);
        assert_eq!(
            Ranges::default().of(&TimeHistogram::new(), 0)[0].share,
            None
        );
    }
}
