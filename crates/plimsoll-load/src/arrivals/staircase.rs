//! Levels of constant rate, one after another.

use super::double;
use std::time::Duration;

/// Within level *k* arrivals are *1 / (from + k·step)* apart; a level begins where the integral of the rate says.
#[derive(Debug, Clone)]
pub(super) struct Staircase {
    from: f64,
    step: f64,
    every: f64,
    length: f64,
    level: u32,
}

impl Staircase {
    /// Levels of `every`, over `length` seconds.
    pub(super) fn new(from: f64, step: f64, every: Duration, length: f64) -> Self {
        Self {
            from,
            step,
            every: every.as_secs_f64(),
            length,
            level: 0,
        }
    }

    /// Seconds from the start of the load to arrival `index`, or `None` when it lies beyond the end; indices must not descend.
    pub(super) fn at(&mut self, index: u64) -> Option<f64> {
        let count = double(index);
        while count >= self.before(self.level + 1) {
            self.level += 1;
            if f64::from(self.level) * self.every >= self.length {
                return None;
            }
        }
        let level = f64::from(self.level);
        let rate = self.from + level * self.step;
        Some(level * self.every + (count - self.before(self.level)) / rate)
    }

    /// How many arrivals, as a real number, come before `level`.
    fn before(&self, level: u32) -> f64 {
        let level = f64::from(level);
        self.every * level * (self.from + self.step * (level - 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, Part};
    use crate::plan::Profile;
    use std::time::Duration;

    #[test]
    fn every_level_holds_its_rate() {
        let check = |from: f64, step: f64, expected: &[usize]| {
            let every = Duration::from_secs(1);
            let total = Duration::from_secs(expected.len() as u64);
            let mut counts = vec![0; expected.len()];
            for arrival in Arrivals::new(
                Profile::Staircase { from, step, every },
                0,
                total,
                Part::All,
            ) {
                counts[usize::try_from(arrival.at / 1_000_000_000).unwrap()] += 1;
            }
            assert_eq!(counts, expected, "{from} {step}");
        };
        check(10.0, 20.0, &[10, 30, 50, 70]);
        check(0.0, 5.0, &[0, 5, 10]);
        check(20.0, -10.0, &[20, 10, 0]);
        check(7.0, 0.0, &[7, 7]);
    }
}
