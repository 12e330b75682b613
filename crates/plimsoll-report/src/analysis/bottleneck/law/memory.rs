//! A component that waits for memory to be freed or read back from a disk.

use super::{Ruling, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen};
use crate::record::{Cause, CauseKind};
use plimsoll_base::units::format_number;

/// Waiting for this share of the time is a limit.
const PRESSED: f64 = 0.1;

pub(super) fn rule(case: &Case) -> Ruling {
    let causes = case.limit().others().filter_map(of_one);
    Ruling::of(causes.collect())
}

#[expect(clippy::cast_precision_loss, reason = "a count for people")]
fn of_one(seen: &ComponentSeen) -> Option<Cause> {
    let pressure = seen
        .strain
        .memory_pressure
        .filter(|share| *share >= PRESSED)?;
    let mut evidence = vec![format!(
        "something in {} waited for memory {} of the time",
        seen.name,
        percent(pressure)
    )];
    evidence.extend(
        (seen.strain.memory_share)
            .map(|share| format!("{} of its memory limit is used", percent(share))),
    );
    evidence.extend(
        (seen.strain.major_faults)
            .map(|faults| format!("{} page faults read a disk", format_number(faults as f64))),
    );
    Some(cause(
        CauseKind::Memory,
        Some(&seen.name),
        format!("{} has too little memory.", seen.name),
        evidence,
    ))
}
