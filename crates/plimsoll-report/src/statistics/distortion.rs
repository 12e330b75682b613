//! By how much a figure may be too large because something other than the target lengthened some of the times: a bound that holds
//! whatever the dependence between the two.
//!
//! Let R = S + L be the times as recorded, S what they would have been, L ≥ 0 what was added. If L exceeds e in k of n cases, then
//! `R₍ᵣ₋ₖ₎ − e ≤ S₍ᵣ₎ ≤ R₍ᵣ₎` for every rank r: of the at most n − r times S above `S₍ᵣ₎`, and of these k cases, can come all those R that lie
//! above `S₍ᵣ₎ + e`. So a figure of rank r is too large by at most `R₍ᵣ₎ − R₍ᵣ₋ₖ₎ + e`. This holds for every e; the smallest bound is taken.

use crate::record::{Effect, Statistic};
use plimsoll_base::histogram::TimeHistogram;

/// A figure may be too large by this, in seconds, whatever it is.
pub const ALWAYS_ALLOWED: f64 = 0.5e-3;
/// A figure of which more than this share may have been added is marked.
const MARKED_SHARE: f64 = 0.10;
/// Nothing is concluded from a figure of which more than this share may have been added.
const INVALID_SHARE: f64 = 0.25;

/// A figure of a distribution that can be distorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// One that arms are compared by.
    Of(Statistic),
    /// The largest.
    Max,
}

/// Time added, to how many times.
#[derive(Debug, Clone)]
pub struct Lengthening {
    /// In how many cases at most more than so many seconds were added.
    exceedances: Vec<(f64, u64)>,
    /// The sum of all that was added, where it is known.
    total: Option<f64>,
}

/// A figure and by how much it may be too large, both in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distortion {
    /// Which figure.
    pub figure: Figure,
    /// The recorded value.
    pub value: f64,
    /// By how much of it at most it is too large.
    pub by: f64,
}

impl Figure {
    /// Every one, in the order in which outputs list them.
    pub const ALL: [Self; 8] = [
        Self::Of(Statistic::Mean),
        Self::Of(Statistic::P50),
        Self::Of(Statistic::P75),
        Self::Of(Statistic::P90),
        Self::Of(Statistic::P95),
        Self::Of(Statistic::P99),
        Self::Of(Statistic::P999),
        Self::Max,
    ];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Of(statistic) => statistic.name(),
            Self::Max => "max",
        }
    }

    /// The name used for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Of(statistic) => statistic.label(),
            Self::Max => "max",
        }
    }

    /// The share of times that are at most this figure; `None` for the mean.
    fn share(self) -> Option<f64> {
        match self {
            Self::Of(statistic) => statistic.share(),
            Self::Max => Some(1.0),
        }
    }
}

impl Lengthening {
    /// A lengthening that is known case by case.
    #[must_use]
    pub fn of(added: &TimeHistogram) -> Self {
        let mut beyond = added.count();
        let mut exceedances = vec![(0.0, beyond)];
        exceedances.extend(added.buckets().map(|(upper, count)| {
            beyond -= count;
            (upper, beyond)
        }));
        #[expect(clippy::cast_precision_loss, reason = "a sum of times")]
        let total = added.mean().unwrap_or(0.0) * added.count() as f64;
        Self {
            exceedances,
            total: Some(total),
        }
    }

    /// So many cases at most may have been lengthened by any amount, the others not at all.
    #[must_use]
    pub fn unlimited(cases: u64) -> Self {
        Self {
            exceedances: vec![(0.0, cases)],
            total: None,
        }
    }

    /// By how much each figure of the recorded times may be too large; empty when there are none.
    #[must_use]
    pub fn distorts(&self, recorded: &TimeHistogram) -> Vec<Distortion> {
        let ranks = Ranks::of(recorded);
        if ranks.count == 0 {
            return Vec::new();
        }
        let one = |figure: Figure| {
            let (value, by) = match figure.share() {
                Some(share) => self.of_quantile(&ranks, share),
                None => self.of_mean(&ranks),
            };
            Distortion {
                figure,
                value,
                by: by.clamp(0.0, value),
            }
        };
        Figure::ALL.map(one).to_vec()
    }

    fn of_quantile(&self, ranks: &Ranks, share: f64) -> (f64, f64) {
        let rank = rank(share, ranks.count);
        let value = ranks.at(rank);
        let bounds = self
            .exceedances
            .iter()
            .map(|(by, cases)| by + value - ranks.at(rank.saturating_sub(*cases)));
        (value, bounds.fold(f64::INFINITY, f64::min))
    }

    /// A lengthening that is not known in sum is at most the largest times themselves.
    #[expect(clippy::cast_precision_loss, reason = "a mean of times")]
    fn of_mean(&self, ranks: &Ranks) -> (f64, f64) {
        let count = ranks.count as f64;
        let most = |cases: u64| ranks.sum_of_largest(cases);
        let total = self.total.unwrap_or_else(|| {
            let cases = self.exceedances.iter().map(|(_, cases)| *cases);
            most(cases.max().unwrap_or(0))
        });
        (ranks.sum_of_largest(ranks.count) / count, total / count)
    }
}

impl Distortion {
    /// By how much the figure may be too large without a mark.
    #[must_use]
    pub fn allowed(&self) -> f64 {
        Self::allowed_of(self.value)
    }

    /// By how much a figure of this value, in seconds, may be off without a mark.
    #[must_use]
    pub fn allowed_of(value: f64) -> f64 {
        ALWAYS_ALLOWED.max(MARKED_SHARE * value)
    }

