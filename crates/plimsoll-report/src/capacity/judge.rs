//! One trial against the objective: good, bad, straddling or void.

use crate::analysis::bearing;
use crate::judgement::validity;
use crate::record::metric::Metric;
use crate::record::{
    ArmData, ArmSummary, Bearing, Bias, Effect, Found, Limit, Manner, Objective, TrialOutcome,
    TrialPurpose, ValidityRow,
};
use crate::statistics::{ResponseTimes, quantile_interval, share_at_least};
use plimsoll_base::units::{format_number, format_seconds};

/// By how much of itself a marked figure may be too large: more, and it were invalid.
const MARKED: f64 = 0.25;

/// By how much of the tightest limit a median may grow within a trial.
const GROWN: f64 = 0.02;
/// A growth below this is that of any program on any machine.
const LEAST_GROWTH_S: f64 = 0.0005;

/// Decision where an interval includes its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decide {
    /// Nothing: a longer trial is to come.
    Interval,
    /// The figure itself: this was the longest trial that there is.
    Figure,
}

impl Decide {
    /// Decision for a trial of this purpose: a longer one may follow a trial of the search, and none a confirmation or an overload.
    #[must_use]
    pub fn of(purpose: TrialPurpose) -> Self {
        match purpose {
            TrialPurpose::Search => Self::Interval,
            TrialPurpose::Confirmation | TrialPurpose::Overload => Self::Figure,
        }
    }
}

/// Judgement of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// In a word.
    pub outcome: TrialOutcome,
    /// One sentence: why.
    pub reason: String,
    /// The figures that have limits.
    pub found: Vec<Found>,
    /// How the target bore the rate.
    pub bearing: Bearing,
}

/// Judges the load of one trial. `best_per_s` is the highest goodput of trials at lower rates.
///
/// A missed objective decides before a void figure: one criterion of the objective that is missed in a figure that stands is enough. A rate that
/// is not sustained misses every objective, because its figures get worse for as long as it lasts.
#[must_use]
pub fn judge(
    data: &ArmData,
    figures: &ArmSummary,
    objective: &Objective,
    best_per_s: Option<f64>,
    decide: Decide,
) -> Judged {
    let rows = validity::judge_load(data);
    let bearing = bearing::judge(data, figures, best_per_s).unwrap_or_else(nothing_borne);
    let found: Vec<Found> = objective
        .limits
        .iter()
        .map(|limit| found(data, *limit))
        .collect();
    let mut said: Vec<(TrialOutcome, String)> = Vec::new();
    if let Some(row) = rows.iter().find(|row| validity::invalidates_arm(row)) {
        said.push((TrialOutcome::Void, described(row)));
    } else {
        said.extend(unsustained(&rows, data, &bearing));
        said.extend(growing(data, objective, decide));
        said.push(errors(&rows, data, figures, objective, decide));
        said.extend(found.iter().map(|found| limit(&rows, data, found, decide)));
    }
    let order = [
        TrialOutcome::Bad,
        TrialOutcome::Void,
        TrialOutcome::Straddling,
        TrialOutcome::Good,
    ];
    let first = order
        .into_iter()
        .find_map(|outcome| said.iter().find(|(said, _)| *said == outcome));
    let (outcome, reason) = match first {
        Some((TrialOutcome::Good, _)) => {
            let held = said.into_iter().map(|(_, reason)| reason);
            (TrialOutcome::Good, held.collect::<Vec<_>>().join(", "))
        }
        Some((outcome, reason)) => (*outcome, reason.clone()),
        None => (TrialOutcome::Void, "nothing was measured".to_owned()),
    };
    Judged {
        outcome,
        reason,
        found,
        bearing,
    }
}

/// Response times that grow within a trial, with a backlog, would miss every objective were it longer.
fn growing(
    data: &ArmData,
    objective: &Objective,
    decide: Decide,
) -> Option<(TrialOutcome, String)> {
    let backlog = data.backlog?;
    #[expect(clippy::cast_precision_loss, reason = "counts of arrivals")]
    let [middle, end] = [backlog.middle, backlog.end].map(|count| count as f64);
    if end - middle <= middle.max(1.0).sqrt() {
        return None;
    }
    let tightest = objective.limits.iter().map(|limit| limit.at_most_s);
    let limit = tightest.fold(f64::INFINITY, f64::min);
    let (first, second) = growth_of_median(data)?;
    let grown = second - first;
    // By Little's law the backlog grows by what the times do at the rate: where it did not by half of that, they grew for another reason.
    let explains = 0.5 * grown * data.offered_per_s.unwrap_or(0.0);
    if grown <= LEAST_GROWTH_S.max(GROWN * limit) || end - middle < explains {
        return None;
    }
    let outcome = match decide {
        Decide::Interval => TrialOutcome::Straddling,
        Decide::Figure => TrialOutcome::Bad,
    };
    let reason = format!(
        "the backlog grows: from {middle} to {end} in the second half, in which the median was {}, and {} in the first",
        format_seconds(second),
        format_seconds(first)
    );
    Some((outcome, reason))
}

