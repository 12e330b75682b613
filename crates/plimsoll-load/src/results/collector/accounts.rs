//! Whether the accounts are exact: `intended = sent + dropped`, per step `sent = Σ outcomes + in flight`, counts as many as times.
//!
//! These hold by construction; a violation is an error of the generator, and its figures must not be used.

use crate::fragment::{Accounts, Fragment, PhaseAccounts};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{GroupTally, StepTally};
use plimsoll_base::time_kind::TimeKind;
use std::iter::repeat_with;

/// Which account does not add up, with its figures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AccountsError(String);

/// Adds a fragment to the totals.
pub(super) fn add(accounts: &mut Accounts, fragment: &Fragment) {
    let side = if fragment.warmup {
        &mut accounts.warmup
    } else {
        &mut accounts.measured
    };
    side.intended += fragment.intended;
    side.sent += fragment.sent;
    side.dropped += fragment.dropped;
    side.unstarted += fragment.unstarted;
    side.exhausted += fragment.exhausted;
    let missing = fragment.steps.len().saturating_sub(side.steps.len());
    side.steps
        .extend(repeat_with(Default::default).take(missing));
    for (total, step) in side.steps.iter_mut().zip(&fragment.steps) {
        total.sent += step.sent;
        for (class, series) in &step.classes {
            *total.classes.entry(*class).or_default() += series.count;
        }
    }
}

/// Checks the totals of a run that has ended, each of whose iterations began with one of the `firsts`, where there are any.
pub(super) fn check(accounts: &Accounts, firsts: &[usize]) -> Result<(), AccountsError> {
    check_side("warm-up", &accounts.warmup, firsts)?;
    check_side("measured", &accounts.measured, firsts)
}

fn check_side(name: &str, side: &PhaseAccounts, firsts: &[usize]) -> Result<(), AccountsError> {
    let PhaseAccounts {
        intended,
        sent,
        dropped,
        ..
    } = side;
    ensure(*intended == sent + dropped, || {
        format!("{name}: {intended} arrivals were intended, but {sent} sent and {dropped} dropped")
    })?;
    let first: u64 = firsts.iter().map(|step| side.steps[*step].sent).sum();
    ensure(firsts.is_empty() || first == *sent, || {
        format!("{name}: {sent} iterations started, but their first step {first} times")
    })?;
    for (index, step) in side.steps.iter().enumerate() {
        let ended: u64 = step.classes.values().sum();
        ensure(step.sent == ended, || {
            format!(
                "{name}: step {index} began {} exchanges, but {ended} ended",
                step.sent
            )
        })?;
    }
    Ok(())
}

/// Checks that a fragment does not contradict itself.
pub(super) fn check_fragment(fragment: &Fragment) -> Result<(), AccountsError> {
    for (index, step) in fragment.steps.iter().enumerate() {
        let place = || format!("second {}, step {index}", fragment.second);
        let statuses: u64 = step.statuses.values().sum();
        let answered = step.answered();
        ensure(statuses == answered, || {
            format!(
                "{}: {answered} exchanges were answered, with {statuses} statuses",
                place()
            )
        })?;
        check_reasons(step).map_err(|AccountsError(text)| AccountsError(place() + &text))?;
        for (class, series) in &step.classes {
            let timed = series
                .times
                .get(&TimeKind::ResponseTime)
                .map_or(0, plimsoll_base::histogram::TimeHistogram::count);
            ensure(timed == series.count, || {
                format!(
                    "{}: {} exchanges were {}, with {timed} response times",
                    place(),
                    series.count,
                    class.name()
                )
            })?;
        }
    }
    for (name, group) in &fragment.groups {
        let GroupTally {
            count,
            failed,
            duration,
            response_time,
        } = group;
        let timed = [duration.count(), response_time.count()];
        ensure(timed == [*count; 2] && failed <= count, || {
            format!(
                "second {}, group {name}: {count} passes, of which {failed} failed, with {timed:?} times",
                fragment.second
            )
        })?;
    }
    Ok(())
}

/// Every exchange that was not answered has one reason, and that is one of its outcome.
fn check_reasons(step: &StepTally) -> Result<(), AccountsError> {
    let unanswered = |class: &OutcomeClass| class.is_failure() && !class.is_answered();
    for class in OutcomeClass::ALL.into_iter().filter(unanswered) {
        let reasons = step.reasons.iter();
        let of_class = reasons.filter(|(reason, _)| reason.class() == class);
        let reasons: u64 = of_class.map(|(_, count)| count).sum();
        let count = step.count(class);
        ensure(count == reasons, || {
            format!(
                ": {count} exchanges were {}, with {reasons} reasons",
                class.name()
            )
        })?;
    }
    Ok(())
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), AccountsError> {
    if holds {
        Ok(())
    } else {
        Err(AccountsError(message()))
    }
}
