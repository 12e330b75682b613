//! From when on callers had recovered.

use super::answers::{Answer, answers};
use crate::record::{AvailabilitySettings, SingleExchange};
use plimsoll_base::outcome_class::OutcomeClass;

/// By how much the p99 may exceed that before the injection.
const MOST_OF_BASELINE: f64 = 3.0;
/// One exchange in so many may take longer than its p99.
const BEYOND_P99: usize = 100;

/// Moments of a trial under way, in seconds of its load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// From when on everything was to be healthy.
    pub measured: f64,
    /// When the fault began to be injected.
    pub injected: f64,
    /// When it was proved to be healed.
    pub healed: f64,
    /// Up to when the fate of every arrival is known.
    pub known: f64,
}

/// Whether callers have recovered from a fault that is healed: whether there is a moment from which `settle` is free of failures, with a p99 of
/// at most three times that before the injection or `slow`, whichever is more. `exchanges` stand in the order of their intended starts.
#[must_use]
pub fn has_recovered(
    settings: &AvailabilitySettings,
    moments: Moments,
    exchanges: &[SingleExchange],
) -> bool {
    let baseline = baseline(exchanges, (moments.measured, moments.injected));
    let since = between(exchanges, (moments.healed, moments.known));
    let window = (moments.healed, moments.known);
    first_settled(settings, baseline, window, &answers(settings, since)).is_some()
}

/// The p99 of good answers to arrivals between two moments, by nearest rank and in seconds; `None` without any.
pub(super) fn baseline(exchanges: &[SingleExchange], window: (f64, f64)) -> Option<f64> {
    let good = between(exchanges, window).iter();
    let good = good.filter(|one| one.class == OutcomeClass::Passed);
    let mut times: Vec<f64> = good.map(SingleExchange::response_s).collect();
    times.sort_by(f64::total_cmp);
    let beyond = times.len() / BEYOND_P99;
    let rank = times.len().checked_sub(beyond + 1)?;
    times.get(rank).copied()
}

/// Those of `exchanges`, which stand in the order of their intended starts, that were intended between two moments.
fn between(exchanges: &[SingleExchange], (from, to): (f64, f64)) -> &[SingleExchange] {
    let place = |at: f64| exchanges.partition_point(|one| one.intended_s() < at);
    &exchanges[place(from).min(place(to))..place(to)]
}

/// The first moment at or after `since` from which `settle` is free of failures, with a p99 of at most three times that before the injection or
/// `slow`, whichever is more; `None` where there is none of which the whole `settle` ended by `until`.
///
/// Moments are in seconds of the load. Whatever was intended up to `until` must be among `answers`.
pub(super) fn first_settled(
    settings: &AvailabilitySettings,
    baseline_p99_s: Option<f64>,
    (since, until): (f64, f64),
    answers: &[Answer],
) -> Option<f64> {
    let limit = baseline_p99_s.map_or(settings.slow_s, |p99| {
        (MOST_OF_BASELINE * p99).max(settings.slow_s)
    });
    let late = |one: &Answer| one.is_failed() || one.response > limit;
    let first = answers.partition_point(|one| one.at < since);
    let rest = &answers[first..];
    // The moment can only be the first of all, or that right after an exchange that spoiled an earlier one.
    let mut window = Window::default();
    let mut from = since;
    let mut begin = 0;
    loop {
        if from + settings.settle_s > until {
            return None;
        }
        while let Some(next) = rest.get(window.end)
            && next.at < from + settings.settle_s
        {
            window.add(next, late(next));
        }
        if window.exchanges == 0 {
            // No evidence either way.
            from = rest.get(begin).filter(|next| next.at > from)?.at;
            continue;
        }
        if window.is_settled() {
            return Some(from);
        }
        let spoiler = rest[begin..].iter().position(late)?;
        for passed in &rest[begin..=begin + spoiler] {
            window.remove(passed, late(passed));
        }
        begin += spoiler + 1;
        from = rest.get(begin).map_or(until, |next| next.at);
    }
}

/// Exchanges within one `settle`.
#[derive(Default)]
struct Window {
    end: usize,
    exchanges: usize,
    failed: usize,
    late: usize,
}

impl Window {
    fn add(&mut self, one: &Answer, is_late: bool) {
        self.end += 1;
        self.exchanges += 1;
        self.failed += usize::from(one.is_failed());
        self.late += usize::from(is_late);
    }

    fn remove(&mut self, one: &Answer, is_late: bool) {
        self.exchanges -= 1;
        self.failed -= usize::from(one.is_failed());
        self.late -= usize::from(is_late);
    }

    fn is_settled(&self) -> bool {
        self.failed == 0 && self.late <= self.exchanges / BEYOND_P99
    }
}
