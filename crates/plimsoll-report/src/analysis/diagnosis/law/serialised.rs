//! A low rate of many users while every processor is idle: requests wait for each other somewhere.

use super::{about, idle, waiting_in_words};
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// A rate beyond this share of what the plan can make is the plan's.
const FAR: f64 = 0.5;

/// Says where nobody worked and nobody got on.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    figures.observations.iter().filter_map(of_one).collect()
}

fn of_one(observation: &Observation) -> Option<Conclusion> {
    let (users, rate) = (observation.users?, observation.rate?);
    let is_far = observation
        .ceiling()
        .or(observation.offered)
        .is_some_and(|most| rate < FAR * most);
    // Without the generator's own figure it may be the generator that works.
    let is_idle = observation.generator.is_some()
        && !observation.components.is_empty()
        && observation.everybody().all(|one| one.used.is_idle());
    let mut evidence = vec![format!(
        "{} between two requests of a user = {} users / {}/s",
        format_seconds(users / rate),
        format_number(users),
        format_number(rate)
    )];
    evidence.extend(waiting_in_words(observation));
    (is_far && is_idle).then(|| Conclusion {
        ruled_out: idle(observation.everybody()),
        ..about(
            observation,
            Cause::Serialised,
            format!(
                "Requests wait for each other while no processor works: as if one at a time, each taking {}. Look for a call that blocks in the generator, a lock, or a pool of one.",
                format_seconds(1.0 / rate)
            ),
            evidence,
        )
    })
}
