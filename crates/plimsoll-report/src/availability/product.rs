//! Time out of service in a year as a product of point figures: `Σ outage · servers · impact · rate`.
//!
//! It knows no failed failover and no interval, and is printed beside figures that do.

use crate::statistics::trials_to_rule_out;

/// A year of 365 days, in seconds.
pub const YEAR_S: f64 = 31_536_000.0;

/// One kind of fault by point figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointFault {
    /// Seconds without answers after one.
    pub outage_s: f64,
    /// Machines that may have it.
    pub servers: f64,
    /// The share of requests that it hits.
    pub impact: f64,
    /// How often one machine has it in a year.
    pub per_year: f64,
}

impl PointFault {
    /// How often in a year all requests are hit, or as many parts of them as make a whole.
    #[must_use]
    pub fn hits(&self) -> f64 {
        self.servers * self.impact * self.per_year
    }

    /// Seconds a year.
    #[must_use]
    pub fn downtime_s(&self) -> f64 {
        self.outage_s * self.hits()
    }
}

/// The share of a year in service.
#[must_use]
pub fn in_service(lost_s: f64) -> f64 {
    1.0 - lost_s / YEAR_S
}

/// The share of failovers that may fail, and how many trials without a failed one rule out more (95 %): where `room_s` of a year are left, and
/// `priced_s` would be lost if all of them failed. `None` where nothing is left, or all may fail.
#[must_use]
pub fn failures_afforded(room_s: f64, priced_s: f64) -> Option<(f64, f64)> {
    let share = room_s / priced_s;
    Some((share, trials_to_rule_out(share)?))
}
