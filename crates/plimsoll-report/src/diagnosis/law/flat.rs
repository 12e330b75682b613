//! Response times that hardly grow with the rate: the limit lies above the highest.

use super::burst::drained;
use crate::diagnosis::{BUSY, Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// How much longer the mean may be at the highest rate than at the lowest.
const HARDLY: f64 = 1.5;
/// The share of the offered rate that must have been answered.
const KEPT: f64 = 0.95;
/// How many times the lowest rate the highest must be for that to say something.
const FURTHER: f64 = 2.0;

/// Says where no limit was found.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let mut levels: Vec<(&Observation, f64, f64)> = (figures.observations.iter())
        .filter(|one| drained(one).is_none() && one.everybody().all(|one| one.share < BUSY))
        .filter(|one| one.failed.is_none_or(|failed| failed == 0.0))
        .filter_map(|one| Some((one, one.offered?, one.mean?)))
        .filter(|(one, offered, _)| one.rate.is_none_or(|rate| rate >= KEPT * offered))
        .collect();
    levels.sort_by(|one, other| one.1.total_cmp(&other.1));
    let (Some((_, low, short)), Some((_, high, long))) = (levels.first(), levels.last()) else {
        return Vec::new();
    };
    if *high < FURTHER * low || *long > HARDLY * short {
        return Vec::new();
    }
    vec![Conclusion {
        observations: levels.iter().map(|(one, _, _)| one.name.clone()).collect(),
        cause: Cause::NotFound,
        statement: format!(
            "Nothing gave way: at least {}/s, and the limit was not found.",
            format_number(*high)
        ),
        evidence: (levels.iter())
            .map(|(_, rate, mean)| {
                format!("{} at {}/s", format_seconds(*mean), format_number(*rate))
            })
            .collect(),
        ruled_out: Vec::new(),
    }]
}
