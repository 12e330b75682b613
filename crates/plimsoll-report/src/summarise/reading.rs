//! Values of metrics: a percentile from the times themselves, with its interval; all else from the summary.

use crate::record::metric::{Metric, Percentile, Reading};
use crate::record::{ArmData, ArmSummary};
use crate::statistics::{Quantile, ResponseTimes};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::StepTally;
use plimsoll_base::time_kind::TimeKind;

/// Who judges that exchanges fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailuresAreJudged {
    /// A threshold on the share that failed.
    Apart,
    /// Nobody else: a percentile of what did not fail says little where much did.
    Here,
}

/// Value of `metric` in a load, or in the level of it that the metric is of, whose data are `data`; `figures` are those of the arm.
#[must_use]
pub fn read(
    metric: &Metric,
    figures: &ArmSummary,
    data: &ArmData,
    failures: FailuresAreJudged,
) -> Reading {
    let percentile = || {
        let share = metric.percentile()?;
        Some((share, distribution(metric, data)?))
    };
    let Some((share, times)) = percentile() else {
        return metric.read(figures);
    };
    let quantile = times.quantile(share);
    let (low, high) = times.bounds(share);
    Reading {
        value: quantile.map(|quantile| quantile.value),
        interval: None,
        percentile: Some(Percentile {
            share,
            count: times.count(),
            cut_short: 0,
            is_at_least: quantile.is_some_and(Quantile::is_bound),
            low,
            high,
            without_answer: without_answer(metric, data, failures),
        }),
    }
}

/// The times that a percentile is of; `None` where there are none of this name.
fn distribution(metric: &Metric, data: &ArmData) -> Option<ResponseTimes> {
    if let Some(name) = metric.group() {
        let group = data.groups.get(name)?;
        let times = match metric.is_below("duration") {
            true => &group.duration,
            false => &group.response_time,
        };
        return Some(ResponseTimes::known(times.clone()));
    }
    let steps: Vec<&StepTally> = match metric.step() {
        Some(name) => vec![data.steps.get(name)?],
        None => data.steps.values().collect(),
    };
    let Some(kind) = metric.time_kind() else {
        let mut failed = plimsoll_base::histogram::TimeHistogram::new();
        for step in steps {
            failed.merge(&step.response_times(OutcomeClass::enters_failed_time));
        }
        return Some(ResponseTimes::known(failed));
    };
    Some(match (kind, metric.step()) {
        (TimeKind::ResponseTime, None) => ResponseTimes::of_arm(data),
        (TimeKind::ResponseTime, Some(_)) => ResponseTimes::of_step(steps.first()?),
        (kind, None) => ResponseTimes::known(data.histogram(kind)),
        (kind, Some(_)) => ResponseTimes::known(steps.first()?.histogram(kind)),
    })
}

/// Whether a percentile is of what callers waited for answers, so that those who got none matter.
fn is_of_answers(metric: &Metric) -> bool {
    const OF_ANSWERS: [TimeKind; 5] = [
        TimeKind::ResponseTime,
        TimeKind::ServiceTime,
        TimeKind::IterationTime,
        TimeKind::FirstByteTime,
        TimeKind::BodyTime,
    ];
    let kind = metric.time_kind();
    metric.group().is_some() || kind.is_some_and(|kind| OF_ANSWERS.contains(&kind))
}

/// The share of what was due that got no good answer and never will: arrivals that were dropped, and what failed of those that began.
#[expect(clippy::cast_precision_loss, reason = "shares")]
fn without_answer(metric: &Metric, data: &ArmData, failures: FailuresAreJudged) -> f64 {
    if !is_of_answers(metric) {
        return 0.0;
    }
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let waiting = data.times.get(&TimeKind::UnstartedTime);
    let waiting = waiting.map_or(0, plimsoll_base::histogram::TimeHistogram::count);
    let dropped = share(data.dropped.saturating_sub(waiting), data.intended);
    let failed = match failures {
        FailuresAreJudged::Apart => 0.0,
        FailuresAreJudged::Here => {
            let wanted = |name: &str| metric.step().is_none_or(|step| step == name);
            let steps = || data.steps.iter().filter(|(name, _)| wanted(name));
            let began: u64 = steps()
                .flat_map(|(_, step)| &step.classes)
                .map(|(_, class)| class.count)
                .sum();
            share(steps().map(|(_, step)| step.failed()).sum(), began)
        }
    };
    1.0 - (1.0 - dropped) * (1.0 - failed)
}
