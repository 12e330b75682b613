//! Evenly spaced arrivals.

/// Arrival *i* at *i / rate*.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constant {
    /// Arrivals per second.
    pub(super) rate: f64,
}

impl Constant {
    /// Seconds from the start to where the count reaches `count`.
    pub(super) fn at(self, count: f64) -> f64 {
        count / self.rate
    }

    /// How many arrivals, as a real number, come in the first so many seconds.
    pub(super) fn count(self, seconds: f64) -> f64 {
        self.rate * seconds
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, SchedulePart};
    use crate::plan::Profile;
    use std::time::Duration;

    #[test]
    fn every_second_holds_the_rate() {
        let length = Duration::from_secs(2);
        let profile = [Profile::Constant { rate: 3.0 }.lasting(length)];
        let at: Vec<u64> = Arrivals::new(&profile, 0, length, SchedulePart::All)
            .map(|arrival| arrival.at)
            .collect();
        assert_eq!(
            at,
            [
                0,
                333_333_333,
                666_666_667,
                1_000_000_000,
                1_333_333_333,
                1_666_666_667
            ]
        );
    }

    #[test]
    fn exact_after_days() {
        let constant = super::Constant { rate: 1_000_000.0 };
        assert_eq!(constant.at(300_000_000_001.0), 300_000.000_001);
    }
}
