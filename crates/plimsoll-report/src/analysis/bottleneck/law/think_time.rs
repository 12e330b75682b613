//! A plan of users who wait cannot begin more iterations than users by waiting time, whatever answers them: the response time law of
//! interactive systems, N = X (R + Z).

use super::{Ruling, cause};
use crate::analysis::bottleneck::case::Case;
use crate::record::CauseKind;
use plimsoll_base::units::format_number;

/// A rate this close to the ceiling is the ceiling's: what is left is response time.
const CLOSE: f64 = 0.85;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let Some(ceiling) = &point.plan.waiting else {
        return Ruling::default();
    };
    let (found, most) = (point.iterations_per_s, ceiling.per_s);
    let evidence = vec![
        format!(
            "at most {} iterations/s: {}",
            format_number(most),
            ceiling.sentence
        ),
        format!("{} iterations/s were begun", format_number(found)),
    ];
    if found < CLOSE * most {
        let sentence = format!("the plan's waits: {}", evidence.join("; "));
        return Ruling::ruled_out(sentence);
    }
    let mut found_cause = cause(
        CauseKind::ThinkTime,
        None,
        format!(
            "The plan itself cannot exceed {} iterations/s: its users wait.",
            format_number(most)
        ),
        evidence,
    );
    let per_iteration = point.achieved_per_s / found.max(f64::MIN_POSITIVE);
    found_cause.predicted_per_s = Some(most * per_iteration);
    Ruling {
        causes: vec![found_cause],
        decisive: true,
        ..Ruling::default()
    }
}
