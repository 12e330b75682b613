//! A generator without processor time left measures itself.

use super::{about, idle, implied_response, in_flight, percent};
use crate::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// In-flight requests and connections that are so close are the same.
const SAME: f64 = 0.05;

/// Says where the generator was the limit.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let busy = (figures.observations.iter()).filter(|observation| observation.is_generator_busy());
    busy.map(of_one).collect()
}

fn of_one(observation: &Observation) -> Conclusion {
    let share = observation.generator.as_ref().map_or(0.0, |one| one.share);
    let mut evidence = vec![format!(
        "generator: {} of its processors' time",
        percent(share)
    )];
    if let (Some(waiting), Some(response)) = (in_flight(observation), implied_response(observation))
        && waiting >= 0.0
    {
        evidence.push(format!(
            "{} requests in flight = users − rate · think time (Little's law)",
            format_number(waiting)
        ));
        evidence.push(format!(
            "{} of response time = users / rate − think time",
            format_seconds(response)
        ));
        if let Some(connections) = observation.connections
            && (connections / waiting - 1.0).abs() <= SAME
        {
            evidence.push(format!(
                "{} connections open: each of those requests holds one",
                format_number(connections)
            ));
        }
    }
    Conclusion {
        ruled_out: idle(observation.components.iter()),
        ..about(
            observation,
            Cause::Generator,
            "The generator had no processor time left: its figures say nothing about the limit of what it was pointed at.".to_owned(),
            evidence,
        )
    }
}
