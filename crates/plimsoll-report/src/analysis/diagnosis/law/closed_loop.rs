//! Users who ask again when they are answered: the rate is users by response time, so it falls when answers take longer.

use super::pace::is_reached;
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
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
    observation.mean_think().is_none_or(|think| think == 0.0) && !observation.is_anybody_busy()
}

fn of_pair(first: &Observation, second: &Observation) -> Option<Conclusion> {
    let users = first.users.filter(|users| second.users == Some(*users))?;
    let (before, after) = (first.rate?, second.rate?);
    let is_paced = is_reached(first) || is_reached(second);
    if before == after || (is_reached(first) && is_reached(second)) {
        return None;
    }
    let turn = |rate: f64| {
        format!(
            "{}{} = {} users / {}/s",
            if is_paced { "at most " } else { "" },
            format_seconds(users / rate),
            format_number(users),
            format_number(rate)
        )
    };
    Some(Conclusion {
        observations: vec![first.name.clone(), second.name.clone()],
        cause: Cause::ClosedLoop,
        statement: statement((users / after - users / before).abs(), is_paced),
        evidence: vec![turn(before), turn(after)],
        ruled_out: Vec::new(),
    })
}

fn statement(difference: f64, is_paced: bool) -> String {
    if is_paced {
        return "With as many users the rate falls where answers outlast a tick. One of these rates is its plan's, so they bound the mean response times and do not say how far these differ.".to_owned();
    }
    format!(
        "With as many users the rate follows the response time, which differs by {}: the rates say nothing else.",
        format_seconds(difference)
    )
}
