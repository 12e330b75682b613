//! A longer time limit of a pool changes how long is waited for a connection, not how many there are.

use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// Rates that are so close are the same.
const SAME: f64 = 0.05;

/// Says where errors went away with a longer time limit and the rate stayed.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let all = &figures.observations;
    let pairs = all
        .iter()
        .flat_map(|short| all.iter().map(move |long| (short, long)));
    pairs
        .filter_map(|(short, long)| of_pair(short, long))
        .collect()
}

fn of_pair(short: &Observation, long: &Observation) -> Option<Conclusion> {
    let ((size, limit), (same, longer)) = (short.pool?, long.pool?);
    let no_more = no_more(short, long)?;
    let fails_less = short.failed?.is_more_than(long.failed?);
    (size == same && limit < longer && fails_less).then(|| Conclusion {
        observations: vec![short.name.clone(), long.name.clone()],
        cause: Cause::Pool,
        statement: format!(
            "The longer time limit of the pool of {} carries no more: it only hides the queue in front of it, which belongs to the response time.",
            format_number(size)
        ),
        evidence: vec![format!(
            "fewer failed with {} than with {}, {no_more}",
            format_seconds(longer),
            format_seconds(limit)
        )],
        ruled_out: Vec::new(),
    })
}

/// That the longer time limit brought no more, as the figures or the words of the source have it.
fn no_more(short: &Observation, long: &Observation) -> Option<String> {
    if long.no_more_than.as_ref() == Some(&short.name) {
        return Some("and no more requests were made".to_owned());
    }
    let (before, after) = (short.rate?, long.rate?);
    ((after / before - 1.0).abs() <= SAME).then(|| {
        format!(
            "at {}/s and {}/s",
            format_number(after),
            format_number(before)
        )
    })
}
