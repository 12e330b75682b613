//! Arrivals at given times.

use super::double;
use std::sync::Arc;

/// Arrival *i* at the *i*-th of the times that lie within the length.
#[derive(Debug, Clone)]
pub(super) struct Replay {
    /// Nanoseconds, ascending.
    times: Arc<[u64]>,
    within: usize,
}

impl Replay {
    pub(super) fn new(times: &Arc<[u64]>, length_ns: u64) -> Self {
        Self {
            within: times.partition_point(|at| *at < length_ns),
            times: Arc::clone(times),
        }
    }

    /// How many there are.
    pub(super) fn total(&self) -> f64 {
        double(self.within as u64)
    }

    /// Seconds from the start to the arrival that so many come before.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count below the number of times"
    )]
    pub(super) fn at(&self, count: f64) -> f64 {
        double(self.times[count as usize]) * 1e-9
    }

    /// How many come in the first so many seconds.
    pub(super) fn count(&self, seconds: f64) -> f64 {
        let before = |at: &u64| double(*at) * 1e-9 < seconds;
        double(self.times[..self.within].partition_point(before) as u64)
    }

    /// The most that come in one second, from any of them on.
    pub(super) fn peak(&self) -> f64 {
        const SECOND: u64 = 1_000_000_000;
        let times = &self.times[..self.within];
        let mut next = 0;
        let mut most = 0;
        for (first, at) in times.iter().enumerate() {
            while next < times.len() && times[next] < at + SECOND {
                next += 1;
            }
            most = most.max(next - first);
        }
        double(most as u64)
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, SchedulePart, expected, peak};
    use crate::plan::Profile;
    use std::time::Duration;

    #[test]
    fn arrivals_come_when_the_times_say() {
        let times = [0, 1, 1, 999_999_999, 2_500_000_000, 3_000_000_000];
        let profile = Profile::Replay {
            times: times.into(),
        };
        let profile = [profile.lasting(Duration::from_secs(3))];
        let at: Vec<u64> = Arrivals::new(&profile, 0, Duration::from_secs(9), SchedulePart::All)
            .map(|arrival| arrival.at)
            .collect();
        assert_eq!(at, times[..5], "what lies beyond the length does not come");
        assert_eq!(expected(&profile, Duration::from_secs(1)), 4.0);
        assert_eq!(peak(&profile), 4.0);
    }
}
