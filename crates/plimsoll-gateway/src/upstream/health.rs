//! Which endpoints of an upstream are in use: ejected ones are not for a while, and those that fail their checks until they pass again.
//!
//! All shards share it, so that what one has seen holds for all. Reading costs a load or two; only the ejection of an endpoint takes a lock,
//! because no two may go at once where the floor allows one. How checks are made is [`super::check`]'s.

use crate::config::Ejection;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// An endpoint that fails again and again is away for this many times as long as the first time, at most.
const LONGEST: u32 = 10;

/// The health of an upstream's endpoints.
#[derive(Debug)]
pub(crate) struct Health {
    started: Instant,
    ejection: Option<Ejection>,
    endpoints: Box<[Endpoint]>,
    /// Ejections, and checks that failed, so far.
    ejections: AtomicU64,
    failed_checks: AtomicU64,
    /// Held while it is decided whether one more may go. A standard lock: nothing is awaited under it.
    deciding: Mutex<()>,
}

#[derive(Debug, Default)]
struct Endpoint {
    /// It fails its checks.
    down: AtomicBool,
    /// Failures since its last success.
    failures: AtomicU32,
    /// Ejections since its last success.
    ejections: AtomicU32,
    /// Nanoseconds from the start to the end of its ejection.
    ejected_until: AtomicU64,
}

/// How many endpoints are out of use, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfUse {
    pub(crate) ejected: usize,
    pub(crate) down: usize,
}

impl Health {
    /// Of so many endpoints, all in use.
    pub(crate) fn new(count: usize, ejection: Option<Ejection>, started: Instant) -> Self {
        Self {
            started,
            ejection,
            endpoints: (0..count).map(|_| Endpoint::default()).collect(),
            ejections: AtomicU64::new(0),
            failed_checks: AtomicU64::new(0),
            deciding: Mutex::new(()),
        }
    }

    /// Whether an endpoint is in use at `now`.
    pub(crate) fn in_use(&self, index: usize, now: Instant) -> bool {
        let endpoint = &self.endpoints[index];
        !endpoint.down.load(Relaxed) && !self.is_ejected(endpoint, now)
    }

    /// It answered.
    pub(crate) fn succeeded(&self, index: usize, now: Instant) {
        let endpoint = &self.endpoints[index];
        // Mostly there is nothing to forget, and then nothing is written that other shards read.
        if endpoint.failures.load(Relaxed) != 0 {
            endpoint.failures.store(0, Relaxed);
        }
        if endpoint.ejections.load(Relaxed) != 0 && !self.is_ejected(endpoint, now) {
            endpoint.ejections.store(0, Relaxed);
        }
    }

    /// It failed; whether it is ejected for it.
    pub(crate) fn failed(&self, index: usize, now: Instant) -> bool {
        let Some(rules) = &self.ejection else {
            return false;
        };
        let endpoint = &self.endpoints[index];
        if endpoint.failures.fetch_add(1, Relaxed) + 1 < rules.after {
            return false;
        }
        let _deciding = self.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_ejected(endpoint, now) || self.out_of_use(now).ejected >= self.most(rules) {
            return false;
        }
        let times = (endpoint.ejections.fetch_add(1, Relaxed) + 1).min(LONGEST);
        endpoint
            .ejected_until
            .store(self.nanos(now + rules.time * times), Relaxed);
        // When it is back, one more failure is enough.
        endpoint.failures.store(rules.after - 1, Relaxed);
        self.ejections.fetch_add(1, Relaxed);
        true
    }

    /// An endpoint was checked.
    pub(super) fn checked(&self, passed: bool) {
        self.failed_checks.fetch_add(u64::from(!passed), Relaxed);
    }

    /// How many ejections there were so far.
    pub(crate) fn ejections(&self) -> u64 {
        self.ejections.load(Relaxed)
    }

    /// How many checks have failed so far.
    pub(crate) fn failed_checks(&self) -> u64 {
        self.failed_checks.load(Relaxed)
    }

