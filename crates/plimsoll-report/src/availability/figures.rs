//! Figures of one fault over its trials.

mod said;

use crate::record::{
    AvailabilitySettings, Estimated, FailedFailovers, FaultOutages, HealFigures, OutageFigures,
    Role, TrialOutage, TrialSummary,
};
use crate::statistics::{
    CONFIDENCE, Pivot, Sample, bounded_by_largest_of, clopper_pearson, median_interval,
    one_sided_bounds,
};

/// Seconds that 99.99 % leaves in 30 days.
const BUDGET_S: f64 = 259.2;
/// The percentile of outages that is said beside their median.
const P95: f64 = 0.95;

/// The trials of one table.
pub(super) struct Table<'a> {
    /// Its name in paths of metrics.
    pub(super) name: String,
    /// Its row among the settings.
    pub(super) row: &'a str,
    /// The role of all its victims.
    pub(super) role: Option<Role>,
    /// Its trials, void ones included.
    pub(super) trials: Vec<&'a TrialSummary>,
}

impl<'a> Table<'a> {
    /// Trials that count.
    pub(super) fn counted(&self) -> impl Iterator<Item = &'a TrialSummary> + '_ {
        let trials = self.trials.iter().copied();
        trials.filter(|trial| trial.void_reasons.is_empty())
    }

    /// Its figures. `index` keys what is resampled.
    pub(super) fn figures(
        &self,
        settings: &AvailabilitySettings,
        seed: u64,
        index: u64,
    ) -> FaultOutages {
        let counted: Vec<&TrialSummary> = self.counted().collect();
        let facts = settings.faults.get(self.row);
        let outages: Vec<Length> = counted.iter().map(|trial| Length::of(trial)).collect();
        let came_back = counted.iter().copied().filter(|one| !one.is_cut_short());
        let came_back: Vec<&TrialSummary> = came_back.collect();
        let lost: Vec<f64> = came_back.iter().map(|trial| trial.outage.lost_s).collect();
        let number =
            |is: fn(&TrialSummary) -> bool| count(counted.iter().filter(|trial| is(trial)).count());
        let lost = mean(&lost, seed, 2 * index + 1);
        let retried = retried(&came_back);
        let found = FaultOutages {
            name: self.name.clone(),
            row: self.row.to_owned(),
            kind: facts.map_or_else(String::new, |facts| facts.kind.clone()),
            target: facts.and_then(|facts| facts.target.clone()),
            role: self.role,
            trials: count(counted.len()),
            void_trials: count(self.trials.len() - counted.len()),
            failed_failovers: failed_failovers(
                u64::from(number(|trial| trial.failed_failover)),
                counted.len() as u64,
            ),
            without_outage: number(|trial| !trial.outage.is_any()),
            below_resolution: number(|trial| trial.below_resolution),
            reached_into_heal: number(|trial| trial.reaches_into_heal),
            ended_by_heal: number(TrialSummary::is_ended_by_heal),
            outage: outage_figures(&outages, seed, 2 * index),
            lost,
            impact: Impact::of(&counted).map(|impact| impact.estimate),
            stall_s: largest(counted.iter().map(|trial| trial.stall_s)),
            heal: heal(&counted),
            resolution_s: largest(counted.iter().map(|trial| trial.resolution_s)),
            budget_share: lost.map(|lost| lost.value / BUDGET_S),
            retried_lost_s: retried.map(|(again, _)| again),
            unretried_lost_s: retried.map(|(_, once)| once),
            torn: number(|trial| trial.outage.is_torn || trial.heal_outage.is_torn),
            sentences: Vec::new(),
        };
        FaultOutages {
            sentences: said::sentences(&found),
            ..found
        }
    }
}

/// The length that an outage counts as, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Length {
    /// Its lower end.
    pub(super) low: f64,
    /// The best single figure.
    pub(super) estimate: f64,
    /// Its upper end.
    pub(super) high: f64,
    /// Whether it would have lasted longer than it was seen.
    pub(super) is_cut_short: bool,
}

impl Length {
    fn of(trial: &TrialSummary) -> Self {
        // One or two failures bound nothing: by their spacing alone an outage of seconds could hide behind them.
        let within = trial.outage.low_s + trial.resolution_s;
        let (estimate, high) = match trial.below_resolution {
            true => (within, within),
            false => (trial.outage.estimate_s, trial.outage.high_s),
        };
        Self {
            low: trial.outage.low_s,
            estimate,
            high,
            is_cut_short: trial.is_cut_short(),
        }
    }
}

pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a number of trials")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

fn failed_failovers(failed: u64, trials: u64) -> FailedFailovers {
    let interval = clopper_pearson(failed, trials);
    #[expect(clippy::cast_precision_loss, reason = "a share of trials")]
    let share = (trials > 0).then(|| failed as f64 / trials as f64);
    FailedFailovers {
        count: failed,
        share,
        low: interval.low,
        high: interval.high,
    }
}

