//! Cost of the probes themselves: processor time of the thread that samples, and of tasks while they are polled.

use rustix::time::{ClockId, clock_gettime};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Processor time of this thread at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Cost(Duration);

impl Cost {
    /// From now on.
    #[must_use]
    pub fn start() -> Self {
        Self(now())
    }

    /// Processor time of this thread since then. Meaningful only on the same thread.
    #[must_use]
    pub fn so_far(self) -> Duration {
        now().saturating_sub(self.0)
    }
}

/// Processor time that futures took while they were polled, in nanoseconds; clones add up to one.
#[derive(Debug, Clone, Default)]
pub(super) struct Spent(Arc<AtomicU64>);

impl Spent {
    /// Drives a future and counts what its polls take: not what it waits for, and nothing of other tasks of the same thread.
    pub(super) async fn on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|context| {
            let cost = Cost::start();
            let polled = future.as_mut().poll(context);
            let nanos = u64::try_from(cost.so_far().as_nanos()).unwrap_or(u64::MAX);
            self.0.fetch_add(nanos, Ordering::Relaxed);
            polled
        })
        .await
    }

    /// Time counted since it was last taken.
    pub(super) fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Duration = Duration::from_millis(2);

    fn work() {
        let cost = Cost::start();
        let mut sum = 0_u64;
        while cost.so_far() < WORK {
            sum = sum.wrapping_mul(31).wrapping_add(7);
        }
        assert!(cost.so_far() >= WORK, "{sum}");
    }

    #[test]
    fn work_costs() {
        let cost = Cost::start();
        work();
        assert!(cost.so_far() >= WORK);
    }

    /// The work of both polls counts, and what another task does in between does not.
    #[tokio::test]
    async fn polls_cost_and_others_do_not() {
        let (spent, of_other) = (Spent::default(), Spent::default());
        let reading = spent.on(async {
            work();
            tokio::task::yield_now().await;
            work();
        });
        let other = of_other.on(async {
            for _ in 0..10 {
                work();
            }
        });
        tokio::join!(reading, other);
        let took = spent.take();
        assert!(took >= 2 * WORK, "{took:?}");
        assert!(took < 8 * WORK && of_other.take() >= 10 * WORK, "{took:?}");
        assert_eq!(spent.take(), Duration::ZERO);
    }
}
