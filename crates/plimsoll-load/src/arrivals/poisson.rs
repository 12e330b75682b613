//! A Poisson process: independent exponential gaps, stretched so that the rate is what a profile says.
//!
//! A process of rate 1 with its *i*-th event at *S* becomes one of any rate with its *i*-th arrival where the integral of that rate reaches
//! *S* (the time-rescaling theorem). The gap before arrival *i* is drawn under the key *i*; a shard draws all gaps, its own and the others',
//! since each arrival's time is their sum. That costs tens of nanoseconds an arrival.

use plimsoll_base::random::{Draw, Stream};

/// The *i*-th event of the process of rate 1 at the sum of its gaps so far.
#[derive(Debug, Clone)]
pub(super) struct Poisson {
    seed: u64,
    /// The next gap to draw.
    next: u64,
    sum: f64,
}

impl Poisson {
    /// A process whose first event is arrival `first`.
    pub(super) fn new(seed: u64, first: u64) -> Self {
        Self {
            seed,
            next: first,
            sum: 0.0,
        }
    }

    /// Where event `index` lies, unless that or an event before it lies at `total` or beyond. Indices must not descend.
    ///
    /// # Errors
    /// The index of the first that does.
    pub(super) fn at(&mut self, index: u64, total: f64) -> Result<f64, u64> {
        while self.next <= index {
            self.sum += Draw::new(self.seed, Stream::Arrivals, self.next).exponential();
            if self.sum >= total {
                return Err(self.next);
            }
            self.next += 1;
        }
        Ok(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, SchedulePart, expected};
    use crate::plan::{Profile, Spacing, Stretch};
    use std::time::Duration;

    fn times(seed: u64, profile: Profile, seconds: u64) -> Vec<u64> {
        let stretch = Stretch {
            spacing: Spacing::Poisson,
            ..profile.lasting(Duration::from_secs(seconds))
        };
        let total = Duration::from_secs(1_000);
        Arrivals::new(&[stretch], seed, total, SchedulePart::All)
            .map(|arrival| arrival.at)
            .collect()
    }

    #[test]
    fn the_seed_decides() {
        let profile = || Profile::Constant { rate: 100.0 };
        assert_eq!(times(1, profile(), 1), times(1, profile(), 1));
        assert_ne!(times(1, profile(), 1), times(2, profile(), 1));
    }

    /// The count over 100 s at 200/s has mean 20,000 and deviation √20,000; so has its variance over 10,000 windows of 10 ms,
    /// whose index of dispersion is 1 with deviation √(2 / 10,000).
    #[test]
    fn counts_have_the_mean_and_dispersion_of_a_poisson_process() {
        let times = times(7, Profile::Constant { rate: 200.0 }, 100);
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

    /// Of a changing rate too: in each tenth of the time as many as its integral says, within five deviations.
    #[test]
    fn the_rate_is_the_profiles() {
        let check = |profile: Profile| {
            let times = times(3, profile.clone(), 100);
            let stretch = [profile.lasting(Duration::from_secs(100))];
            let until = |tenth: u64| expected(&stretch, Duration::from_secs(10 * tenth));
            for tenth in 0..10 {
                let within = 10_000_000_000 * tenth..10_000_000_000 * (tenth + 1);
                let count = times.iter().filter(|at| within.contains(*at)).count() as f64;
                let mean = until(tenth + 1) - until(tenth);
                assert!(
                    (count - mean).abs() <= 5.0 * mean.sqrt() + 1.0,
                    "{stretch:?}: {count} {mean}"
                );
            }
        };
        check(Profile::Ramp {
            from: 0.0,
            to: 200.0,
        });
        check(Profile::StressPeak { arrivals: 20_000 });
        check(Profile::Staircase {
            from: 100.0,
            step: -10.0,
            every: Duration::from_secs(10),
        });
    }
}
