//! A breaker: when too many exchanges fail it opens, rejects for a while, then lets one through to try.
//!
//! One for all shards, in three atomic numbers. Outcomes are counted in windows of [`WINDOW`] that do not overlap, so a failure weighs
//! for at most that long.

use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long outcomes are counted together.
const WINDOW: Duration = Duration::from_secs(10);
/// Bits of a count; beyond it the counts stay where they are.
const COUNT_BITS: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// When a breaker opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BreakerLimits {
    /// Share of failed exchanges, above 0 and at most 1, from which on it opens.
    pub(crate) failure_ratio: f64,
    /// Exchanges within a window below which it does not judge; at least 1.
    pub(crate) samples: u32,
    /// How long it rejects.
    pub(crate) open_for: Duration,
    /// State after the rest.
    pub(crate) after: AfterRest,
    /// Whether an exchange counts as failed whose client left before there was an answer.
    pub(crate) departures_fail: bool,
}

/// State when a breaker has rested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterRest {
    /// Half-open: one exchange at a time tries, and its outcome decides.
    Try,
    /// Closed at once.
    Close,
}

/// In which state of the breaker an exchange passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    Closed,
    /// It tries for all others; its mark tells it from other tries.
    HalfOpen {
        mark: u32,
    },
}

/// The state. Times are nanoseconds since the gateway started, never 0.
#[derive(Debug)]
pub(crate) struct Breaker {
    limits: BreakerLimits,
    /// Number of the window, failed, all: from the highest bits to the lowest.
    counts: AtomicU64,
    /// Until when it rejects; 0 while it is closed. Past: half-open.
    open_until: AtomicU64,
}

impl Breaker {
    pub(crate) fn new(limits: BreakerLimits) -> Self {
        Self {
            limits,
            counts: AtomicU64::new(0),
            open_until: AtomicU64::new(0),
        }
    }

    /// Lets an exchange pass or rejects it. One that passes is to be followed by [`Self::record`] or [`Self::unanswered`].
    pub(crate) fn admit(&self, now: u64) -> Result<Passed, Answer> {
        let until = self.open_until.load(Ordering::Relaxed);
        if until == 0 {
            return Ok(Passed::Closed);
        }
        if now < until {
            return Err(rejection(until - now));
        }
        let (next, passed) = match self.limits.after {
            AfterRest::Close => (0, Passed::Closed),
            // Whoever wins tries; should its outcome never be known, the next may try after another rest.
            AfterRest::Try => {
                let until = self.rest_from(now);
                let mark = mark(until);
                (until, Passed::HalfOpen { mark })
            }
        };
        match self
            .open_until
            .compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => Ok(passed),
            Err(0) => Ok(Passed::Closed),
            Err(other) => Err(rejection(other.saturating_sub(now))),
        }
    }

    /// Counts an outcome, which may open or close it. What passed before it opened has no say while it is open, nor has a try that has been
    /// taken over by another.
    pub(crate) fn record(&self, passed: Passed, failed: bool, now: u64) {
        match passed {
            Passed::HalfOpen { mark } => {
                let next = if failed { self.rest_from(now) } else { 0 };
                if self.ends_try(mark, next) {
                    self.counts.store(0, Ordering::Relaxed);
                }
            }
            Passed::Closed if self.open_until.load(Ordering::Relaxed) != 0 => {}
            Passed::Closed => self.count(failed, now),
        }
    }

    /// The client of an exchange left before it was answered. One that tried for all others leaves that to the next.
    pub(crate) fn unanswered(&self, passed: Passed, now: u64) {
        match passed {
            _ if self.limits.departures_fail => self.record(passed, true, now),
            Passed::HalfOpen { mark } => _ = self.ends_try(mark, now.max(1)),
            Passed::Closed => {}
        }
    }

    /// Ends the try of this mark, if it is under way still: until `next` it rejects.
    fn ends_try(&self, of: u32, next: u64) -> bool {
        let order = Ordering::Relaxed;
        let until = self.open_until.load(order);
        let is_under_way = until != 0 && mark(until) == of;
        is_under_way && (self.open_until.compare_exchange(until, next, order, order)).is_ok()
    }

    fn count(&self, failed: bool, now: u64) {
        let window = (now / nanos(WINDOW)) << (2 * COUNT_BITS);
        let mut seen = self.counts.load(Ordering::Relaxed);
        let (failures, all) = loop {
            let (failures, all) = match seen >> (2 * COUNT_BITS) == window >> (2 * COUNT_BITS) {
                true => ((seen >> COUNT_BITS) & COUNT_MASK, seen & COUNT_MASK),
                false => (0, 0),
            };
            let all = (all + 1).min(COUNT_MASK);
            let failures = (failures + u64::from(failed)).min(all);
            let next = window | failures << COUNT_BITS | all;
            match self.counts.compare_exchange_weak(
                seen,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => break (failures, all),
                Err(current) => seen = current,
            }
        };
        // Counts have twenty bits: a float holds them exactly.
        let share = failures as f64 / all as f64;
        if all >= u64::from(self.limits.samples) && share >= self.limits.failure_ratio {
            self.counts.store(0, Ordering::Relaxed);
            self.open_until
                .store(self.rest_from(now), Ordering::Relaxed);
        }
    }

    fn rest_from(&self, now: u64) -> u64 {
        (now + nanos(self.limits.open_for)).max(1)
    }
}

/// Mark of the try that may last until then: its last bits, which no other try within seconds has, in a small exchange.
fn mark(until: u64) -> u32 {
    let [first, second, third, fourth, ..] = until.to_le_bytes();
    u32::from_le_bytes([first, second, third, fourth])
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}