/// The medians of both halves, where that of the second is larger by more than chance.
fn growth_of_median(data: &ArmData) -> Option<(f64, f64)> {
    let halves = data.health.halves.as_ref()?;
    let first = quantile_interval(&halves.first, 0.5)?;
    let second = quantile_interval(&halves.second, 0.5)?;
    let medians = halves.first.quantile(0.5).zip(halves.second.quantile(0.5));
    medians.filter(|_| second.low > first.high)
}

fn nothing_borne() -> Bearing {
    Bearing {
        manner: Manner::Sustains,
        answered_per_s: 0.0,
        good_per_s: 0.0,
        backlog_growth_per_s: 0.0,
        lost_share: 0.0,
        burst: false,
        sentence: "no rate was offered".to_owned(),
    }
}

/// A limited figure with its interval.
fn found(data: &ArmData, limit: Limit) -> Found {
    let times = ResponseTimes::of_arm(data);
    let (low, high) = match limit.figure.share() {
        Some(share) => times.bounds(share),
        None => (None, None),
    };
    Found {
        figure: limit.figure,
        value: times.figure(limit.figure),
        low,
        high,
        limit: limit.at_most_s,
    }
}

fn unsustained(
    rows: &[ValidityRow],
    data: &ArmData,
    bearing: &Bearing,
) -> Option<(TrialOutcome, String)> {
    if bearing.manner == Manner::Sustains || bearing.manner == Manner::Sheds {
        return None;
    }
    let outcome = match ruled_out(rows, &data.name, "achieved_per_s") {
        Some(row) => (TrialOutcome::Void, described(row)),
        None => (TrialOutcome::Bad, bearing.sentence.clone()),
    };
    Some(outcome)
}

/// Failed exchanges and dropped arrivals. So few that chance may have brought them over the share are for a longer trial to judge.
fn errors(
    rows: &[ValidityRow],
    data: &ArmData,
    figures: &ArmSummary,
    objective: &Objective,
    decide: Decide,
) -> (TrialOutcome, String) {
    let missed = data.dropped + figures.failed;
    let all = figures.outcomes.results() + data.dropped;
    if all == 0 {
        return (TrialOutcome::Bad, "no exchange ended".to_owned());
    }
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = missed as f64 / all as f64;
    let percent = |share: f64| format!("{:.3} %", 100.0 * share);
    let said = format!("{} of the exchanges were missed", percent(share));
    if share <= objective.errors {
        return (TrialOutcome::Good, said);
    }
    if let Some(row) = ruled_out(rows, &data.name, "failed_share") {
        return (TrialOutcome::Void, described(row));
    }
    let beyond = format!("{said}, more than {}", percent(objective.errors));
    if decide == Decide::Interval && share_at_least(missed, all) <= objective.errors {
        return (TrialOutcome::Straddling, beyond);
    }
    (TrialOutcome::Bad, beyond)
}

fn limit(
    rows: &[ValidityRow],
    data: &ArmData,
    found: &Found,
    decide: Decide,
) -> (TrialOutcome, String) {
    let arm = data.name.as_str();
    let name = found.figure.label();
    let limit = format_seconds(found.limit);
    let Some(value) = found.value else {
        return (TrialOutcome::Bad, "no exchange was answered".to_owned());
    };
    let (low, high) = match decide {
        Decide::Figure => (value, at_most(data, found).unwrap_or(f64::INFINITY)),
        Decide::Interval => (
            found.low.unwrap_or(0.0),
            found.high.unwrap_or(f64::INFINITY),
        ),
    };
    let within = match (decide, found.low, found.high) {
        (Decide::Interval, Some(low), Some(high)) => {
            format!(" ({} to {})", format_seconds(low), format_seconds(high))
        }
        _ => String::new(),
    };
    let said = format!("{name} {}{within}", format_seconds(value));
    let path = format!("response_time.{}", found.figure.name());
    // What is too large, if anything, and lies below the limit, lies below it in truth.
    let matters = |row: &&ValidityRow| row.bias != Bias::TooLarge || value > found.limit;
    let row = strongest(rows, arm, &path).filter(matters);
    let invalid = row.filter(|row| row.effect == Effect::Invalid);
    if high <= found.limit && invalid.is_none() {
        return (TrialOutcome::Good, format!("{said} ≤ {limit}"));
    }
    if let Some(row) = invalid {
        return (TrialOutcome::Void, described(row));
    }
    let truly = if row.is_some() {
        low * (1.0 - MARKED)
    } else {
        low
    };
    if truly > found.limit {
        return (TrialOutcome::Bad, format!("{said} > {limit}"));
    }
    match (row, decide) {
        (Some(row), _) if low > found.limit => (TrialOutcome::Void, described(row)),
        (_, Decide::Figure) if value <= found.limit => (
            TrialOutcome::Bad,
            format!(
                "{said} or more: too many arrivals were never answered to be sure of ≤ {limit}"
            ),
        ),
        (_, Decide::Figure) => (TrialOutcome::Bad, format!("{said} > {limit}")),
        (_, Decide::Interval) => (
            TrialOutcome::Straddling,
            format!("the interval of {said} straddles {limit}"),
        ),
    }
}

