//! Availability: what the trials of a fault say of its outages, and these of a year.
//!
//! ```text
//! exchanges of one trial --read_trial--> TrialSummary --┐
//!                                                       ├--summarise--> AvailabilitySummary
//! FaultTrial, its moments ------------------------------┘
//! ```
//!
//! Trials are carried out by the lab, which also asks [`has_recovered`] whether one can end.

mod annual;
mod answers;
mod bursts;
mod chance;
mod draws;
mod figures;
mod needed;
mod outages;
mod product;
mod read;
mod recovery;
pub mod simulated;
mod slice;
mod summarise;
#[cfg(test)]
mod tests;
mod tornado;
mod year;

pub use annual::{annual, two_digits};
pub use figures::Impact;
pub use product::{PointFault, YEAR_S, failures_afforded, in_service};
pub use read::read_trial;
pub use recovery::{Moments, has_recovered};
pub use summarise::summarise;
pub use year::FaultInputs;
