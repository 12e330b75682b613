//! The response times of arrivals, some of which nobody has waited for to the end.
//!
//! A good answer has a time. What was given up (a time-out, an exchange under way or an arrival still waiting when the load ended) has a lower
//! bound of one: it is *censored*. An arrival that was dropped has none: whoever came then was never answered. Of `n` arrivals the p-quantile
//! is the time of rank ⌈pn⌉. With every bound in its place, and what was never answered behind all, that is the least that it can be; with
//! every bound behind all, the most. Where the two differ by more than a percentile may be off by, the figure is *at least* the former.

use super::Distortion;
use super::order::{rank_above, rank_below};
use crate::record::{ArmData, Statistic, TimeStatistics};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::StepTally;
use plimsoll_base::time_kind::TimeKind;

/// Ranks at which it is asked whether a figure rests on lower bounds: those of the percentiles that are shown, and the largest.
const ASKED: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

/// Response times, of which some are lower bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseTimes {
    /// Of good answers.
    good: TimeHistogram,
    /// These, and the lower bounds.
    all: TimeHistogram,
    /// Arrivals that were never answered, and have no bound.
    never: u64,
}

/// A quantile of response times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// Lower bound, in seconds.
    pub value: f64,
    /// Upper bound; `None`: without limit.
    pub at_most: Option<f64>,
}

impl Quantile {
    /// Whether it may be larger by more than a figure may be off by.
    #[must_use]
    pub fn is_bound(self) -> bool {
        self.at_most
            .is_none_or(|most| most - self.value > Distortion::allowed_of(self.value))
    }
}

impl ResponseTimes {
    /// Those of an arm's arrivals.
    #[must_use]
    pub fn of_arm(arm: &ArmData) -> Self {
        let (mut good, mut all) = (TimeHistogram::new(), TimeHistogram::new());
        for step in arm.steps.values() {
            let of_step = Self::of_step(step);
            good.merge(&of_step.good);
            all.merge(&of_step.all);
        }
        let unstarted = arm.times.get(&TimeKind::UnstartedTime);
        unstarted.iter().for_each(|bounds| all.merge(bounds));
        let bounds = unstarted.map_or(0, TimeHistogram::count);
        Self {
            good,
            all,
            never: arm.dropped.saturating_sub(bounds),
        }
    }

    /// Those of the exchanges of one step.
    #[must_use]
    pub fn of_step(step: &StepTally) -> Self {
        Self {
            good: step.response_times(|class| class == OutcomeClass::Passed),
            all: step.histogram(TimeKind::ResponseTime),
            never: 0,
        }
    }

    /// Times of which none is a lower bound.
    #[must_use]
    pub fn known(times: TimeHistogram) -> Self {
        Self {
            good: times.clone(),
            all: times,
            never: 0,
        }
    }

    /// Good answers, lower bounds, and arrivals that were never answered.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.all.count() + self.never
    }

    /// The quantile of this share (0 to 1); `None` without a time or a bound.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Quantile> {
        #[expect(clippy::cast_precision_loss, reason = "a count of arrivals")]
        let rank = (share * self.count() as f64).ceil().max(1.0);
        let value = at(&self.all, rank).or_else(|| self.all.max())?;
        Some(Quantile {
            value,
            at_most: at(&self.good, rank),
        })
    }

    /// The bounds that a quantile keeps with 95 % confidence on either side, by order statistics; `None` where there are too few times for
    /// one, and above what was never answered or given up before.
    #[must_use]
    pub fn bounds(&self, share: f64) -> (Option<f64>, Option<f64>) {
        let count = self.count();
        let above = rank_above(share, count).and_then(|rank| at(&self.good, rank));
        let below = rank_below(share, count).and_then(|rank| at(&self.all, rank));
        (below, above)
    }

    /// A figure in seconds: of a percentile what it is at least, of the mean that of times and bounds.
    #[must_use]
    pub fn figure(&self, statistic: Statistic) -> Option<f64> {
        match statistic.share() {
            Some(share) => self.quantile(share).map(|quantile| quantile.value),
            None => self.all.mean(),
        }
    }

    /// All figures.
    #[must_use]
    pub fn statistics(&self) -> TimeStatistics {
        let rests = |share: &f64| self.quantile(*share).is_some_and(Quantile::is_bound);
        TimeStatistics {
            count: self.count(),
            at_least_from: ASKED.into_iter().find(rests),
            ..TimeStatistics::with(&self.all, |statistic| self.figure(statistic))
        }
    }
}

