//! A number of arrivals that swells and ebbs: Gatling's `stressPeakUsers`, once called `heavisideUsers`.
//!
//! Their count follows a smooth approximation of Heaviside's step, *½ + ½·erf(kt)*, stretched over the duration. As in Gatling's
//! `HeavisideOpenInjection`, arrival *u* of *n*, counted from 1, lies where the curve is at *u / (n + 2)*; the first lies at the start, and one
//! more than the last would lie at the end.

use statrs::function::erf::{erf, erf_inv};

/// A peak of `arrivals` over `length` seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct StressPeak {
    /// How many, plus 2.
    scale: f64,
    length: f64,
    /// How far from its middle the curve begins and ends.
    reach: f64,
}

impl StressPeak {
    pub(super) fn new(arrivals: f64, length: f64) -> Self {
        let scale = arrivals + 2.0;
        Self {
            scale,
            length,
            reach: erf_inv(1.0 - 2.0 / scale),
        }
    }

    /// Seconds from the start to where the count reaches `count`.
    pub(super) fn at(self, count: f64) -> f64 {
        let height = (count + 1.0) / self.scale;
        let from_middle = erf_inv(2.0 * height - 1.0) / self.reach;
        (self.length / 2.0 * (1.0 + from_middle)).max(0.0)
    }

    /// How many arrivals, as a real number, come in the first so many seconds.
    pub(super) fn count(self, seconds: f64) -> f64 {
        let place = self.reach * (2.0 * seconds / self.length - 1.0);
        (self.scale / 2.0 * (1.0 + erf(place)) - 1.0).max(0.0)
    }

    /// The rate in the middle, the highest.
    pub(super) fn peak(self) -> f64 {
        self.scale * self.reach * std::f64::consts::FRAC_2_SQRT_PI / self.length
    }
}

#[cfg(test)]
mod tests {
    use super::StressPeak;
    use crate::arrivals::{Arrivals, SchedulePart};
    use crate::plan::Profile;
    use std::time::Duration;

    /// Gatling's formula for five arrivals in ten seconds: erfinv of ∓5/7, ∓3/7, ∓1/7, from a table of the error function.
    #[test]
    fn arrivals_lie_where_gatlings_do() {
        let length = Duration::from_secs(10);
        let profile = [Profile::StressPeak { arrivals: 5 }.lasting(length)];
        let at: Vec<f64> = Arrivals::new(&profile, 0, length, SchedulePart::All)
            .map(|arrival| arrival.at as f64 / 1e9)
            .collect();
        let erfinv = [-0.7548864, -0.4001862, -0.127288, 0.127288, 0.4001862];
        assert_eq!(at.len(), 5);
        let first = erfinv[0];
        for (at, erfinv) in at.iter().zip(erfinv) {
            let expected = 5.0 * (1.0 - erfinv / first);
            assert!((at - expected).abs() < 1e-5, "{at} {expected}");
        }
    }

    #[test]
    fn the_count_inverts_the_schedule_and_its_slope_is_the_rate() {
        for arrivals in [1.0, 2.0, 1_000.0, 1e7] {
            let peak = StressPeak::new(arrivals, 30.0);
            for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let count = share * arrivals;
                let back = peak.count(peak.at(count));
                assert!(
                    (back - count).abs() < 1e-6 * arrivals,
                    "{arrivals} {count}: {back}"
                );
            }
            let slope = (peak.count(15.001) - peak.count(14.999)) / 0.002;
            assert!(
                (slope / peak.peak() - 1.0).abs() < 1e-4,
                "{arrivals}: {slope}"
            );
        }
    }

    #[test]
    fn half_of_them_come_before_the_middle() {
        let length = Duration::from_secs(4);
        let profile = [Profile::StressPeak { arrivals: 10_000 }.lasting(length)];
        let all: Vec<_> = Arrivals::new(&profile, 0, length, SchedulePart::All).collect();
        assert_eq!(all.len(), 10_000);
        assert_eq!(all[0].at, 0);
        let half = all
            .iter()
            .filter(|arrival| arrival.at < 2_000_000_000)
            .count();
        assert_eq!(half, 5_000);
        assert!(all.iter().all(|arrival| arrival.at < 4_000_000_000));
    }
}