    /// Whether the figure lies beyond the p99: it carries its mark, but no criterion fails for it alone.
    #[must_use]
    pub fn is_beyond_p99(&self) -> bool {
        matches!(self.figure, Figure::Max | Figure::Of(Statistic::P999))
    }

    /// Effect on the figure.
    #[must_use]
    pub fn effect(&self) -> Effect {
        if self.by <= self.allowed() {
            Effect::None
        } else if self.by <= INVALID_SHARE * self.value {
            Effect::Marked
        } else {
            Effect::Invalid
        }
    }
}

/// The rank of the quantile that so large a share of `count` times, at least one, does not exceed.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank between 1 and the count"
)]
fn rank(share: f64, count: u64) -> u64 {
    ((share * count as f64).ceil() as u64).clamp(1, count)
}

/// A histogram by rank: upper edges of its buckets and how many times lie at or below each.
struct Ranks {
    buckets: Vec<(f64, u64)>,
    count: u64,
}

impl Ranks {
    fn of(histogram: &TimeHistogram) -> Self {
        let mut count = 0;
        let buckets = histogram.buckets().map(|(upper, within)| {
            count += within;
            (upper, count)
        });
        let buckets = buckets.collect();
        Self { buckets, count }
    }

    /// The time of a rank from 1; nothing is known below the first but that no time is negative.
    fn at(&self, rank: u64) -> f64 {
        if rank == 0 {
            return 0.0;
        }
        let index = self.buckets.partition_point(|(_, below)| *below < rank);
        self.buckets.get(index).map_or(0.0, |(upper, _)| *upper)
    }

    #[expect(clippy::cast_precision_loss, reason = "a sum of times")]
    fn sum_of_largest(&self, cases: u64) -> f64 {
        let (mut left, mut sum) = (cases, 0.0);
        for (index, (upper, below)) in self.buckets.iter().enumerate().rev() {
            let before = index.checked_sub(1).map_or(0, |i| self.buckets[i].1);
            let taken = left.min(below - before);
            sum += taken as f64 * upper;
            left -= taken;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(micros: impl IntoIterator<Item = u64>) -> TimeHistogram {
        let mut histogram = TimeHistogram::new();
        micros
            .into_iter()
            .for_each(|us| histogram.record_nanos(us * 1_000));
        histogram
    }

    fn effect(recorded: &TimeHistogram, added: &Lengthening, figure: Figure) -> Effect {
        let all = added.distorts(recorded);
        all.iter().find(|d| d.figure == figure).unwrap().effect()
    }

    /// A stall of 100 ms every 10 s at 1,000/s: one arrival in a hundred waits for up to 100 ms, the others 0.2 ms.
    #[test]
    fn a_stall_reaches_the_tail_only() {
        let lag = of((0..10_000).map(|i| if i < 100 { i * 1_000 } else { 20 }));
        let recorded = of((0..10_000).map(|i| 200 + if i < 100 { i * 1_000 } else { 20 }));
        let added = Lengthening::of(&lag);
        let of = |statistic| effect(&recorded, &added, Figure::Of(statistic));
        assert_eq!(of(Statistic::P50), Effect::None);
        assert_eq!(of(Statistic::P95), Effect::None);
        assert_eq!(of(Statistic::P999), Effect::Invalid);
        assert_eq!(effect(&recorded, &added, Figure::Max), Effect::Invalid);
    }

    #[test]
    fn limits_of_a_figure() {
        let check = |value: f64, by: f64, expected: Effect| {
            let figure = Figure::Max;
            assert_eq!(Distortion { figure, value, by }.effect(), expected);
        };
        check(0.2e-3, 0.2e-3, Effect::None);
        check(10e-3, 1.0e-3, Effect::None);
        check(10e-3, 1.1e-3, Effect::Marked);
        check(10e-3, 2.6e-3, Effect::Invalid);
        check(1e-3, 0.6e-3, Effect::Invalid);
    }

    #[test]
    fn cases_of_unknown_length_reach_as_far_as_they_are_many() {
        let recorded = of((1..=1_000).map(|i| i * 100));
        let added = Lengthening::unlimited(100);
        let bounds = added.distorts(&recorded);
        let by = |figure| bounds.iter().find(|d| d.figure == figure).unwrap().by;
        assert!((by(Figure::Of(Statistic::P50)) - 10e-3).abs() < 1e-4);
        assert!((by(Figure::Max) - 10e-3).abs() < 1e-4);
        // The hundred largest are 90.1 to 100 ms: 9.5 ms on the mean of all.
        assert!((by(Figure::Of(Statistic::Mean)) - 9.505e-3).abs() < 2e-5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The law itself: whatever is added to whatever, no figure is too large by more than the bound.
        #[test]
        fn no_figure_is_further_off_than_the_bound(
            cases in prop::collection::vec((1_u64..50_000, prop_oneof![3 => 0_u64..50, 1 => 0_u64..200_000]), 1..300),
        ) {
            let own = of(cases.iter().map(|(own, _)| *own));
            let added = of(cases.iter().map(|(_, added)| *added));
            let recorded = of(cases.iter().map(|(own, added)| own + added));
            for distortion in Lengthening::of(&added).distorts(&recorded) {
                let truth = match distortion.figure {
                    Figure::Of(statistic) => statistic.of(&own),
                    Figure::Max => own.max(),
                };
                let least = distortion.value - distortion.by;
                // Buckets are a thousandth wide, and times whole microseconds.
                prop_assert!(truth.unwrap() >= least - 3e-3 * distortion.value - 3e-6, "{distortion:?} {truth:?}");
            }
        }
    }
}
