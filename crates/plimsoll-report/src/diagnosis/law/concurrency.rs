//! Little's law: users are either waiting for their next turn or for an answer, `N = X · (R + Z)`.

use super::{about, in_flight};
use crate::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::format_number;

/// Says where users, rate and think time cannot all be true.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    figures
        .observations
        .iter()
        .filter_map(contradiction)
        .collect()
}

fn contradiction(observation: &Observation) -> Option<Conclusion> {
    let (rate, ceiling) = (observation.rate?, observation.ceiling()?);
    let users = observation.users?;
    (in_flight(observation)? < 0.0).then(|| {
        about(
            observation,
            Cause::Contradiction,
            format!(
                "{} users cannot have made {}/s with that think time: one of these figures is wrong.",
                format_number(users),
                format_number(rate)
            ),
            vec![format!("{}/s at most = users / mean think time", format_number(ceiling))],
        )
    })
}
