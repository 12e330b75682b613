//! The laws, in the order in which their causes are read, and the limits that they share.

mod backlog;
mod connections;
mod dependency;
mod descriptors;
mod generator;
mod hot_thread;
pub(super) mod lock;
mod machine;
mod memory;
mod network;
mod pool;
mod ports;
mod processor;
mod quota;
mod rate_limit;
pub(super) mod said;
mod slots;
mod think_time;
mod waits;

use super::case::{Case, ComponentSeen, Forecast, Point};
use crate::record::{Cause, CauseKind};
use plimsoll_base::units::{format_number, format_seconds};

/// Looks at the evidence and says what follows.
pub(super) type Law = fn(&Case) -> Ruling;

/// All but the suspicion of a [`lock`], which is asked last.
pub(super) static LAWS: [Law; 17] = [
    generator::rule,
    think_time::rule,
    ports::rule,
    rate_limit::rule,
    quota::rule,
    processor::rule,
    hot_thread::rule,
    machine::rule,
    backlog::rule,
    memory::rule,
    descriptors::rule,
    waits::rule,
    slots::rule,
    pool::rule,
    dependency::rule,
    connections::rule,
    network::rule,
];

/// Ruling of a law.
#[derive(Debug, Default)]
pub(super) struct Ruling {
    pub(super) causes: Vec<Cause>,
    /// Causes that the same evidence excludes.
    pub(super) ruled_out: Vec<String>,
    /// Whether nothing follows about anything behind this cause.
    pub(super) decisive: bool,
}

impl Ruling {
    fn of(causes: Vec<Cause>) -> Self {
        Self {
            causes,
            ..Self::default()
        }
    }

    fn ruled_out(sentence: String) -> Self {
        Self {
            ruled_out: vec![sentence],
            ..Self::default()
        }
    }
}

/// A thread, a process or a group of processors that is ready for this share of the time has nothing left to give.
const FULL: f64 = 0.95;
/// A component that used this share of its processors used them up: sampling and starts take the rest.
const USED_UP: f64 = 0.9;
/// Where a component's processors are full and it uses at least this share, it is the one that fills them.
const MOST: f64 = 0.5;

/// Whether a component's own processors are used up, by itself.
fn is_used_up(seen: &ComponentSeen) -> bool {
    let Some(used) = seen.used() else {
        return false;
    };
    let full = seen.strain.cpus_busy_share.is_some_and(|busy| busy >= FULL);
    let wants = seen
        .cores
        .zip(seen.limit())
        .is_some_and(|(cores, limit)| cores + seen.run_delay >= USED_UP * limit);
    used >= USED_UP || (full && wants && used >= MOST)
}

/// Whether something that the load needs was used up: then what waits for it is no cause of its own.
fn anything_used_up(point: &Point) -> bool {
    point.others().any(is_used_up)
}

/// Whether some component's thread works, or waits to, all of the time: more than that is not known, and whatever waits for it is no cause.
fn anybody_pressed(point: &Point) -> bool {
    point.others().any(ComponentSeen::is_pressed)
}

/// Whether no component is short of processors. What nobody looked at may be: then it is not known.
fn is_everybody_idle(point: &Point) -> bool {
    let idle =
        |seen: &ComponentSeen| seen.used().is_some_and(|used| used < 0.85) && !seen.is_pressed();
    point.is_all_seen() && point.others().all(idle)
}

fn cause(
    kind: CauseKind,
    component: Option<&str>,
    statement: String,
    evidence: Vec<String>,
) -> Cause {
    Cause {
        kind,
        component: component.map(str::to_owned),
        statement,
        evidence,
        predicted_per_s: None,
    }
}

/// `1.00 of 1 cores`, and the demand with the rate at which all is used.
fn demand(seen: &ComponentSeen, case: &Case) -> (Vec<String>, Option<f64>) {
    let (Some(cores), Some(limit)) = (seen.cores, seen.limit()) else {
        return (Vec::new(), None);
    };
    let mut lines = vec![format!(
        "{}: {cores:.2} of {limit:.2} cores used ({})",
        seen.name,
        percent(cores / limit)
    )];
    let Some((each, per_s)) = case.ceiling(seen) else {
        return (lines, None);
    };
    lines.push(match case.line(&seen.name) {
        Some(line) => format!(
            "{} ± {} of processor time per exchange, by regression on throughput (R² {:.3}); all of it is used at about {}/s",
            format_seconds(each),
            format_seconds(1.96 * line.error_s),
            line.r_squared,
            format_number(per_s)
        ),
        None => format!(
            "{} of processor time per exchange = {cores:.2} cores / {}/s; all of it is used at about {}/s",
            format_seconds(each),
            format_number(case.limit().achieved_per_s),
            format_number(per_s)
        ),
    });
    (lines, Some(per_s))
}

/// The component whose processors would be used up first, of those of which that can be said.
pub(super) fn first_used_up(case: &Case) -> Option<Forecast<'_>> {
    let all = case.limit().others().filter_map(|seen| case.forecast(seen));
    all.min_by(|a, b| a.low_per_s.total_cmp(&b.low_per_s))
}

fn percent(share: f64) -> String {
    format!("{} %", format_number((share * 1_000.0).round() / 10.0))
}