/// Figures of lengths over trials. `seed` and `index` key what is resampled.
///
/// The median and the p95 are those of the best single figures, what bounds them is by lower and by upper ends, and the longest is an upper end.
/// Where an outage would have lasted longer than it was seen, nothing bounds them from above, and there is no mean.
#[must_use]
pub(super) fn outage_figures(lengths: &[Length], seed: u64, index: u64) -> OutageFigures {
    let estimates: Vec<f64> = lengths.iter().map(|one| one.estimate).collect();
    let ascending = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let sorted = ascending(estimates.clone());
    let lows = ascending(lengths.iter().map(|one| one.low).collect());
    let highs = ascending(lengths.iter().map(|one| one.high).collect());
    let all_seen = lengths.iter().all(|one| !one.is_cut_short);
    let (low, high) = one_sided_bounds(P95, &lows, &highs);
    let p50 = median(&sorted).map(|value| Estimated {
        value,
        low: median_interval(&lows).map(|interval| interval.low),
        high: median_interval(&highs).map(|interval| interval.high),
    });
    // ⌈0.95 n⌉, in whole numbers.
    let rank = (sorted.len() * 19).div_ceil(20);
    OutageFigures {
        p50,
        p95: rank.checked_sub(1).map(|place| Estimated {
            value: sorted[place],
            low,
            high: high.filter(|_| all_seen),
        }),
        max: highs.last().copied(),
        max_low: lows.last().copied(),
        max_bounds_share: (!sorted.is_empty() && all_seen)
            .then(|| bounded_by_largest_of(sorted.len() as u64)),
        mean: mean(&estimates, seed, index).filter(|_| all_seen),
    }
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    match sorted.len() % 2 {
        0 => Some(upper.midpoint(sorted[middle - 1])),
        _ => Some(upper),
    }
}

/// The mean, by resampling; its ends are no less than 0, as no time is.
fn mean(values: &[f64], seed: u64, index: u64) -> Option<Estimated> {
    let Some(sample) = Sample::of(values) else {
        return values.first().map(|value| Estimated {
            value: *value,
            low: None,
            high: None,
        });
    };
    let interval = Pivot::of_skewed(values, seed, index).interval(&sample, CONFIDENCE);
    Some(Estimated {
        value: sample.mean,
        low: Some(interval.low.max(0.0)),
        high: Some(interval.high),
    })
}

fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}

/// The share of arrivals that failed during outages, of all of them together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// The best single figure: by those of outages.
    pub estimate: f64,
    /// Its upper end: by lower ends of outages.
    pub high: f64,
}

impl Impact {
    /// All arrivals.
    pub const WHOLE: Self = Self {
        estimate: 1.0,
        high: 1.0,
    };

    /// That of these trials; `None` without an outage.
    pub(super) fn of(trials: &[&TrialSummary]) -> Option<Self> {
        let outages = trials.iter().map(|trial| &trial.outage);
        let sum = |of: fn(&TrialOutage) -> f64| outages.clone().map(of).sum::<f64>();
        let lost = sum(|outage| outage.lost_s);
        let share = |seconds: f64| if lost < seconds { lost / seconds } else { 1.0 };
        (lost > 0.0).then(|| Self {
            estimate: share(sum(|outage| outage.estimate_s)),
            high: share(sum(|outage| outage.low_s)),
        })
    }
}

fn heal(trials: &[&TrialSummary]) -> HealFigures {
    let outages = trials.iter().map(|trial| &trial.heal_outage);
    let mut sorted: Vec<f64> = outages.clone().map(|outage| outage.estimate_s).collect();
    sorted.sort_by(f64::total_cmp);
    let lost: f64 = outages.clone().map(|outage| outage.lost_s).sum();
    HealFigures {
        with_outage: count(outages.filter(|outage| outage.is_any()).count()),
        p50_s: median(&sorted),
        max_s: sorted.last().copied(),
        lost_s: (!trials.is_empty()).then(|| lost / as_f64(trials.len())),
    }
}

/// Mean losses of a client that tries again, and of one that does not, in the same trials.
fn retried(trials: &[&TrialSummary]) -> Option<(f64, f64)> {
    let lost: Option<Vec<f64>> = trials
        .iter()
        .map(|trial| Some(trial.retried?.lost_s))
        .collect();
    let lost = lost.filter(|lost| !lost.is_empty())?;
    let without = trials
        .iter()
        .map(|trial| trial.outage.lost_s + trial.heal_outage.lost_s);
    let number = as_f64(lost.len());
    Some((
        lost.iter().sum::<f64>() / number,
        without.sum::<f64>() / number,
    ))
}