/// Upper bound of a figure: `None` where it rests on arrivals that were given up.
fn at_most(data: &ArmData, found: &Found) -> Option<f64> {
    let times = ResponseTimes::of_arm(data);
    match found.figure.share() {
        Some(share) => times.quantile(share)?.at_most,
        None => found.value,
    }
}

fn strongest<'a>(rows: &'a [ValidityRow], arm: &str, path: &str) -> Option<&'a ValidityRow> {
    let metric = Metric::parse(path).ok()?;
    validity::strongest(rows, arm, &metric)
}

fn ruled_out<'a>(rows: &'a [ValidityRow], arm: &str, path: &str) -> Option<&'a ValidityRow> {
    strongest(rows, arm, path).filter(|row| row.effect == Effect::Invalid)
}

fn described(row: &ValidityRow) -> String {
    format!("criterion {}, {}: {}", row.criterion, row.name, row.advice)
}

/// The objective in words: `p99 ≤ 200 ms and at most 0.1 % missed`.
#[must_use]
pub fn objective_words(objective: &Objective) -> String {
    let limits = objective.limits.iter().map(|limit| {
        format!(
            "{} ≤ {}",
            limit.figure.label(),
            format_seconds(limit.at_most_s)
        )
    });
    let errors = format!("at most {} % missed", format_share(objective.errors));
    limits.chain([errors]).collect::<Vec<_>>().join(", ")
}

fn format_share(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 1.0 || percent == 0.0 {
        format_number(percent)
    } else {
        let text = format!("{percent:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample::{arm, histogram};
    use crate::record::{Backlog, Halves, Statistic};
    use crate::summarise::figures;

    const OBJECTIVE: Limit = Limit {
        figure: Statistic::P99,
        at_most_s: 0.2,
    };

    fn judged(data: &ArmData) -> Judged {
        judged_by(data, Decide::Interval)
    }

    fn judged_by(data: &ArmData, decide: Decide) -> Judged {
        let objective = Objective {
            limits: vec![OBJECTIVE],
            errors: 0.001,
        };
        judge(data, &figures(data), &objective, None, decide)
    }

    /// A trial of so many exchanges of 3.7 ms.
    fn quick(count: u64) -> ArmData {
        let mut data = arm("a", &histogram((0..count).map(|_| 3_700)));
        data.steps["s"].statuses.insert(200, count);
        data
    }

    #[test]
    fn what_may_be_too_large_and_is_far_below_its_limit_is_below_it() {
        let mut data = quick(400);
        // A quarter of the p99 may be lag: that is nothing to conclude from, but for what lies above it.
        let lag = data
            .times
            .entry(plimsoll_base::time_kind::TimeKind::PacingLag);
        *lag.or_default() = histogram([1_100; 400]);
        assert_eq!(
            judged(&data).outcome,
            TrialOutcome::Good,
            "{:?}",
            judged(&data)
        );
        // With too few times for an interval a longer trial decides, and nothing is void.
        let mut few = quick(100);
        few.times = data.times.clone();
        assert_eq!(judged(&few).outcome, TrialOutcome::Straddling);
    }

    #[test]
    fn a_trial_in_which_times_grow_says_nothing_and_a_confirmation_does_not_hold() {
        let mut data = quick(400);
        data.backlog = Some(Backlog {
            middle: 2,
            end: 12,
            seconds: 5.0,
            dropped: 0,
        });
        let halves = |second: u64| {
            Some(Halves {
                first: histogram([5_000; 200]),
                second: histogram(vec![second; 200]),
            })
        };
        data.health.halves = halves(56_000);
        assert_eq!(judged(&data).outcome, TrialOutcome::Straddling);
        let grown = judged_by(&data, Decide::of(TrialPurpose::Confirmation));
        assert_eq!(grown.outcome, TrialOutcome::Bad);
        assert_eq!(
            grown.reason,
            "the backlog grows: from 2 to 12 in the second half, in which the median was 56.0 ms, and 5.00 ms in the first"
        );
        // A little of a generous limit is nothing, and without a backlog it is something else.
        data.health.halves = halves(8_000);
        assert_eq!(judged(&data).outcome, TrialOutcome::Good);
        data.health.halves = halves(56_000);
        data.backlog = None;
        assert_eq!(judged(&data).outcome, TrialOutcome::Good);
    }

    #[test]
    fn a_percentile_that_is_only_known_to_be_at_least_something_holds_no_confirmation() {
        let mut data = quick(400);
        let objective = Objective {
            limits: vec![OBJECTIVE],
            errors: 0.1,
        };
        let judged = |data: &ArmData| judge(data, &figures(data), &objective, None, Decide::Figure);
        assert_eq!(judged(&data).outcome, TrialOutcome::Good);
        data.dropped = 15;
        let found = judged(&data);
        assert_eq!(found.outcome, TrialOutcome::Bad);
        assert!(found.reason.contains("never answered"), "{}", found.reason);
    }
}
