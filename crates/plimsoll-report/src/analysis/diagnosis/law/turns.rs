//! The time of a user that nobody accounts for: a turn takes `N/X`, an answer `R` of it, and what the rest is the source does not say.

use super::about;
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// A rest that is shorter than this share of a turn is rounding.
const ROUNDED: f64 = 0.05;

/// Says where users, rate and response time leave a part of a user's time open.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let open = (figures.observations.iter())
        .filter(|one| one.think.is_none() && one.offered.is_none() && !one.is_generator_busy());
    open.filter_map(|one| match one.rate {
        Some(rate) => with_rate(one, rate),
        None => without_rate(one),
    })
    .collect()
}

fn with_rate(observation: &Observation, rate: f64) -> Option<Conclusion> {
    let (users, mean) = (observation.users?, observation.mean?);
    let turn = users / rate;
    let rest = turn - mean;
    (rest > ROUNDED * turn).then(|| {
        about(
            observation,
            Cause::Unexplained,
            format!(
                "{} of the {} users wait for an answer at a time; what the others do is not stated.",
                format_number(rate * mean),
                format_number(users)
            ),
            vec![
                format!(
                    "{} in flight = {}/s · {} (Little's law)",
                    format_number(rate * mean),
                    format_number(rate),
                    format_seconds(mean)
                ),
                format!(
                    "{} of each {} unexplained = {} users / {}/s − {}",
                    format_seconds(rest),
                    format_seconds(turn),
                    format_number(users),
                    format_number(rate),
                    format_seconds(mean)
                ),
            ],
        )
    })
}

fn without_rate(observation: &Observation) -> Option<Conclusion> {
    let (users, mean) = (observation.users?, observation.mean?);
    let mut evidence = vec![format!(
        "{}/s = {} users / {}, if each asks again at once",
        format_number(users / mean),
        format_number(users),
        format_seconds(mean)
    )];
    if mean < 1.0 {
        evidence.push(format!(
            "{} in flight, and {} of each second unexplained, if each asks once a second",
            format_number(users * mean),
            format_seconds(1.0 - mean)
        ));
    }
    Some(about(
        observation,
        Cause::Unexplained,
        format!(
            "{} users say nothing of the load: neither the rate nor their think time is stated.",
            format_number(users)
        ),
        evidence,
    ))
}
