//! The laws, in the order in which their conclusions are read: what makes a measurement worthless comes first.

mod burst;
mod closed_loop;
mod concurrency;
mod downtime;
mod flat;
mod generator;
mod partial_record;
mod pool;
mod processor;
mod serialised;
mod think_time;

use super::{Cause, Conclusion, Figures, IDLE, Observation, Processors};
use plimsoll_base::units::format_number;

/// Looks at the figures and says what follows.
pub(super) type Law = fn(&Figures) -> Vec<Conclusion>;

pub(super) static LAWS: [Law; 11] = [
    concurrency::conclude,
    partial_record::conclude,
    generator::conclude,
    think_time::conclude,
    burst::conclude,
    processor::conclude,
    pool::conclude,
    serialised::conclude,
    closed_loop::conclude,
    flat::conclude,
    downtime::conclude,
];

/// What no law explains, and what would have helped.
pub(super) fn unknown(figures: &Figures, conclusions: &[Conclusion]) -> Vec<Conclusion> {
    let explained = |observation: &&Observation| {
        let mut names = conclusions.iter().flat_map(|one| &one.observations);
        names.any(|name| *name == observation.name)
    };
    let open = figures.observations.iter().filter(|one| !explained(one));
    open.map(|observation| Conclusion {
        ruled_out: idle(observation.everybody()),
        ..about(
            observation,
            Cause::Unknown,
            "These figures do not say what limits it.".to_owned(),
            missing(observation),
        )
    })
    .collect()
}

/// Which figures would say more.
fn missing(observation: &Observation) -> Vec<String> {
    let known = [
        (observation.rate.is_some(), "the rate that was answered"),
        (
            observation.users.is_some() || observation.offered.is_some(),
            "the users, or the rate that was offered",
        ),
        (
            observation.generator.is_some(),
            "the generator's own processor time",
        ),
        (
            !observation.components.is_empty(),
            "the processor time of each component",
        ),
    ];
    let missing = known.iter().filter(|(is_known, _)| !is_known);
    missing
        .map(|(_, what)| format!("missing: {what}"))
        .collect()
}

/// A conclusion from one observation.
fn about(
    observation: &Observation,
    cause: Cause,
    statement: String,
    evidence: Vec<String>,
) -> Conclusion {
    Conclusion {
        observations: vec![observation.name.clone()],
        cause,
        statement,
        evidence,
        ruled_out: Vec::new(),
    }
}

/// What is not the limit, for most of its processor time is left.
fn idle<'a>(components: impl Iterator<Item = &'a Processors>) -> Vec<String> {
    let idle = components.filter(|one| one.share < IDLE);
    idle.map(|one| {
        format!(
            "{}: {} of its processors' time",
            one.name,
            percent(one.share)
        )
    })
    .collect()
}

/// Users that are not waiting for their next turn: `N − X·Z`, by Little's law; negative if the figures contradict each other.
fn in_flight(observation: &Observation) -> Option<f64> {
    Some(observation.users? - observation.rate? * observation.mean_think()?)
}

/// The mean response time that users, rate and think time imply, in seconds: `N/X − Z`.
fn implied_response(observation: &Observation) -> Option<f64> {
    Some(in_flight(observation)? / observation.rate?)
}

fn percent(share: f64) -> String {
    format!("{} %", format_number((share * 1_000.0).round() / 10.0))
}
