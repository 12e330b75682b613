//! A longer time limit of a pool changes how long is waited for a connection, not how many there are.

use crate::diagnosis::{Cause, Conclusion, Figures, Observation};
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
    let (before, after) = (short.rate?, long.rate?);
    let is_one = size == same && limit < longer && (after / before - 1.0).abs() <= SAME;
    let fails_less = short.failed? > long.failed?;
    (is_one && fails_less).then(|| Conclusion {
        observations: vec![short.name.clone(), long.name.clone()],
        cause: Cause::Pool,
        statement: format!(
            "The pool of {} is the limit; the longer time limit only hides the queue in front of it, which belongs to the response time.",
            format_number(size)
        ),
        evidence: vec![
            format!(
                "{}/s with a limit of {}, {}/s with {}: no more is carried",
                format_number(before),
                format_seconds(limit),
                format_number(after),
                format_seconds(longer)
            ),
        ],
        ruled_out: Vec::new(),
    })
}
