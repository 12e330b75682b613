//! `"rateLimit": {"requests": 100, "per": "1s"}`: beyond the rate the answer is 429 with `Retry-After`.
//!
//! The generic cell rate algorithm (ITU-T I.371): so many requests may come at once, and one more for each share of the time.

use super::{count, duration};
use crate::reader::{Node, Problems};
use crate::response::answer::{Answer, AnswerBuilder};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// A limit that all shards share.
#[derive(Debug, Clone)]
pub struct RateLimit(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    /// Nanoseconds between two requests at the rate.
    interval: u64,
    /// How far ahead of the rate requests may be.
    tolerance: u64,
    /// The first request's time, from which the others are counted.
    origin: OnceLock<Instant>,
    /// When the next request would come at the rate, in nanoseconds since then.
    due: AtomicU64,
}

impl RateLimit {
    pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let requests = object.required("requests", problems);
        let requests = requests.and_then(|node| count(&node, problems));
        let per = object.required("per", problems);
        let per = per.and_then(|node| duration(&node, problems));
        object.finish(&[], problems);
        Some(Self::new(requests?, per?))
    }

    /// So many requests in so much time.
    pub fn new(requests: u32, per: Duration) -> Self {
        let per = u64::try_from(per.as_nanos()).unwrap_or(u64::MAX);
        let interval = per / u64::from(requests);
        Self(Arc::new(Cell {
            interval,
            tolerance: per - interval,
            origin: OnceLock::new(),
            due: AtomicU64::new(0),
        }))
    }

    /// Takes a request in, or says how long it should have waited.
    pub fn admit(&self, now: Instant) -> Result<(), Duration> {
        let cell = &self.0;
        let since = now.saturating_duration_since(*cell.origin.get_or_init(|| now));
        let now = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let mut due = cell.due.load(Ordering::Relaxed);
        loop {
            let start = due.max(now);
            if start - now > cell.tolerance {
                return Err(Duration::from_nanos(start - now - cell.tolerance));
            }
            let next = start.saturating_add(cell.interval);
            let taken =
                cell.due
                    .compare_exchange_weak(due, next, Ordering::Relaxed, Ordering::Relaxed);
            match taken {
                Ok(_) => return Ok(()),
                Err(other) => due = other,
            }
        }
    }

    /// The answer to a request that came too early.
    pub fn refusal(wait: Duration) -> Answer {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        AnswerBuilder::new(429, None)
            .field("Retry-After", &seconds.to_string())
            .field("Content-Type", "text/plain;charset=UTF-8")
            .body(b"too many requests\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_at_the_rate() {
        let limit = RateLimit::new(10, Duration::from_secs(1));
        let start = Instant::now();
        let at = |millis: u64| limit.admit(start + Duration::from_millis(millis)).is_ok();
        assert!((0..10).all(|_| at(0)));
        assert!(!at(0) && !at(99));
        assert!(at(100) && !at(150) && at(200));
        assert!((0..10).all(|_| at(5000)) && !at(5000));
        let wait = limit
            .admit(start + Duration::from_millis(5050))
            .unwrap_err();
        assert_eq!(wait, Duration::from_millis(50));
    }
}
