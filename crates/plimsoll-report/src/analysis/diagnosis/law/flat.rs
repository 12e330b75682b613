//! Response times that hardly grow with the rate: the limit lies above the highest that was answered.

use super::KEPT;
use crate::analysis::diagnosis::{Cause, Conclusion, Failed, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// How much longer the longest mean may be than the shortest.
const HARDLY: f64 = 1.5;
/// How many times the lowest rate the highest must be for that to say something.
const FURTHER: f64 = 2.0;

/// Says where no limit was found.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let setups = figures.setups();
    setups
        .iter()
        .filter_map(|levels| of_setup(levels))
        .collect()
}

/// One level that failed, fell behind or took longer, whichever it is, and the line is not flat.
fn of_setup(levels: &[&Observation]) -> Option<Conclusion> {
    let mut offered: Vec<(&Observation, f64)> = (levels.iter())
        .filter_map(|one| Some((*one, one.offered?)))
        .collect();
    offered.sort_by(|one, other| one.1.total_cmp(&other.1));
    let means: Option<Vec<f64>> = offered.iter().map(|(one, _)| one.mean).collect();
    let means = means?;
    let (low, high) = (offered.first()?.1, offered.last()?.1);
    let shortest = means.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = means.iter().copied().fold(0.0, f64::max);
    let is_flat = longest <= HARDLY * shortest && offered.iter().all(|(one, _)| is_well(one));
    (is_flat && high >= FURTHER * low).then(|| Conclusion {
        observations: offered.iter().map(|(one, _)| one.name.clone()).collect(),
        cause: Cause::NotFound,
        statement: statement(&offered, high),
        evidence: (offered.iter().zip(&means))
            .map(|((_, rate), mean)| {
                format!("{} at {}/s", format_seconds(*mean), format_number(*rate))
            })
            .collect(),
        ruled_out: Vec::new(),
    })
}

/// Whether nothing that is stated speaks against it.
fn is_well(one: &Observation) -> bool {
    !one.is_anybody_busy()
        && matches!(one.failed, None | Some(Failed::None))
        && one.kept().is_none_or(|kept| kept >= KEPT)
}

fn statement(levels: &[(&Observation, f64)], high: f64) -> String {
    if levels.iter().all(|(one, _)| one.rate.is_some()) {
        return format!(
            "Response times hardly grow, and what was offered was answered: at least {}/s, and the limit was not found.",
            format_number(high)
        );
    }
    format!(
        "Response times hardly grow up to {}/s, so they show no limit; whether all of that was answered is not stated.",
        format_number(high)
    )
}
