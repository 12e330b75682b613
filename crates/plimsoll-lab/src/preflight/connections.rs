//! The open model's own ceiling: an iteration keeps its virtual user, and with it a connection, through all of its pauses.
//!
//! Little's law: with `c` connections, each kept for at least the pauses of an iteration, no more than `c / pauses` iterations per second
//! find one. Where nothing pauses, no response time is known before; what is known is how long answers may take.

use super::ceiling::{Ceiling, Of, Source};
use super::iteration::Iteration;
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_load::arrivals::peak;
use plimsoll_load::plan::{Load, Plan, Profile, Stretch};

/// The ceiling of a scenario; `None` in the closed model, and where nothing pauses.
pub(super) fn ceiling(plan: &Plan, scenario: usize, iteration: &Iteration) -> Option<Ceiling> {
    let load = &plan.scenarios[scenario].load;
    let pauses_s = iteration.pauses_s;
    if matches!(load, Load::Closed { .. }) || pauses_s <= 0.0 {
        return None;
    }
    let connections = f64::from(load.users());
    Some(Ceiling {
        source: Source::Connections,
        scenario: Some(scenario),
        of: Of::Iterations,
        value: connections / pauses_s,
        sentence: format!(
            "an iteration keeps one of {} connections for {} of pauses",
            format_number(connections),
            format_seconds(pauses_s)
        ),
        formula: "connections / pauses of an iteration",
        // All of them may be free when the measured time begins.
        slack_per_s: connections / plan.duration.as_secs_f64(),
        held_s: pauses_s,
        warning: None,
    })
}

/// How long the answers of an iteration may take on average before arrivals wait; `None` in the closed model, where arrivals come at
/// given times, and where pauses alone take too long.
pub(super) fn affords(plan: &Plan, scenario: usize, iteration: &Iteration) -> Option<String> {
    let load = &plan.scenarios[scenario].load;
    let Load::Open { profile, .. } = load else {
        return None;
    };
    let held: Vec<Stretch> = profile.iter().filter(|it| is_rate(it)).cloned().collect();
    let rate = peak(&held);
    let connections = f64::from(load.users());
    let affordable_s = connections / rate - iteration.pauses_s;
    if rate <= 0.0 || affordable_s <= 0.0 {
        return None;
    }
    let besides = if iteration.pauses_s > 0.0 {
        " besides its pauses"
    } else {
        ""
    };
    Some(format!(
        "at up to {}/s over {} connections an iteration may take {}{besides} on average; beyond that arrivals wait (connections / rate)",
        format_number(rate),
        format_number(connections),
        format_seconds(affordable_s)
    ))
}

/// Whether a stretch has a rate that is meant to be kept, and not a number of arrivals.
pub(super) fn is_rate(stretch: &Stretch) -> bool {
    match stretch.profile {
        Profile::Constant { .. } | Profile::Ramp { .. } | Profile::Staircase { .. } => true,
        Profile::StressPeak { .. }
        | Profile::AtOnce { .. }
        | Profile::Replay { .. }
        | Profile::Nothing => false,
    }
}
