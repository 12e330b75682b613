//! A rate that rises or falls linearly over the whole load.

use super::double;

/// With the rate *a + (b − a)·t/T*, arrival *i* lies where its integral *a·t + (b − a)·t²/(2T)* reaches *i*.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramp {
    /// Arrivals per second at the start.
    pub(super) from: f64,
    /// Arrivals per second at the end.
    pub(super) to: f64,
    /// Seconds from start to end.
    pub(super) length: f64,
}

impl Ramp {
    /// Seconds from the start of the load to arrival `index`; `None` when the integral never gets there.
    pub(super) fn at(self, index: u64) -> Option<f64> {
        let count = double(index);
        let slope = (self.to - self.from) / self.length;
        let square = self.from * self.from + 2.0 * slope * count;
        // The root in the form that does not cancel: 2i / (a + √(a² + 2si)).
        let divisor = self.from + square.max(0.0).sqrt();
        if square < 0.0 {
            None
        } else if index == 0 {
            Some(0.0)
        } else {
            (divisor > 0.0).then(|| 2.0 * count / divisor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ramp;
    use crate::arrivals::{Arrivals, Part};
    use crate::plan::Profile;
    use std::time::Duration;

    /// The count is the integral of the rate, and within half the time it is that of half the ramp.
    #[test]
    fn counts_are_integrals_of_the_rate() {
        let check = |from: f64, to: f64, expected: usize, expected_half: usize| {
            let all: Vec<_> = Arrivals::new(
                Profile::Ramp { from, to },
                0,
                Duration::from_secs(10),
                Part::All,
            )
            .collect();
            let half = all.iter().filter(|a| a.at < 5_000_000_000).count();
            assert_eq!((all.len(), half), (expected, expected_half), "{from} {to}");
        };
        check(0.0, 100.0, 500, 125);
        check(100.0, 0.0, 500, 375);
        check(100.0, 300.0, 2000, 750);
        check(50.0, 50.0, 500, 250);
    }

    #[test]
    fn inverts_the_integral_to_a_nanosecond() {
        let (from, to, length) = (10.0, 20_000.0, 3600.0);
        let ramp = Ramp { from, to, length };
        for index in [1, 1000, 1_000_000, 30_000_000] {
            let t = ramp.at(index).unwrap();
            let integral = from * t + (to - from) * t * t / (2.0 * length);
            let rate = from + (to - from) * t / length;
            assert!(
                ((integral - index as f64) / rate).abs() < 1e-9,
                "{index}: {t}"
            );
        }
    }
}
