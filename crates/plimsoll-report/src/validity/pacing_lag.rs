//! Criterion 2: arrivals were released on time, compared with the times that are judged.
//!
//! The lag is part of every response time. When its p99 is beyond max(0.5 ms, 10 % of the median response), every figure
//! of which it is more than 10 % is marked, and nothing may be concluded from those of which it is more than 25 %.

use crate::record::{ArmData, Effect, LoadModel, Statistic, ValidityRow};
use plimsoll_base::time_kind::TimeKind;

const ALWAYS_ALLOWED: f64 = 0.5e-3;
const MARKED_SHARE: f64 = 0.10;
const INVALID_SHARE: f64 = 0.25;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    if arm.model == LoadModel::Closed {
        return Vec::new();
    }
    let lag = Statistic::P99.of(&arm.histogram(TimeKind::PacingLag));
    let response = arm.histogram(TimeKind::ResponseTime);
    let median = Statistic::P50.of(&response).unwrap_or(0.0);
    let allowed = ALWAYS_ALLOWED.max(MARKED_SHARE * median);
    let Some(late) = lag.filter(|lag| *lag > allowed && !response.is_empty()) else {
        return vec![row(arm, lag, allowed, Effect::None, &[])];
    };
    let figures = Statistic::ALL.map(|s| (s, s.of(&response).unwrap_or(0.0)));
    let (invalid, others): (Vec<_>, Vec<_>) = figures
        .into_iter()
        .partition(|(_, value)| late > INVALID_SHARE * value);
    let marked = others
        .into_iter()
        .filter(|(_, value)| late > MARKED_SHARE * value);
    let marked: Vec<Statistic> = marked.map(|(statistic, _)| statistic).collect();
    let mut rows = Vec::new();
    if !marked.is_empty() {
        rows.push(row(arm, lag, allowed, Effect::Marked, &marked));
    }
    if !invalid.is_empty() {
        let largest = invalid.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let invalid: Vec<Statistic> = invalid.into_iter().map(|(s, _)| s).collect();
        rows.push(row(
            arm,
            lag,
            INVALID_SHARE * largest,
            Effect::Invalid,
            &invalid,
        ));
    }
    rows
}

fn row(
    arm: &ArmData,
    lag: Option<f64>,
    limit: f64,
    effect: Effect,
    on: &[Statistic],
) -> ValidityRow {
    let labels: Vec<&str> = on.iter().map(|statistic| statistic.label()).collect();
    ValidityRow {
        criterion: 2,
        name: match effect {
            Effect::Invalid => "pacing lag p99 against the figures judged".to_owned(),
            Effect::None | Effect::Marked => "pacing lag p99".to_owned(),
        },
        arm: arm.name.clone(),
        value: lag,
        limit,
        unit: "s".to_owned(),
        ok: effect == Effect::None,
        effect,
        affects: on.iter().flat_map(|statistic| paths(*statistic)).collect(),
        advice: match effect {
            Effect::None => "Arrivals were released on time.".to_owned(),
            Effect::Marked => format!(
                "Arrivals were released late: more than a tenth of {} may be the generator's own. Give it a processor of its own, or `pacing: precise`.",
                labels.join(", ")
            ),
            Effect::Invalid => format!(
                "Arrivals were released so late that {} cannot be told from the generator's own lateness: lower the rate, give the generator a processor of its own, or `pacing: precise`.",
                labels.join(", ")
            ),
        },
    }
}

/// The metrics that contain the lag.
fn paths(statistic: Statistic) -> [String; 3] {
    ["response_time", "iteration_time", "added"].map(|time| format!("{time}.{}", statistic.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ClassData, StepData};
    use plimsoll_base::histogram::TimeHistogram;
    use plimsoll_base::outcome::OutcomeClass;

    fn constant(micros: u64, count: usize) -> TimeHistogram {
        let mut histogram = TimeHistogram::new();
        (0..count).for_each(|_| histogram.record_nanos(micros * 1_000));
        histogram
    }

    /// Nine in ten responses take `low`, one in ten `high`; every arrival was `lag` late. All in µs.
    fn arm(model: LoadModel, lag: u64, low: u64, high: u64) -> ArmData {
        let mut arm = ArmData::new("a", "t", model, Some(100.0));
        arm.times.insert(TimeKind::PacingLag, constant(lag, 100));
        let mut response = constant(low, 90);
        response.merge(&constant(high, 10));
        let class = ClassData {
            count: 100,
            times: [(TimeKind::ResponseTime, response)].into(),
        };
        let step = StepData {
            classes: [(OutcomeClass::Passed, class)].into(),
            ..StepData::default()
        };
        arm.steps.insert("s".to_owned(), step);
        arm
    }

    #[test]
    fn effects() {
        let check = |arm: ArmData, expected: &[(Effect, &[&str])]| {
            let rows = judge(&arm);
            let actual: Vec<(Effect, Vec<&str>)> = rows
                .iter()
                .map(|row| {
                    let response = row
                        .affects
                        .iter()
                        .filter_map(|path| path.strip_prefix("response_time."));
                    (row.effect, response.collect())
                })
                .collect();
            let expected: Vec<(Effect, Vec<&str>)> =
                expected.iter().map(|(e, on)| (*e, on.to_vec())).collect();
            assert_eq!(actual, expected);
        };
        check(arm(LoadModel::Open, 400, 200, 200), &[(Effect::None, &[])]);
        check(
            arm(LoadModel::Open, 900, 10_000, 20_000),
            &[(Effect::None, &[])],
        );
        check(
            arm(LoadModel::Open, 1_500, 10_000, 40_000),
            &[(Effect::Marked, &["mean", "p50", "p75", "p90"])],
        );
        check(
            arm(LoadModel::Open, 3_000, 10_000, 40_000),
            &[
                (Effect::Marked, &["mean"]),
                (Effect::Invalid, &["p50", "p75", "p90"]),
            ],
        );
        check(arm(LoadModel::Closed, 9_000, 100, 100), &[]);
    }
}
