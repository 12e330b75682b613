//! Which loads of a search are evidence: those below the upper bound that were carried, and one at the bound that was not.

use super::{Case, Point, attribute};
use crate::record::{Bottleneck, CapacitySummary, Trial, TrialOutcome, TrialPurpose};
use std::collections::BTreeMap;

/// The bottleneck at the end of a search. `seen` has the loads of its trials by number; `None` where the trials that matter are not
/// among them, as they were made by an earlier run.
#[must_use]
pub fn of_search(
    found: &CapacitySummary,
    seen: &BTreeMap<u32, Point>,
    cpus: u32,
) -> Option<Bottleneck> {
    let missed = found.upper_per_s.map(|upper| longest_missed(found, upper));
    let is_below = |trial: &&Trial| {
        let is_evidence = trial.purpose != TrialPurpose::Overload;
        is_evidence
            && trial.outcome == TrialOutcome::Good
            && found
                .upper_per_s
                .is_none_or(|upper| trial.rate_per_s < upper)
    };
    let mut loads: Vec<&Trial> = found.trials.iter().filter(is_below).collect();
    loads.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let point = |trial: &Trial, missed: bool| Some(seen.get(&trial.trial)?.clone().judged(missed));
    let mut points: Vec<Point> = loads
        .into_iter()
        .filter_map(|trial| point(trial, false))
        .collect();
    if let Some(missed) = missed {
        points.push(point(missed?, true)?);
    }
    (!points.is_empty()).then(|| attribute(&Case::of_points(points, cpus)))
}

/// The longest trial at a rate that missed the objective.
fn longest_missed(found: &CapacitySummary, rate_per_s: f64) -> Option<&Trial> {
    let missed = found.trials.iter().filter(|trial| {
        trial.purpose != TrialPurpose::Overload
            && trial.outcome == TrialOutcome::Bad
            && trial.rate_per_s.total_cmp(&rate_per_s).is_eq()
    });
    missed.max_by(|a, b| a.seconds.total_cmp(&b.seconds))
}