    /// Its checks say so.
    pub(crate) fn set_down(&self, index: usize, down: bool) {
        self.endpoints[index].down.store(down, Relaxed);
    }

    /// How many endpoints are out of use at `now`.
    pub(crate) fn out_of_use(&self, now: Instant) -> OutOfUse {
        let endpoints = self.endpoints.iter();
        OutOfUse {
            ejected: endpoints
                .clone()
                .filter(|e| self.is_ejected(e, now))
                .count(),
            down: endpoints.filter(|e| e.down.load(Relaxed)).count(),
        }
    }

    /// How many may be ejected at a time.
    fn most(&self, rules: &Ejection) -> usize {
        self.endpoints.len() * usize::from(rules.at_most_percent) / 100
    }

    fn is_ejected(&self, endpoint: &Endpoint, now: Instant) -> bool {
        let until = endpoint.ejected_until.load(Relaxed);
        until != 0 && self.nanos(now) < until
    }

    fn nanos(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.started);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    fn health(count: usize, after: u32, at_most_percent: u8) -> (Health, Instant) {
        let start = Instant::now();
        let rules = Ejection {
            after,
            time: 10 * SECOND,
            at_most_percent,
            statuses: Vec::new(),
        };
        (Health::new(count, Some(rules), start), start)
    }

    #[test]
    fn failures_in_a_row_eject_and_time_brings_back() {
        let (health, start) = health(2, 3, 50);
        assert!(!health.failed(0, start));
        assert!(!health.failed(0, start));
        health.succeeded(0, start);
        assert!(!health.failed(0, start));
        assert!(!health.failed(0, start));
        assert!(health.in_use(0, start));
        assert!(health.failed(0, start));
        assert!(!health.in_use(0, start + 9 * SECOND));
        // What was under way when it was ejected changes nothing.
        assert!(!health.failed(0, start + SECOND));
        health.succeeded(0, start + SECOND);
        assert!(!health.in_use(0, start + 9 * SECOND));
        assert!(health.in_use(0, start + 10 * SECOND));
    }

    #[test]
    fn who_fails_again_is_away_for_longer() {
        let (health, start) = health(2, 3, 50);
        for _ in 0..3 {
            health.failed(0, start);
        }
        let back = start + 10 * SECOND;
        assert!(health.failed(0, back));
        assert!(!health.in_use(0, back + 19 * SECOND));
        assert!(health.in_use(0, back + 20 * SECOND));
        health.succeeded(0, back + 20 * SECOND);
        for _ in 0..3 {
            health.failed(0, back + 20 * SECOND);
        }
        assert!(health.in_use(0, back + 30 * SECOND));
    }

    #[test]
    fn the_floor_stays() {
        let (health, start) = health(3, 1, 50);
        let ejected = [0, 1, 2].map(|index| health.failed(index, start));
        assert_eq!(ejected, [true, false, false]);
        let alone = super::tests::health(1, 1, 99).0;
        assert!(!alone.failed(0, start));
    }

    #[test]
    fn checks_decide_for_themselves() {
        let (health, start) = health(2, 1, 50);
        health.set_down(0, true);
        health.set_down(1, true);
        assert!(!health.in_use(0, start) && !health.in_use(1, start));
        assert_eq!(health.out_of_use(start).down, 2);
        health.set_down(1, false);
        assert!(health.in_use(1, start));
    }

    proptest! {
        #[test]
        fn never_more_than_the_share_is_ejected(
            count in 1usize..12,
            percent in 0u8..=100,
            after in 1u32..4,
            events in proptest::collection::vec((0usize..12, any::<bool>(), 0u64..8), 0..300),
        ) {
            let (health, mut now) = health(count, after, percent);
            for (index, success, gap) in events {
                now += SECOND * u32::try_from(gap).unwrap();
                match success {
                    true => health.succeeded(index % count, now),
                    false => _ = health.failed(index % count, now),
                }
                prop_assert!(health.out_of_use(now).ejected * 100 <= count * usize::from(percent));
            }
        }
    }
}
