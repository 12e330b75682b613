//! A rate that rises or falls linearly.

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
    /// Seconds from the start to where the count reaches `count`; the end, when it never does.
    pub(super) fn at(self, count: f64) -> f64 {
        let slope = (self.to - self.from) / self.length;
        let square = self.from * self.from + 2.0 * slope * count;
        // The root in the form that does not cancel: 2i / (a + √(a² + 2si)).
        let divisor = self.from + square.max(0.0).sqrt();
        if count <= 0.0 {
            0.0
        } else if square < 0.0 || divisor <= 0.0 {
            self.length
        } else {
            2.0 * count / divisor
        }
    }

    /// How many arrivals, as a real number, come in the first so many seconds.
    pub(super) fn count(self, seconds: f64) -> f64 {
        self.from * seconds + (self.to - self.from) * seconds * seconds / (2.0 * self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::Ramp;
    use crate::arrivals::{Arrivals, SchedulePart};
    use crate::plan::Profile;
    use std::time::Duration;

    /// The count is the integral of the rate, and within half the time it is that of half the ramp.
    #[test]
    fn counts_are_integrals_of_the_rate() {
        let check = |from: f64, to: f64, expected: usize, expected_half: usize| {
            let length = Duration::from_secs(10);
            let profile = [Profile::Ramp { from, to }.lasting(length)];
            let all: Vec<_> = Arrivals::new(&profile, 0, length, SchedulePart::All).collect();
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
        for count in [1.0, 1000.0, 1_000_000.0, 30_000_000.0] {
            let t = ramp.at(count);
            let rate = from + (to - from) * t / length;
            assert!(
                ((ramp.count(t) - count) / rate).abs() < 1e-9,
                "{count}: {t}"
            );
        }
    }
}
