//! From when on callers had recovered.

use super::answers::{Answer, answers};
use crate::record::{AvailabilitySettings, SingleExchange};
use plimsoll_base::outcome_class::OutcomeClass;

/// By how much the p99 may exceed that before the injection.
const MOST_OF_BASELINE: f64 = 3.0;
/// One exchange in so many may take longer than its p99.
const BEYOND_P99: usize = 100;

/// The p99 of good answers among `exchanges`, those before the injection, by nearest rank and in seconds; `None` without any.
#[must_use]
pub fn baseline_p99(exchanges: &[SingleExchange]) -> Option<f64> {
    let good = exchanges.iter();
    let mut times: Vec<u64> = good
        .filter(|one| one.class == OutcomeClass::Passed)
        .map(|one| one.response_us)
        .collect();
    times.sort_unstable();
    let beyond = times.len() / BEYOND_P99;
    let rank = times.len().checked_sub(beyond + 1)?;
    Some(super::answers::seconds(times[rank]))
}

/// The first moment at or after `since_s` from which `settle` is free of failures, with a p99 of at most three times that before the
/// injection or `slow`, whichever is more, and not free of arrivals; `None` where there is none of which the whole `settle` ended by `until_s`.
///
/// Moments are in seconds of the load. Whatever was intended up to `until_s` must have ended, or be among `exchanges` as failed.
#[must_use]
pub fn recovered(
    settings: &AvailabilitySettings,
    baseline_p99_s: Option<f64>,
    since_s: f64,
    until_s: f64,
    exchanges: &[SingleExchange],
) -> Option<f64> {
    let answers = answers(settings, exchanges);
    first_settled(settings, baseline_p99_s, (since_s, until_s), &answers)
}

/// As [`recovered`], of answers.
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