/// The time of a rank from 1; `None` beyond the last.
fn at(histogram: &TimeHistogram, rank: f64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let count = histogram.count() as f64;
    // The middle of a rank's share, which no rounding takes to the next.
    let share = (rank - 0.5) / count;
    (rank <= count).then(|| histogram.quantile(share)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(times: impl IntoIterator<Item = u64>) -> TimeHistogram {
        let mut histogram = TimeHistogram::new();
        times
            .into_iter()
            .for_each(|ms| histogram.record_nanos(ms * 1_000_000));
        histogram
    }

    fn of(
        good: impl IntoIterator<Item = u64>,
        bounds: impl IntoIterator<Item = u64>,
        never: u64,
    ) -> ResponseTimes {
        let good = millis(good);
        let mut all = good.clone();
        all.merge(&millis(bounds));
        ResponseTimes { good, all, never }
    }

    fn near(actual: Option<f64>, expected_ms: f64) {
        let actual = actual.unwrap() * 1e3;
        assert!((actual / expected_ms - 1.0).abs() < 2e-3, "{actual} ms");
    }

    #[test]
    fn what_was_never_answered_stands_behind_all() {
        // Half of the arrivals were dropped: the median of all is the slowest answer at least.
        let times = of(1..=100, [], 100);
        let statistics = times.statistics();
        assert_eq!(statistics.count, 200);
        near(statistics.p50, 100.0);
        near(times.quantile(0.25).unwrap().at_most, 50.0);
        assert_eq!(statistics.at_least_from, Some(0.75));
    }

    #[test]
    fn a_bound_stands_where_it_is_and_takes_certainty_from_what_lies_above() {
        // Ten of a hundred were given up after a second, which no good answer took.
        let late = of(1..=90, [1_000; 10], 0).statistics();
        near(late.p90, 90.0);
        near(late.p95, 1_000.0);
        assert_eq!(late.at_least_from, Some(0.95));
        // One that was cut off after a millisecond might have been any.
        let cut = of(1..=99, [1], 0);
        assert_eq!(cut.statistics().at_least_from, Some(0.999));
        near(cut.quantile(0.5).unwrap().at_most, 50.0);
    }

    #[test]
    fn known_times_are_their_own_figures() {
        let known = ResponseTimes::known(millis(1..=1_000));
        let statistics = known.statistics();
        assert_eq!(statistics, TimeStatistics::of(&millis(1..=1_000)));
        assert_eq!(
            ResponseTimes::default().statistics(),
            TimeStatistics::default()
        );
    }

    #[test]
    fn an_end_that_nobody_knows_is_open() {
        let known = ResponseTimes::known(millis(1..=298));
        let (low, high) = known.bounds(0.99);
        assert!(low.is_some() && high.is_none());
        near(ResponseTimes::known(millis(1..=299)).bounds(0.99).1, 299.0);
        assert_eq!(of(1..=299, [], 1).bounds(0.99).1, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the answers would have taken that nobody waited for: the quantile lies within its limits.
        #[test]
        fn the_truth_lies_between(
            arrivals in prop::collection::vec((1_u64..5_000, prop::option::weighted(0.2, 1_u64..5_000)), 1..200),
            never in 0_u64..20,
            share in 0.01_f64..1.0,
        ) {
            let given_up = |(time, patience): &(u64, Option<u64>)| patience.filter(|patience| patience < time);
            let good = arrivals.iter().filter(|one| given_up(one).is_none()).map(|(time, _)| *time);
            let times = of(good, arrivals.iter().filter_map(given_up), never);
            let mut truth: Vec<u64> = arrivals.iter().map(|(time, _)| *time).chain((0..never).map(|_| u64::MAX)).collect();
            truth.sort_unstable();
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
            let rank = ((share * truth.len() as f64).ceil() as usize).max(1);
            #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
            let truth = truth[rank - 1] as f64 / 1e3;
            if let Some(found) = times.quantile(share) {
                prop_assert!(found.value <= truth * 1.002, "{found:?} {truth}");
                prop_assert!(found.at_most.is_none_or(|most| most >= truth * 0.998), "{found:?} {truth}");
            }
        }
    }
}
