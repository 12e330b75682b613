//! The utilisation law: a component whose processors are busy gives way, at a rate that its processor time per request says.

use super::{about, idle, percent};
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation, Processors};
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
        .filter(|one| one.used.is_busy());
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
    let limit =
        (observation.rate.zip(component.used.share())).map_or_else(String::new, |(rate, share)| {
            let most = format_number(rate / share);
            format!(" They are used up at {most}/s, if each request takes as much as here.")
        });
    format!(
        "The processors of {} give way first.{limit}",
        component.name
    )
}

/// `D = U · m / X`, and the rate at which `U` would be 1.
fn demand(observation: &Observation, component: &Processors) -> Vec<String> {
    let mut evidence = vec![format!("{}: {}", component.name, component.used.words())];
    if let (Some(rate), Some(count), Some(share)) =
        (observation.rate, component.count, component.used.share())
    {
        evidence.push(format!(
            "{} of processor time per request = {} · {} / {}/s",
            format_seconds(share * count / rate),
            percent(share),
            format_number(count),
            format_number(rate)
        ));
    }
    evidence
}
