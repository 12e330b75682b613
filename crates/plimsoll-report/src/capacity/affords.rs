//! The search that a budget allows, before it is spent: the search itself against targets without noise.

use super::search::{Next, SAME, Settings, Taken, bounds, next};
use crate::record::{Class, SearchEnd, TrialOutcome, TrialPurpose};
use plimsoll_base::units::{format_number, format_seconds};

/// Capacities that are tried, in multiples of the first rate.
const MULTIPLES: [f64; 7] = [0.13, 0.7, 1.3, 5.3, 11.0, 23.0, 47.0];

/// The search that a budget allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Affords {
    /// Trials of full length that the budget holds.
    pub trials: u32,
    /// The highest capacity, in multiples of the first rate, that is found with the wanted precision; `None` when not even one near it is.
    pub precise_up_to: Option<f64>,
    /// The width that is reached at the worst of the capacities that were tried; `None` where one of them is not even enclosed.
    pub worst_width: Option<f64>,
    /// One sentence.
    pub sentence: String,
}

/// The search that the budget of `settings` allows where no trial misleads: noise takes more.
#[must_use]
pub fn affords(settings: &Settings) -> Affords {
    let widths = MULTIPLES.map(|multiple| (multiple, width(settings, settings.from * multiple)));
    let wanted = settings.precision;
    let precise = widths
        .iter()
        .filter(|(multiple, _)| *multiple > 1.0)
        .take_while(|(_, found)| found.is_some_and(|(width, sure)| sure && width <= wanted));
    let precise_up_to = precise.map(|(multiple, _)| *multiple).last();
    let worst_width = widths
        .iter()
        .map(|(_, found)| *found)
        .try_fold(0.0_f64, |worst, found| Some(worst.max(found?.0)));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of trials; saturation is fine"
    )]
    let trials = (settings.budget_s / settings.cost_s(settings.trial_s)) as u32;
    let mut affords = Affords {
        trials,
        precise_up_to,
        worst_width,
        sentence: String::new(),
    };
    affords.sentence = sentence(settings, &affords);
    affords
}

fn sentence(settings: &Settings, affords: &Affords) -> String {
    let percent = |share: f64| format!("{} %", format_number(100.0 * share));
    let budget = format!(
        "a budget of {} holds {} trials of {}",
        format_seconds(settings.budget_s),
        affords.trials,
        format_seconds(settings.trial_s)
    );
    let wanted = percent(settings.precision);
    let top = MULTIPLES[MULTIPLES.len() - 1];
    let highest = settings.to.unwrap_or(f64::INFINITY);
    match (affords.precise_up_to, affords.worst_width) {
        (Some(multiple), _) if multiple >= top && settings.from * multiple >= highest => format!(
            "{budget}: enough for an interval {wanted} wide, or to see {}/s carried, the highest rate that is offered (`to`)",
            format_number(highest)
        ),
        (Some(multiple), _) if multiple >= top => format!(
            "{budget}: enough for an interval {wanted} wide, up to a capacity of {}/s",
            format_number(settings.from * multiple)
        ),
        (Some(multiple), _) => format!(
            "{budget}: enough for an interval {wanted} wide up to a capacity of {}/s; above that it will be wider: begin nearer to it (`from`), or allow more time (`budget`)",
            format_number(settings.from * multiple)
        ),
        (None, Some(worst)) if worst <= settings.precision => format!(
            "{budget}: enough for an interval {wanted} wide, on fewer trials than it takes to be sure: allow more time (`budget`), or shorter trials (`trial`)"
        ),
        (None, Some(worst)) => format!(
            "{budget}: not enough for an interval {wanted} wide; it will be about {} wide: allow more time (`budget`), shorter trials (`trial`), or a wider interval (`precision`)",
            percent(worst)
        ),
        (None, None) => format!(
            "{budget}: not enough to enclose a capacity far from {}/s: allow more time (`budget`), or begin nearer to it (`from`)",
            format_number(settings.from)
        ),
    }
}

/// The width of the interval that a search of a target without noise ends with, and whether both ends are decided by then. Where the
/// highest rate that may be offered is carried there is nothing to enclose.
fn width(settings: &Settings, capacity: f64) -> Option<(f64, bool)> {
    let mut taken: Vec<Taken> = Vec::new();
    loop {
        let planned = match next(settings, &taken) {
            Next::Trial(planned) if planned.purpose == TrialPurpose::Search => planned,
            Next::Trial(_) => break,
            Next::End(SearchEnd::LowestRate) => return None,
            Next::End(_) => break,
        };
        taken.push(Taken {
            purpose: planned.purpose,
            rate_per_s: planned.rate_per_s,
            seconds: planned.seconds,
            spent_s: settings.cost_s(planned.seconds),
            outcome: if planned.rate_per_s <= capacity {
                TrialOutcome::Good
            } else {
                TrialOutcome::Bad
            },
        });
    }
    let (lower, upper) = bounds(settings, &taken);
    let is_highest = |rate: f64| settings.to.is_some_and(|to| rate >= to * (1.0 - SAME));
    if let (Some((rate, Class::Lower)), None) = (lower, upper)
        && is_highest(rate)
    {
        return Some((0.0, true));
    }
    let ((lower, of_lower), (upper, of_upper)) = (lower?, upper?);
    let is_decided = of_lower == Class::Lower && of_upper == Class::Upper;
    Some((upper / lower - 1.0, is_decided))
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::settings;
    use super::*;

    #[test]
    fn what_a_budget_allows_is_said_before_it_is_spent() {
        let check = |budget_s: f64| {
            affords(&Settings {
                budget_s,
                confirm_s: 20.0,
                overload_s: 5.0,
                ..settings()
            })
            .sentence
        };
        let said = [1_000.0, 210.0, 150.0, 60.0].map(check).join("\n");
        insta::assert_snapshot!(said, @r"
        a budget of 1000 s holds 86 trials of 10.0 s: enough for an interval 5 % wide, up to a capacity of 470/s
        a budget of 210 s holds 18 trials of 10.0 s: enough for an interval 5 % wide up to a capacity of 230/s; above that it will be wider: begin nearer to it (`from`), or allow more time (`budget`)
        a budget of 150 s holds 13 trials of 10.0 s: enough for an interval 5 % wide, on fewer trials than it takes to be sure: allow more time (`budget`), or shorter trials (`trial`)
        a budget of 60.0 s holds 5 trials of 10.0 s: not enough to enclose a capacity far from 10/s: allow more time (`budget`), or begin nearer to it (`from`)
        ");
    }

    /// A capacity above the highest rate is none that a search could enclose.
    #[test]
    fn with_a_highest_rate_that_is_the_most_to_be_seen() {
        let check = |budget_s: f64| {
            affords(&Settings {
                budget_s,
                to: Some(15.0),
                confirm_s: 20.0,
                overload_s: 5.0,
                ..settings()
            })
            .sentence
        };
        let enough = check(1_000.0);
        assert!(
            enough.ends_with("enough for an interval 5 % wide, or to see 15/s carried, the highest rate that is offered (`to`)"),
            "{enough}"
        );
        let scarce = check(60.0);
        assert!(scarce.contains("not enough"), "{scarce}");
    }
}
