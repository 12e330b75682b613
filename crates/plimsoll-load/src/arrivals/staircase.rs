//! Levels of constant rate, one after another.

use std::time::Duration;

/// Within level *k* arrivals are *1 / (from + k·step)* apart; a level begins where the integral of the rate says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Staircase {
    from: f64,
    step: f64,
    every: f64,
    /// The level of the count that was asked for last.
    level: f64,
}

impl Staircase {
    /// Levels of `every`.
    pub(super) fn new(from: f64, step: f64, every: Duration) -> Self {
        Self {
            from,
            step,
            every: every.as_secs_f64(),
            level: 0.0,
        }
    }

    /// Seconds from the start to where the count reaches `count`, which must lie before the end; counts must not descend.
    pub(super) fn at(&mut self, count: f64) -> f64 {
        // A level without arrivals is passed like any other; the last one has some, or there would be no such count.
        while count >= self.before(self.level + 1.0) {
            self.level += 1.0;
        }
        let rate = self.from + self.level * self.step;
        self.level * self.every + (count - self.before(self.level)) / rate
    }

    /// How many arrivals, as a real number, come in the first so many seconds.
    pub(super) fn count(self, seconds: f64) -> f64 {
        let level = (seconds / self.every).floor();
        let rate = (self.from + level * self.step).max(0.0);
        self.before(level) + rate * (seconds - level * self.every)
    }

    /// The highest rate within so many seconds.
    pub(super) fn peak(self, seconds: f64) -> f64 {
        // A level that would begin at the very end does not.
        let levels = (seconds / self.every).ceil();
        self.from
            .max(self.from + self.step * (levels - 1.0).max(0.0))
    }

    /// How many arrivals, as a real number, come before `level`.
    fn before(self, level: f64) -> f64 {
        self.every * level * (self.from + self.step * (level - 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, SchedulePart, peak};
    use crate::plan::Profile;
    use std::time::Duration;

    #[test]
    fn every_level_holds_its_rate() {
        let check = |from: f64, step: f64, expected: &[usize]| {
            let every = Duration::from_secs(1);
            let total = Duration::from_secs(expected.len() as u64);
            let mut counts = vec![0; expected.len()];
            let profile = [Profile::Staircase { from, step, every }.lasting(total)];
            for arrival in Arrivals::new(&profile, 0, total, SchedulePart::All) {
                counts[usize::try_from(arrival.at / 1_000_000_000).unwrap()] += 1;
            }
            assert_eq!(counts, expected, "{from} {step}");
        };
        check(10.0, 20.0, &[10, 30, 50, 70]);
        check(0.0, 5.0, &[0, 5, 10]);
        check(20.0, -10.0, &[20, 10, 0]);
        check(7.0, 0.0, &[7, 7]);
    }

    #[test]
    fn no_level_begins_at_the_very_end() {
        let check = |step: f64, seconds: u64, expected: f64| {
            let every = Duration::from_secs(2);
            let from = 10.0;
            let profile = Profile::Staircase { from, step, every };
            let stretch = profile.lasting(Duration::from_secs(seconds));
            assert_eq!(peak(&[stretch]), expected, "{step} {seconds}");
        };
        check(5.0, 4, 15.0);
        check(5.0, 5, 20.0);
        check(-5.0, 4, 10.0);
    }
}
