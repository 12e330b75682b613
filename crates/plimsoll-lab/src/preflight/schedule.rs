//! The offer of the open model: nothing answers more iterations than arrive.

use super::ceiling::{Ceiling, Of, Source};
use plimsoll_base::units::format_number;
use plimsoll_load::arrivals::expected;
use plimsoll_load::plan::{Load, Plan, Spacing};

/// How far chance may take the arrivals of a Poisson process from their mean, in standard deviations.
const DEVIATIONS: f64 = 5.0;

/// The ceiling of a scenario; `None` in the closed model, which offers what is answered.
pub(super) fn ceiling(plan: &Plan, scenario: usize) -> Option<Ceiling> {
    let Load::Open { profile, .. } = &plan.scenarios[scenario].load else {
        return None;
    };
    let arrivals = expected(profile, plan.total()) - expected(profile, plan.warmup);
    let measured_s = plan.duration.as_secs_f64();
    let is_random = profile.iter().any(|it| it.spacing == Spacing::Poisson);
    let chance = if is_random {
        DEVIATIONS * arrivals.sqrt()
    } else {
        0.0
    };
    let value = arrivals / measured_s;
    Some(Ceiling {
        source: Source::Schedule,
        scenario: Some(scenario),
        of: Of::Iterations,
        value,
        sentence: format!("its load offers {}/s on average", format_number(value)),
        formula: "arrivals / measured time",
        // An arrival at the very beginning is one more than the time has gaps.
        slack_per_s: (chance + 1.0) / measured_s,
        held_s: 0.0,
        warning: None,
    })
}
