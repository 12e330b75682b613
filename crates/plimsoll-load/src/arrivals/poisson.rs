//! A Poisson process: independent exponential gaps.
//!
//! The gap before arrival *i* is drawn under the key *i*; a shard draws all gaps, its own and the others', since each arrival's time
//! is their sum. That costs tens of nanoseconds an arrival.

use plimsoll_base::random::{Draw, Stream};

/// Arrival *i* at the sum of the first *i + 1* gaps.
#[derive(Debug, Clone)]
pub(super) struct Poisson {
    rate: f64,
    seed: u64,
    drawn: u64,
    sum: f64,
}

impl Poisson {
    /// A process of `rate` arrivals per second.
    pub(super) fn new(rate: f64, seed: u64) -> Self {
        Self {
            rate,
            seed,
            drawn: 0,
            sum: 0.0,
        }
    }

    /// Seconds from the start of the load to arrival `index`; indices must not descend.
    pub(super) fn at(&mut self, index: u64) -> f64 {
        while self.drawn <= index {
            self.sum += Draw::new(self.seed, Stream::Arrivals, self.drawn).exponential();
            self.drawn += 1;
        }
        self.sum / self.rate
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, Part};
    use crate::plan::Profile;
    use std::time::Duration;

    fn times(seed: u64, rate: f64, seconds: u64) -> Vec<u64> {
        Arrivals::new(
            Profile::Poisson { rate },
            seed,
            Duration::from_secs(seconds),
            Part::All,
        )
        .map(|arrival| arrival.at)
        .collect()
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(times(1, 100.0, 1), times(1, 100.0, 1));
        assert_ne!(times(1, 100.0, 1), times(2, 100.0, 1));
    }

    /// The count over 100 s at 200/s has mean 20,000 and deviation √20,000; so has its variance over 10,000 windows of 10 ms,
    /// whose index of dispersion is 1 with deviation √(2 / 10,000).
    #[test]
    fn counts_have_the_mean_and_dispersion_of_a_poisson_process() {
        let times = times(7, 200.0, 100);
        let n = times.len() as f64;
        assert!((n - 20_000.0).abs() < 5.0 * 20_000_f64.sqrt(), "{n}");
        let mut windows = vec![0.0_f64; 10_000];
        for at in &times {
            windows[usize::try_from(at / 10_000_000).unwrap()] += 1.0;
        }
        let mean = n / 10_000.0;
        let variance = windows.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 9_999.0;
        assert!(
            (variance / mean - 1.0).abs() < 5.0 * (2.0_f64 / 10_000.0).sqrt(),
            "{}",
            variance / mean
        );
    }
}
