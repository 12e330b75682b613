//! Adding what a shard did in a second to the fragment of all shards.

use super::Names;
use crate::fragment::Fragment;
use crate::results::recorder::{Series, SideSecond, StepSecond};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{StepTally, Times};
use plimsoll_base::time_kind::TimeKind;
use std::time::Duration;

/// A fragment of a second in which nothing happened.
pub(super) fn empty(second: u32, warmup: bool, steps: usize) -> Fragment {
    Fragment {
        second,
        warmup,
        steps: vec![StepTally::default(); steps],
        ..Fragment::default()
    }
}

/// Adds one side of a shard's second.
pub(super) fn add(fragment: &mut Fragment, side: &SideSecond, names: &Names) {
    fragment.intended += side.intended;
    fragment.sent += side.sent;
    fragment.dropped += side.dropped;
    fragment.dropped_late += side.dropped_late;
    fragment.behind += side.behind;
    fragment.unstarted += side.unstarted;
    fragment.in_flight += side.in_flight;
    fragment.in_flight_s += Duration::from_nanos(side.in_flight_ns).as_secs_f64();
    fragment.waiting += side.waiting;
    fragment.connected += side.connected;
    fragment.reconnected += side.reconnected;
    fragment.exhausted += side.exhausted;
    for kind in TimeKind::ALL {
        add_times(&mut fragment.iterations, kind, &side.times[kind as usize]);
    }
    for ((into, step), checks) in fragment
        .steps
        .iter_mut()
        .zip(&side.steps)
        .zip(&names.checks)
    {
        add_step(into, step, checks);
    }
    for (name, tally) in names.groups.iter().zip(&side.groups) {
        if let Some(tally) = tally.as_ref().filter(|tally| tally.count > 0) {
            let group = fragment.groups.entry(name.clone()).or_default();
            group.merge(tally);
        }
    }
}

/// Adds the canary's service times of one side once more, apart from the others'.
pub(super) fn add_lookout(fragment: &mut Fragment, side: &SideSecond) {
    let published = OutcomeClass::ALL
        .into_iter()
        .filter(|class| class.enters_response_time());
    for class in published {
        for step in &side.steps {
            let service = &step.classes[class as usize].service;
            if !service.is_empty() {
                service.add_to(fragment.canary.get_or_insert_default());
            }
        }
    }
}

/// Whether the fragment says anything.
pub(super) fn has_content(fragment: &Fragment) -> bool {
    let iterations = fragment.intended
        + fragment.sent
        + fragment.dropped
        + fragment.in_flight
        + fragment.waiting
        + fragment.connected
        + fragment.exhausted
        + fragment.reconnected;
    iterations > 0
        || fragment.stalls.total_s > 0.0
        || fragment
            .steps
            .iter()
            .any(|step| step.sent + step.in_flight > 0 || !step.classes.is_empty())
        || !fragment.groups.is_empty()
}

fn add_step(into: &mut StepTally, step: &StepSecond, checks: &[String]) {
    into.sent += step.sent;
    into.in_flight += step.in_flight;
    into.bytes_sent += step.bytes_sent;
    into.bytes_received += step.bytes_received;
    for (status, count) in &step.statuses {
        *into.statuses.entry(*status).or_default() += count;
    }
    for (reason, count) in &step.reasons {
        *into.reasons.entry(*reason).or_default() += count;
    }
    let alone = std::slice::from_ref(&step.check);
    let counts = if step.further.is_empty() {
        alone
    } else {
        &step.further
    };
    for (name, count) in checks.iter().zip(counts) {
        into.checks.entry(name.clone()).or_default().add(*count);
    }
    for class in OutcomeClass::ALL {
        let recorded = &step.classes[class as usize];
        if recorded.count == 0 {
            continue;
        }
        let series = into.classes.entry(class).or_default();
        series.count += recorded.count;
        for (kind, times) in [
            (TimeKind::ResponseTime, &recorded.response),
            (TimeKind::ServiceTime, &recorded.service),
        ] {
            add_times(&mut series.times, kind, times);
        }
        if let Some(parts) = recorded.in_parts.as_ref().filter(|parts| !parts.is_empty()) {
            series.in_parts.get_or_insert_default().merge(parts);
        }
    }
}

fn add_times(into: &mut Times, kind: TimeKind, series: &Series) {
    if !series.is_empty() {
        series.add_to(into.entry(kind).or_default());
    }
}
