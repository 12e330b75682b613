//! Little's law: users are either waiting for their next turn or for an answer, `N = X · (R + Z)`. Figures that break it cannot all be true.

use super::about;
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// By how much more than possible it must be: published figures are rounded.
const ROUNDED: f64 = 1.02;

/// Says where users, rate, response time and think time cannot all be true.
pub(in crate::analysis::diagnosis) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    (figures.observations.iter())
        .filter_map(contradiction)
        .collect()
}

fn contradiction(observation: &Observation) -> Option<Conclusion> {
    let (users, rate) = (observation.users?, made(observation)?);
    let turn = turn(observation);
    let needed = rate * turn.iter().map(|(seconds, _)| seconds).sum::<f64>();
    (needed > ROUNDED * users).then(|| {
        about(
            observation,
            Cause::Contradiction,
            format!(
                "{} users, each with one request at a time, cannot have made {}/s: one of these figures is wrong.",
                format_number(users),
                format_number(rate)
            ),
            arithmetic(users, needed / rate, &turn, needed),
        )
    })
}

/// Requests per second, as they are stated or as number and duration have them.
fn made(observation: &Observation) -> Option<f64> {
    let seconds = observation.duration.map(|duration| duration.as_secs_f64());
    let counted = || Some(observation.requests? / seconds.filter(|seconds| *seconds > 0.0)?);
    observation.rate.or_else(counted)
}

/// Least time of a user's turn, in seconds, and its parts; a part that is not stated takes no time.
fn turn(observation: &Observation) -> Vec<(f64, &'static str)> {
    let response = (observation.mean.map(|mean| (mean, "of mean response time"))).or(observation
        .shortest
        .map(|shortest| (shortest, "of shortest response time")));
    let think = observation
        .mean_think()
        .map(|think| (think, "of mean think time"));
    response.into_iter().chain(think).collect()
}

fn arithmetic(users: f64, turn: f64, parts: &[(f64, &str)], needed: f64) -> Vec<String> {
    let parts: Vec<String> = (parts.iter())
        .filter(|(seconds, _)| *seconds > 0.0)
        .map(|(seconds, what)| format!("{} {what}", format_seconds(*seconds)))
        .collect();
    vec![
        format!(
            "{}/s at most = {} users / ({})",
            format_number(users / turn),
            format_number(users),
            parts.join(" + ")
        ),
        format!("{} users would be needed", format_number(needed.ceil())),
    ]
}
