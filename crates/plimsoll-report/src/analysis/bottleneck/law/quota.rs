//! A component that is throttled by its CPU quota and uses all of it.

use super::{Ruling, cause, demand, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen};
use crate::record::{Cause, CauseKind};

/// Throttled in fewer periods than this is chance.
const THROTTLED: f64 = 0.1;
/// Throttled in more periods than this it is used up, whatever the mean says.
const MOSTLY: f64 = 0.5;
/// The share of the quota that must have been used: a burst within a period is throttled too.
const USED: f64 = 0.75;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let causes: Vec<Cause> = (point.others())
        .filter_map(|seen| of_one(seen, case))
        .collect();
    let quotas = point.others().filter(|seen| {
        seen.strain.cpu_quota_cores.is_some()
            && !causes
                .iter()
                .any(|one| one.component.as_deref() == Some(&seen.name))
    });
    let ruled_out = quotas.map(|seen| {
        format!(
            "the CPU quota of {}: throttled in {} of its periods",
            seen.name,
            percent(seen.strain.throttled_share.unwrap_or(0.0))
        )
    });
    Ruling {
        ruled_out: ruled_out.collect(),
        causes,
        decisive: false,
    }
}

fn of_one(seen: &ComponentSeen, case: &Case) -> Option<Cause> {
    let (quota, throttled) = (seen.strain.cpu_quota_cores?, seen.strain.throttled_share?);
    if throttled < THROTTLED || (throttled < MOSTLY && seen.cores? < USED * quota) {
        return None;
    }
    let (mut evidence, predicted) = demand(seen, case);
    evidence.insert(
        0,
        format!(
            "throttled in {} of the periods of its quota of {quota:.2} cores",
            percent(throttled)
        ),
    );
    let mut found = cause(
        CauseKind::Quota,
        Some(&seen.name),
        format!("The CPU quota of {} is used up.", seen.name),
        evidence,
    );
    found.predicted_per_s = predicted;
    Some(found)
}
