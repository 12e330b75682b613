//! Users who begin a request at each tick of a clock: where nearly all ticks were used, the clock is the limit, and the time between two
//! requests of a user is the clock's.

use super::{KEPT, about, idle, percent};
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// Says where the plan allowed no more.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let sound = (figures.observations.iter()).filter(|one| !one.is_generator_busy());
    sound.filter_map(of_one).collect()
}

/// Whether users who are paced, and not by think time, made nearly all requests of their plan.
pub(super) fn is_reached(observation: &Observation) -> bool {
    observation.users.is_some()
        && observation.mean_think().is_none_or(|think| think == 0.0)
        && observation.kept().is_some_and(|kept| kept >= KEPT)
}

fn of_one(observation: &Observation) -> Option<Conclusion> {
    let (users, rate) = (observation.users?, observation.rate?);
    let (offered, kept) = (observation.offered?, observation.kept()?);
    is_reached(observation).then(|| Conclusion {
        ruled_out: idle(observation.everybody()),
        ..about(
            observation,
            Cause::Plan,
            format!(
                "{} of the plan was answered, which asks for no more: the limit of what was tested lies higher.",
                percent(kept)
            ),
            vec![
                format!(
                    "{}/s answered of {}/s",
                    format_number(rate),
                    format_number(offered)
                ),
                format!(
                    "{} = {} users / {}/s is the tick of {} ({} by its plan), and no response time",
                    format_seconds(users / rate),
                    format_number(users),
                    format_number(rate),
                    observation.tool.as_deref().unwrap_or("the generator"),
                    format_seconds(users / offered)
                ),
            ],
        )
    })
}
