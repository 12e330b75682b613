//! All processors of the machine are busy, and no component alone uses up those that it may: they take them from each other, or other programs
//! take them from all.

use super::{FULL, Ruling, anything_used_up, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen};
use crate::record::CauseKind;

/// Components and generator that use this share of the machine fill it themselves.
const OWN: f64 = 0.8;
/// Other programs that use this share of it may be what components wait for.
const OTHERS: f64 = 0.25;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let Some(busy) = point.host_busy else {
        return Ruling::default();
    };
    if busy < FULL {
        return Ruling::ruled_out(format!(
            "the machine: its {} processors worked {} of the time",
            case.cpus(),
            percent(busy)
        ));
    }
    if anything_used_up(point) {
        return Ruling::default();
    }
    let mut known: Vec<&ComponentSeen> = point
        .components
        .iter()
        .filter(|seen| seen.cores.is_some())
        .collect();
    let cores = |seen: &ComponentSeen| seen.cores.unwrap_or(0.0);
    known.sort_by(|a, b| cores(b).total_cmp(&cores(a)));
    let sum: f64 = known.iter().map(|seen| cores(seen)).sum();
    let others = (busy * case.cpus() - sum).max(0.0);
    let pressed = point.components.iter().any(ComponentSeen::is_pressed);
    let statement = if others >= OTHERS * case.cpus() && pressed {
        "Other programs on this machine take processors that the test needs: stop them, or measure elsewhere."
    } else if sum >= OWN * case.cpus() {
        "All processors of this machine are busy, and components and generator take them from each other: pin them to processors of their own."
    } else {
        // Whoever fills them, nobody here waits for one.
        return Ruling::default();
    };
    let evidence = evidence(case, busy, &known, others);
    Ruling::of(vec![cause(
        CauseKind::Machine,
        None,
        statement.to_owned(),
        evidence,
    )])
}

/// Who uses how much, and who waits.
fn evidence(case: &Case, busy: f64, known: &[&ComponentSeen], others: f64) -> Vec<String> {
    let cores = |seen: &ComponentSeen| seen.cores.unwrap_or(0.0);
    let mut evidence = vec![format!(
        "its {} processors worked {} of the time",
        case.cpus(),
        percent(busy)
    )];
    evidence.extend(
        known
            .iter()
            .map(|seen| format!("{}: {:.2} cores", seen.name, cores(seen))),
    );
    evidence.push(format!("other programs: {others:.2} cores"));
    evidence.extend((known.iter()).filter(|seen| seen.is_pressed()).map(|seen| {
        let ready = seen.strain.busiest_thread_ready.unwrap_or(0.0);
        format!(
            "{}: a thread of it ran or waited for a processor {} of the time",
            seen.name,
            percent(ready)
        )
    }));
    evidence
}
