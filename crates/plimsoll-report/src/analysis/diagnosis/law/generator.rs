//! A generator without processor time left measures itself.

use super::{about, idle, waiting, waiting_in_words};
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::format_number;

/// In-flight requests and connections that are so close are the same.
const SAME: f64 = 0.05;

/// Says where the generator was the limit.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let busy = (figures.observations.iter()).filter(|observation| observation.is_generator_busy());
    busy.map(of_one).collect()
}

fn of_one(observation: &Observation) -> Conclusion {
    let mut evidence: Vec<String> = (observation.generator.iter())
        .map(|one| format!("generator: {}", one.used.words()))
        .collect();
    evidence.extend(waiting_in_words(observation));
    if let (Some((waiting, _)), Some(connections)) = (waiting(observation), observation.connections)
        && (connections / waiting - 1.0).abs() <= SAME
    {
        evidence.push(format!(
            "{} connections open: each of those requests holds one",
            format_number(connections)
        ));
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
