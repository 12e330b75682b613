//! Times that a mock or a gateway of ours took of itself while it was part of a load: how many exchanges, and how long it had each of them.

use plimsoll_base::histogram::TimeHistogram;

/// Over the whole seconds of the measured time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnTimes {
    /// How many seconds.
    pub seconds: f64,
    /// From the request's head to its answer handed to the system: delays on purpose, and of a gateway its upstreams', included.
    pub times: TimeHistogram,
}

impl OwnTimes {
    /// Adds another block's.
    pub fn merge(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.times.merge(&other.times);
    }

    /// Exchanges per second; `None` without a second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub fn per_s(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.times.count() as f64 / self.seconds)
    }

    /// Exchanges that it had at the same time, on the mean: by Little's law, rate times mean time.
    #[must_use]
    pub fn concurrency(&self) -> Option<f64> {
        Some(self.per_s()? * self.times.mean()?)
    }
}
