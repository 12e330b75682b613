//! Figures of one fault over its trials.

use crate::record::{
    AvailabilitySettings, Estimated, FailedFailovers, FaultOutages, HealFigures, OutageFigures,
    Role, TrialSummary,
};
use crate::statistics::{
    CONFIDENCE, Pivot, Sample, bounded_by_largest_of, clopper_pearson, left_open_by,
    median_interval,
};
use plimsoll_base::units::{format_number, format_seconds};

/// Seconds that 99.99 % leaves in 30 days.
const BUDGET_S: f64 = 259.2;

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
        let outages: Vec<f64> = counted.iter().map(|trial| length(trial)).collect();
        let came_back = counted.iter().filter(|trial| !trial.failed_failover);
        let lost: Vec<f64> = came_back.map(|trial| trial.outage.lost_s).collect();
        let number =
            |is: fn(&TrialSummary) -> bool| count(counted.iter().filter(|trial| is(trial)).count());
        let lost = mean(&lost, seed, 2 * index + 1);
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
            outage: outage_figures(&outages, seed, 2 * index),
            lost,
            impact: impact(&counted),
            stall_s: largest(counted.iter().map(|trial| trial.stall_s)),
            heal: heal(&counted),
            resolution_s: largest(counted.iter().map(|trial| trial.resolution_s)),
            budget_share: lost.map(|lost| lost.value / BUDGET_S),
            retried_lost_s: retried(&counted),
            sentences: Vec::new(),
        };
        FaultOutages {
            sentences: sentences(&found),
            ..found
        }
    }
}

/// The length that an outage counts as.
fn length(trial: &TrialSummary) -> f64 {
    if trial.below_resolution {
        return trial.outage.estimate_s.max(trial.resolution_s);
    }
    trial.outage.estimate_s
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
#[must_use]
pub fn outage_figures(lengths: &[f64], seed: u64, index: u64) -> OutageFigures {
    let mut sorted = lengths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let interval = median_interval(&sorted);
    let p50 = median(&sorted).map(|value| Estimated {
        value,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    });
    // ⌈0.95 n⌉, in whole numbers.
    let rank = (sorted.len() * 19).div_ceil(20);
    OutageFigures {
        p50,
        p95: rank.checked_sub(1).map(|place| sorted[place]),
        max: sorted.last().copied(),
        max_bounds_share: (!sorted.is_empty()).then(|| bounded_by_largest_of(sorted.len() as u64)),
        mean: mean(lengths, seed, index),
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
pub(super) fn impact(trials: &[&TrialSummary]) -> Option<f64> {
    let with_any = trials.iter().filter(|trial| trial.outage.is_any());
    let (lost, seconds) = with_any.fold((0.0, 0.0), |(lost, seconds), trial| {
        (lost + trial.outage.lost_s, seconds + trial.outage.high_s)
    });
    (seconds > 0.0).then(|| (lost / seconds).min(1.0))
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

fn retried(trials: &[&TrialSummary]) -> Option<f64> {
    let lost: Option<Vec<f64>> = trials
        .iter()
        .map(|trial| Some(trial.retried?.lost_s))
        .collect();
    let lost = lost.filter(|lost| !lost.is_empty())?;
    Some(lost.iter().sum::<f64>() / as_f64(lost.len()))
}

/// A share as a percentage, to a tenth.
fn percent(share: f64) -> String {
    format!("{} %", format_number((share * 1_000.0).round() / 10.0))
}

fn sentences(found: &FaultOutages) -> Vec<String> {
    let n = found.trials;
    if n == 0 {
        return vec!["no trial of it counts".to_owned()];
    }
    let bounded = found.outage.max_bounds_share.unwrap_or_default();
    let mut said = vec![format!(
        "the longest of {n} outages bounds {} of cases (95 % certain)",
        percent(bounded)
    )];
    let failed = &found.failed_failovers;
    said.push(match failed.count {
        0 => format!(
            "callers recovered in all of {n} trials, which leaves open that they do not in {} of cases (95 % certain)",
            percent(left_open_by(u64::from(n)))
        ),
        count => format!(
            "callers did not recover in time in {count} of {n} trials: {} to {} of cases (95 %); each counts as an outage for as long as it was watched",
            percent(failed.low),
            percent(failed.high)
        ),
    });
    if found.without_outage == n {
        said.push(format!(
            "no outage in {n} trials: at most 3 of {n}, {}, have one (95 % certain)",
            percent((3.0 / f64::from(n)).min(1.0))
        ));
    }
    said.extend(
        found
            .budget_share
            .filter(|share| *share > 0.0)
            .map(|share| {
                format!(
                    "one uses {} of what 99.99 % leaves in 30 days, in the mean",
                    percent(share)
                )
            }),
    );
    said.extend(found.retried_lost_s.map(|lost| {
        format!(
            "a client that tries again would lose {} in the mean: an estimate from the same record, in which nobody did",
            format_seconds(lost)
        )
    }));
    if found.reached_into_heal > 0 {
        said.push(format!(
            "`for` was too short in {} of {n} trials: the fault was healed before callers had recovered from it, so these outages say how long it was there",
            found.reached_into_heal
        ));
    }
    if n < 6 {
        said.push(format!(
            "of {n} trials the median has no interval: it takes six"
        ));
    }
    said
}
