//! How many requests may be sent a second time: a share of those that come, and a few more, so that little traffic has retries too. Whatever
//! fails then, an upstream gets hardly more requests than its clients sent.

use crate::config::RetryConfig;
use std::cell::Cell;
use tokio::time::Instant;

/// Requests whose share may be saved up at most.
const SAVED_REQUESTS: u64 = 1000;
/// Time whose share may be saved up at most, in seconds.
const SAVED_SECONDS: f64 = 10.0;

/// The retries that are left to one shard.
#[derive(Debug)]
pub(super) struct RetryBudget {
    percent: u64,
    per_second: f64,
    /// Hundredths of a retry.
    from_requests: Cell<u64>,
    from_time: Cell<f64>,
    at: Cell<Instant>,
}

impl RetryBudget {
    /// The part of one of so many shards, at `now`.
    pub(super) fn new(config: RetryConfig, shards: usize, now: Instant) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "shards are few")]
        let per_second = f64::from(config.per_second) / shards as f64;
        Self {
            percent: u64::from(config.percent),
            per_second,
            from_requests: Cell::new(0),
            from_time: Cell::new(per_second * SAVED_SECONDS),
            at: Cell::new(now),
        }
    }

    /// A request came.
    pub(super) fn request(&self) {
        let most = self.percent * SAVED_REQUESTS;
        let saved = self.from_requests.get() + self.percent;
        self.from_requests.set(saved.min(most));
    }

    /// Takes a retry, if one is left.
    pub(super) fn take(&self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.at.replace(now));
        let earned = since.as_secs_f64() * self.per_second;
        let most = self.per_second * SAVED_SECONDS;
        self.from_time
            .set((self.from_time.get() + earned).min(most));
        if self.from_requests.get() >= 100 {
            self.from_requests.set(self.from_requests.get() - 100);
        } else if self.from_time.get() >= 1.0 {
            self.from_time.set(self.from_time.get() - 1.0);
        } else {
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn budget(percent: u8, per_second: u32) -> (RetryBudget, Instant) {
        let start = Instant::now();
        let config = RetryConfig {
            percent,
            per_second,
        };
        (RetryBudget::new(config, 1, start), start)
    }

    #[test]
    fn a_fifth_of_the_requests_and_a_few_a_second() {
        let (budget, start) = budget(20, 1);
        let taken = |now| (0..1000).filter(|_| budget.take(now)).count();
        assert_eq!(taken(start), 10);
        for _ in 0..100 {
            budget.request();
        }
        assert_eq!(taken(start), 20);
        assert_eq!(taken(start + Duration::from_secs(3)), 3);
        assert_eq!(taken(start + Duration::from_secs(3600)), 10);
        for _ in 0..1_000_000 {
            budget.request();
        }
        assert_eq!(taken(start + Duration::from_secs(3600)), 200);
    }

    #[test]
    fn without_a_budget_there_are_none() {
        let (budget, start) = budget(0, 0);
        budget.request();
        assert!(!budget.take(start + Duration::from_secs(3600)));
    }

    proptest! {
        #[test]
        fn never_more_than_share_and_rate_and_what_was_saved(
            percent in 0u8..=100,
            per_second in 0u32..50,
            events in proptest::collection::vec((0u64..200, 0u32..50, 0u64..2000), 0..100),
        ) {
            let (budget, start) = budget(percent, per_second);
            let (mut now, mut requests, mut retries) = (start, 0, 0);
            for (more, tries, gap) in events {
                now += Duration::from_millis(gap);
                for _ in 0..more { budget.request(); }
                requests += more;
                retries += (0..tries).filter(|_| budget.take(now)).count();
            }
            let seconds = now.duration_since(start).as_secs_f64();
            let allowed = f64::from(percent) / 100.0 * requests as f64 + f64::from(per_second) * (seconds + SAVED_SECONDS);
            prop_assert!(retries as f64 <= allowed + 1e-6, "{retries} of {allowed}");
        }
    }
}
