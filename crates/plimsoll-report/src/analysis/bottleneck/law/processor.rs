//! The utilisation law, U = X · D: a component whose processors are busy gives way, at a rate that its processor time per exchange says.

use super::{Ruling, cause, demand, is_used_up, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen};
use crate::record::{Cause, CauseKind};

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let mut used_up: Vec<&ComponentSeen> = point.others().filter(|seen| is_used_up(seen)).collect();
    let used = |seen: &ComponentSeen| seen.used().unwrap_or(0.0);
    used_up.sort_by(|a, b| used(b).total_cmp(&used(a)));
    let causes = used_up.iter().filter_map(|seen| of_one(seen, case));
    let idle = point.others().filter(|seen| seen.is_idle());
    Ruling {
        causes: causes.collect(),
        ruled_out: idle
            .map(|seen| {
                format!(
                    "the processors of {}: {} of them used",
                    seen.name,
                    percent(used(seen))
                )
            })
            .collect(),
        decisive: false,
    }
}

/// A component that a quota holds back is the quota's.
fn of_one(seen: &ComponentSeen, case: &Case) -> Option<Cause> {
    if seen.strain.cpu_quota_cores.is_some()
        && seen.strain.throttled_share.is_some_and(|s| s >= 0.1)
    {
        return None;
    }
    let (mut evidence, predicted) = demand(seen, case);
    evidence.extend(seen.strain.cpus_busy_share.map(|busy| {
        format!(
            "the processors that it may use were busy {} of the time, counting all work on them",
            percent(busy)
        )
    }));
    if seen.run_delay > 0.05 {
        evidence.push(format!(
            "its threads were ready and waited for a processor {:.2} s per second",
            seen.run_delay
        ));
    }
    let mut found = cause(
        CauseKind::Processor,
        Some(&seen.name),
        format!("The processors of {} are used up.", seen.name),
        evidence,
    );
    found.predicted_per_s = predicted;
    Some(found)
}
