//! Evenly spaced arrivals.

use super::double;

/// Arrival *i* at *i / rate*.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constant {
    /// Arrivals per second.
    pub(super) rate: f64,
}

impl Constant {
    /// Seconds from the start of the load to arrival `index`.
    pub(super) fn at(self, index: u64) -> f64 {
        double(index) / self.rate
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, Part};
    use crate::plan::Profile;
    use std::time::Duration;

    #[test]
    fn every_second_holds_the_rate() {
        let at: Vec<u64> = Arrivals::new(
            Profile::Constant { rate: 3.0 },
            0,
            Duration::from_secs(2),
            Part::All,
        )
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
        assert_eq!(constant.at(300_000_000_001), 300_000.000_001);
    }
}