fn rejection(wait: u64) -> Answer {
    let seconds = wait.div_ceil(1_000_000_000).max(1);
    Answer::new(503, "the upstream has failed too often: it is given a rest")
        .because(ErrorKind::BreakerOpen)
        .with_field("Retry-After", seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn breaker(after: AfterRest) -> Breaker {
        Breaker::new(BreakerLimits {
            failure_ratio: 0.5,
            samples: 4,
            open_for: Duration::from_secs(5),
            after,
            departures_fail: false,
        })
    }

    fn outcomes(breaker: &Breaker, failed: &[bool], now: u64) {
        for failed in failed {
            let passed = breaker.admit(now).unwrap();
            breaker.record(passed, *failed, now);
        }
    }

    #[test]
    fn opens_at_the_share_and_not_before_there_are_enough() {
        let breaker = breaker(AfterRest::Try);
        outcomes(&breaker, &[true, false, true], SECOND);
        assert!(breaker.admit(SECOND).is_ok());
        outcomes(&breaker, &[false], SECOND);
        let rejected = breaker.admit(2 * SECOND).unwrap_err();
        assert_eq!(rejected.status(), 503);
        assert_eq!(rejected.fields(), [("Retry-After", "4")]);
    }

    #[test]
    fn outcomes_of_an_earlier_window_are_forgotten() {
        let breaker = breaker(AfterRest::Try);
        outcomes(&breaker, &[true, true, true], SECOND);
        outcomes(&breaker, &[false, false, false, true], 11 * SECOND);
        assert!(breaker.admit(12 * SECOND).is_ok());
    }

    #[test]
    fn half_open_lets_one_try_and_its_outcome_decides() {
        let breaker = breaker(AfterRest::Try);
        outcomes(&breaker, &[true; 4], SECOND);
        assert!(breaker.admit(6 * SECOND - 1).is_err());
        let tried = breaker.admit(6 * SECOND).unwrap();
        assert!(matches!(tried, Passed::HalfOpen { .. }));
        assert!(breaker.admit(6 * SECOND).is_err(), "only one tries");
        breaker.record(Passed::Closed, false, 6 * SECOND);
        assert!(
            breaker.admit(6 * SECOND).is_err(),
            "a late success says nothing"
        );
        breaker.record(tried, true, 7 * SECOND);
        assert!(breaker.admit(11 * SECOND).is_err());
        let tried = breaker.admit(12 * SECOND).unwrap();
        breaker.record(tried, false, 12 * SECOND);
        outcomes(&breaker, &[true, false, false], 13 * SECOND);
        assert!(breaker.admit(13 * SECOND).is_ok(), "counting begins anew");
    }

    #[test]
    fn a_try_whose_client_left_is_the_nexts() {
        let breaker = breaker(AfterRest::Try);
        breaker.unanswered(Passed::Closed, SECOND);
        outcomes(&breaker, &[true; 4], SECOND);
        let tried = breaker.admit(6 * SECOND).unwrap();
        breaker.unanswered(Passed::Closed, 6 * SECOND);
        assert!(breaker.admit(6 * SECOND).is_err(), "it has not been tried");
        breaker.unanswered(tried, 7 * SECOND);
        let tried = breaker.admit(7 * SECOND).unwrap();
        assert!(matches!(tried, Passed::HalfOpen { .. }));
        breaker.record(tried, false, 7 * SECOND);
        breaker.unanswered(tried, 7 * SECOND);
        assert_eq!(breaker.admit(7 * SECOND).unwrap(), Passed::Closed);
    }

    #[test]
    fn a_try_that_another_has_taken_over_has_no_say() {
        let breaker = breaker(AfterRest::Try);
        outcomes(&breaker, &[true; 4], SECOND);
        let first = breaker.admit(6 * SECOND).unwrap();
        let second = breaker.admit(11 * SECOND).unwrap();
        breaker.unanswered(first, 12 * SECOND);
        breaker.record(first, false, 12 * SECOND);
        assert!(breaker.admit(12 * SECOND).is_err(), "the second tries");
        breaker.record(second, true, 12 * SECOND);
        breaker.unanswered(first, 13 * SECOND);
        assert!(breaker.admit(17 * SECOND - 1).is_err(), "a whole rest");
    }

    #[test]
    fn departures_fail_where_that_is_said() {
        let breaker = Breaker::new(BreakerLimits {
            departures_fail: true,
            ..breaker(AfterRest::Try).limits
        });
        for _ in 0..4 {
            let passed = breaker.admit(SECOND).unwrap();
            breaker.unanswered(passed, SECOND);
        }
        assert!(breaker.admit(SECOND).is_err());
    }

    #[test]
    fn without_a_trial_it_closes_when_it_has_rested() {
        let breaker = breaker(AfterRest::Close);
        outcomes(&breaker, &[true; 4], SECOND);
        assert!(breaker.admit(5 * SECOND).is_err());
        outcomes(&breaker, &[false, false], 6 * SECOND);
    }

    #[test]
    fn several_shards_count_together() {
        let breaker = Breaker::new(BreakerLimits {
            failure_ratio: 1.0,
            samples: 40_000,
            open_for: Duration::from_secs(5),
            after: AfterRest::Try,
            departures_fail: false,
        });
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..9_999).for_each(|_| breaker.record(Passed::Closed, true, SECOND))
                });
            }
        });
        outcomes(&breaker, &[true, true, true], SECOND);
        outcomes(&breaker, &[true], SECOND);
        assert!(
            breaker.admit(SECOND).is_err(),
            "the forty-thousandth opens it"
        );
    }
}
