//! The utilisation law: a component whose processors are busy gives way, at a rate that its processor time per request says.

use super::{about, idle, percent};
use crate::diagnosis::{BUSY, Cause, Conclusion, Figures, Observation, Processors};
use plimsoll_base::units::{format_number, format_seconds};

/// Says where a component had nothing left to give.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let sound =
        (figures.observations.iter()).filter(|observation| !observation.is_generator_busy());
    sound.flat_map(of_one).collect()
}

fn of_one(observation: &Observation) -> Vec<Conclusion> {
    let busy = observation
        .components
        .iter()
        .filter(|one| one.share >= BUSY);
    busy.map(|one| Conclusion {
        ruled_out: idle(observation.everybody()),
        ..about(
            observation,
            Cause::Processor,
            statement(observation, one),
            demand(observation, one),
        )
    })
    .collect()
}

fn statement(observation: &Observation, component: &Processors) -> String {
    let limit = observation.rate.map_or_else(String::new, |rate| {
        format!(" It can carry {}/s.", format_number(rate / component.share))
    });
    format!(
        "The processors of {} give way first.{limit}",
        component.name
    )
}

/// `D = U · m / X`, and the rate at which `U` would be 1.
fn demand(observation: &Observation, component: &Processors) -> Vec<String> {
    let mut evidence = vec![format!(
        "{}: {} of its processors' time",
        component.name,
        percent(component.share)
    )];
    if let (Some(rate), Some(count)) = (observation.rate, component.count) {
        evidence.push(format!(
            "{} of processor time per request = {} · {} / {}/s; all of it is used at {}/s",
            format_seconds(component.share * count / rate),
            percent(component.share),
            format_number(count),
            format_number(rate),
            format_number(rate / component.share)
        ));
    }
    evidence
}
