//! hey keeps its first million results and forgets the rest; its percentiles are of those, and its average divides the sum of all by them.

use super::{about, percent};
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// `maxRes` in hey's `requester/requester.go`.
const KEPT: f64 = 1_000_000.0;

/// Says how much of a run the program's figures are about.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    figures.observations.iter().filter_map(of_hey).collect()
}

fn of_hey(observation: &Observation) -> Option<Conclusion> {
    if observation.tool.as_deref() != Some("hey") {
        return None;
    }
    let seconds = observation.duration?.as_secs_f64();
    let requests = observation
        .requests
        .or_else(|| Some(observation.rate? * seconds))?;
    let kept = KEPT / requests;
    (kept < 1.0).then(|| {
        about(
            observation,
            Cause::PartialRecord,
            format!(
                "hey's percentiles are of the first {} of {}, and its average is {} times too high.",
                format_seconds(seconds * kept),
                format_seconds(seconds),
                format_number(1.0 / kept)
            ),
            vec![format!(
                "{} of {} results kept = {}",
                format_number(KEPT),
                format_number(requests),
                percent(kept)
            )],
        )
    })
}
