//! Availability: what the trials of a fault say of its outages, and these of a year.
//!
//! ```text
//! exchanges of one trial --read_trial--> TrialSummary --┐
//!                                                       ├--summarise--> AvailabilitySummary
//! FaultTrial, its moments ------------------------------┘
//! ```
//!
//! Trials are carried out by the lab, which also asks [`recovered`] whether one can end.

mod answers;
mod bursts;
mod read;
mod recovery;
mod slice;
mod summarise;
#[cfg(test)]
mod tests;

pub use read::read_trial;
pub use recovery::{baseline_p99, recovered};
pub use summarise::summarise;
