//! The closed model's own ceiling: users who wait begin no more iterations than their waiting allows, however fast the target answers.
//!
//! A user's next iteration is intended once it has thought since the end of the last, and no sooner than `every` after its start. So
//! the mean distance of its iterations is at least `max(every, pauses + think)`, each by its mean, and the rate over all users at most
//! `users / distance`: the response time law of interactive systems, N = X (R + Z), with a response time of nothing.

use super::ceiling::{Ceiling, Of, Source};
use super::iteration::{Iteration, heaviness};
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_load::plan::{Load, Plan, Span};

/// How far chance may take a count from its mean, in standard deviations: beyond it once in more than a million runs.
const DEVIATIONS: f64 = 5.0;

/// The ceiling of a scenario; `None` in the open model, and where nobody waits.
pub(super) fn ceiling(plan: &Plan, scenario: usize, iteration: &Iteration) -> Option<Ceiling> {
    let Load::Closed {
        users,
        think,
        every,
    } = &plan.scenarios[scenario].load
    else {
        return None;
    };
    let most = f64::from(plan.scenarios[scenario].load.users());
    let waits_s = think.mean().as_secs_f64() + iteration.pauses_s;
    let distance_s = waits_s.max(every.mean().as_secs_f64());
    if distance_s <= 0.0 {
        return None;
    }
    let value = most / distance_s;
    let (sentence, formula) = waiting(distance_s, waits_s, think);
    // A load of so many iterations may be over before its time.
    let over_s = plan.scenarios[scenario]
        .iterations
        .map_or(f64::INFINITY, |number| count(number) / value);
    let measured_s = plan.duration.as_secs_f64().min(over_s);
    let is_fixed = |span: &Span| matches!(span, Span::Constant(_));
    let variance = if is_fixed(think) && is_fixed(every) && iteration.exact && !iteration.varies {
        // Each user begins either of two neighbouring numbers of iterations.
        most / 4.0
    } else {
        value * measured_s
    };
    // Users who begin in the same moment are spread over their think time, and over nothing else. Where that does not keep them apart, and
    // where some join later, each may have one iteration more than its share (for spans that do not tend to be much longer than their
    // mean: renewals of an NBUE lifetime), or Lorden's bound beyond that.
    let is_steady = users.len() == 1 && users[0].from == users[0].to && iteration.pauses_s <= 0.0;
    let extra = if is_steady && is_fixed(think) && is_fixed(every) {
        0.0
    } else {
        1.0 + heaviness(think)
            .max(heaviness(every))
            .max(iteration.heaviness)
    };
    Some(Ceiling {
        source: Source::ThinkTime,
        scenario: Some(scenario),
        of: Of::Iterations,
        value,
        sentence: format!("{} users {sentence}", format_number(most)),
        formula,
        slack_per_s: (DEVIATIONS * variance.sqrt() + extra * most) / measured_s,
        held_s: distance_s,
        warning: None,
    })
}

/// Activity of users between two starts, and the formula of their ceiling.
fn waiting(distance_s: f64, waits_s: f64, think: &Span) -> (String, &'static str) {
    let mean = if matches!(think, Span::Constant(_)) {
        ""
    } else {
        " on average"
    };
    let distance = format_seconds(distance_s);
    let pauses_s = waits_s - think.mean().as_secs_f64();
    if distance_s > waits_s {
        let sentence = format!("begin an iteration no sooner than {distance} after the last one");
        (sentence, "users / mean of `every`")
    } else if pauses_s > 0.0 {
        let sentence = format!("think and pause {distance}{mean}");
        (sentence, "users / mean of think time and pauses together")
    } else {
        (format!("think {distance}{mean}"), "users / mean think time")
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a count of iterations, for a mean"
)]
fn count(number: u64) -> f64 {
    number as f64
}
