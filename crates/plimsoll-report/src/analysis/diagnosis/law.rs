//! The laws, in the order in which their conclusions are read: what makes a measurement worthless comes first.

mod burst;
mod closed_loop;
mod concurrency;
mod downtime;
mod flat;
mod generator;
mod pace;
mod partial_record;
mod pool;
mod processor;
mod serialised;
mod single;
mod think_time;
mod turns;

use super::{Cause, Conclusion, Figures, Observation, Processors, percent};
pub(super) use concurrency::conclude as impossible;
use plimsoll_base::units::{format_number, format_seconds};

/// Looks at the figures and says what follows.
pub(super) type Law = fn(&Figures) -> Vec<Conclusion>;

pub(super) static LAWS: [Law; 13] = [
    partial_record::conclude,
    generator::conclude,
    think_time::conclude,
    pace::conclude,
    burst::conclude,
    processor::conclude,
    pool::conclude,
    serialised::conclude,
    closed_loop::conclude,
    turns::conclude,
    flat::conclude,
    single::conclude,
    downtime::conclude,
];

/// The share of what was offered that must have been answered for it to have been carried.
const KEPT: f64 = 0.97;

/// Figures that no law explains, and what would have helped.
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
            nothing_follows(observation),
            missing(observation),
        )
    })
    .collect()
}

fn nothing_follows(observation: &Observation) -> String {
    match (observation.offered, observation.rate) {
        (Some(offered), None) => format!(
            "These figures do not say whether {}/s were carried, nor what limits it.",
            format_number(offered)
        ),
        _ => "These figures do not say what limits it.".to_owned(),
    }
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

/// Components that are not the limit, for most of their processor time is left.
fn idle<'a>(components: impl Iterator<Item = &'a Processors>) -> Vec<String> {
    let idle = components.filter(|one| one.used.is_idle());
    idle.map(|one| format!("{}: {}", one.name, one.used.words()))
        .collect()
}

/// Users that are not waiting for their next turn, and how long each waits for an answer: `N − X·Z` and `N/X − Z`, by Little's law.
fn waiting(observation: &Observation) -> Option<(f64, f64)> {
    let (users, rate) = (observation.users?, observation.rate?);
    let waiting = users - rate * observation.mean_think()?;
    (waiting >= 0.0).then_some((waiting, waiting / rate))
}

/// The waiting times in words, a line each; none where a figure is missing.
fn waiting_in_words(observation: &Observation) -> Vec<String> {
    let Some((waiting, response)) = waiting(observation) else {
        return Vec::new();
    };
    vec![
        format!(
            "{} requests in flight = users − rate · think time (Little's law)",
            format_number(waiting)
        ),
        format!(
            "{} of response time = users / rate − think time",
            format_seconds(response)
        ),
    ]
}

/// `a`, `a and b`, `a, b and c`.
fn enumerated(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
