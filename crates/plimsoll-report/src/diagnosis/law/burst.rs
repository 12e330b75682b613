//! Requests that come at once and are answered one after another: the last waits for all of them, the mean for half.

use super::percent;
use crate::bearing::DRAINING;
use crate::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// How much faster than it was answered it must have been offered.
const FASTER: f64 = 1.25;

/// Says where a rate was not sustained, and what was. All such observations together are one conclusion.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let drained: Vec<(&Observation, f64)> = (figures.observations.iter())
        .filter_map(|observation| Some((observation, drained(observation)?)))
        .collect();
    let rates = drained.iter().map(|(_, rate)| *rate);
    let (lowest, highest) = (
        rates.clone().fold(f64::INFINITY, f64::min),
        rates.fold(0.0, f64::max),
    );
    if drained.is_empty() {
        return Vec::new();
    }
    let carried = if drained.len() == 1 {
        format_number(lowest)
    } else {
        format!("{} to {}", format_number(lowest), format_number(highest))
    };
    vec![Conclusion {
        observations: drained.iter().map(|(one, _)| one.name.clone()).collect(),
        cause: Cause::NotSustained,
        statement: format!("The rates were not sustained: {carried} per second were answered."),
        evidence: drained
            .iter()
            .filter_map(|(one, rate)| arithmetic(one, *rate))
            .collect(),
        ruled_out: Vec::new(),
    }]
}

/// At what rate requests were answered while one burst of them drained; `None` if that is not what happened.
pub(super) fn drained(observation: &Observation) -> Option<f64> {
    let (mean, longest) = (observation.mean?, observation.longest?);
    let rate = observation.requests? / longest;
    let is_faster = observation
        .offered
        .is_none_or(|offered| offered > FASTER * rate);
    (DRAINING.contains(&(mean / longest)) && is_faster).then_some(rate)
}

fn arithmetic(observation: &Observation, rate: f64) -> Option<String> {
    let (mean, longest) = (observation.mean?, observation.longest?);
    Some(format!(
        "{}: {} requests / {} = {}/s; the mean is {} of the longest, as when one burst drains",
        observation.name,
        format_number(observation.requests?),
        format_seconds(longest),
        format_number(rate),
        percent(mean / longest)
    ))
}
