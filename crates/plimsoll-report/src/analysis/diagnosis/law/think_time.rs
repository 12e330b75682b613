//! A plan of users who wait cannot make more requests than users by think time, whatever answers them.

use super::{about, idle, waiting_in_words};
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// A rate this close to the ceiling is the ceiling's: what is left is response time, and users who had not begun.
const CLOSE: f64 = 0.85;

/// Says where the plan was the limit.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    for observation in figures
        .observations
        .iter()
        .filter(|one| !one.is_generator_busy())
    {
        conclusions.extend(of_one(observation));
    }
    conclusions
}

fn of_one(observation: &Observation) -> Option<Conclusion> {
    let (ceiling, users) = (observation.ceiling()?, observation.users?);
    let reached = observation
        .rate
        .is_some_and(|rate| rate >= CLOSE * ceiling && rate <= ceiling);
    let cannot = observation.offered.is_some_and(|offered| offered > ceiling);
    if !reached && !cannot {
        return None;
    }
    let think = observation.mean_think()?;
    let mut evidence = vec![format!(
        "{}/s at most = {} users / {} of mean think time",
        format_number(ceiling),
        format_number(users),
        format_seconds(think)
    )];
    evidence.extend((observation.rate).map(|rate| format!("{}/s answered", format_number(rate))));
    evidence.extend(
        (observation.offered.filter(|_| cannot))
            .map(|offered| format!("{}/s wanted", format_number(offered))),
    );
    evidence.extend(waiting_in_words(observation));
    Some(Conclusion {
        ruled_out: idle(observation.everybody()),
        ..about(
            observation,
            Cause::Plan,
            format!(
                "The plan itself cannot exceed {}/s, which could be said before the run.",
                format_number(ceiling)
            ),
            evidence,
        )
    })
}
