//! What the probes themselves cost: processor time of the thread that samples.

use rustix::time::{ClockId, clock_gettime};
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

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs() {
        let cost = Cost::start();
        let mut sum = 0_u64;
        while cost.so_far() < Duration::from_millis(2) {
            sum = sum.wrapping_mul(31).wrapping_add(7);
        }
        assert!(cost.so_far() >= Duration::from_millis(2), "{sum}");
    }
}
