//! Users who ask again when they are answered: the rate is users by response time, so it falls when answers take longer.

use crate::diagnosis::{BUSY, Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// Says where two rates of as many users differ by nothing but the response time.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let closed: Vec<&Observation> = (figures.observations.iter())
        .filter(|one| is_closed(one))
        .collect();
    let pairs = closed.windows(2);
    pairs.filter_map(|pair| of_pair(pair[0], pair[1])).collect()
}

/// Whether its users never think, and neither they nor what they ask are out of processor time.
fn is_closed(observation: &Observation) -> bool {
    observation.mean_think().is_none_or(|think| think == 0.0)
        && observation.everybody().all(|one| one.share < BUSY)
}

fn of_pair(first: &Observation, second: &Observation) -> Option<Conclusion> {
    let users = first.users.filter(|users| second.users == Some(*users))?;
    let (before, after) = (first.rate?, second.rate?);
    let (shorter, longer) = (users / before, users / after);
    (before != after).then(|| Conclusion {
        observations: vec![first.name.clone(), second.name.clone()],
        cause: Cause::ClosedLoop,
        statement: format!(
            "With as many users the rate follows the response time, which differs by {}: the rates say nothing else.",
            format_seconds((longer - shorter).abs())
        ),
        evidence: vec![
            format!("{} = {} users / {}/s", format_seconds(shorter), format_number(users), format_number(before)),
            format!("{} = {} users / {}/s", format_seconds(longer), format_number(users), format_number(after)),
        ],
        ruled_out: Vec::new(),
    })
}
