//! The search for capacity: which trial comes next, what each says, and what all of them say together. Pure: the lab carries trials out.
//!
//! ```text
//! load of one trial --judge--> good, bad, straddling, void --classify--> lower, upper or undecided, by rate
//!        ▲                                                                         │
//!        └──────────────────────────── search: the next trial ◄────────────────────┘
//! ```
//!
//! [`search::next`] is a function of the trials so far, so a search goes on from any record of its trials.

pub mod affords;
pub mod classify;
pub mod conclude;
pub mod intervene;
pub mod judge;
pub mod knee;
pub mod scalability;
pub mod search;
#[cfg(test)]
mod simulated;

pub use affords::{Affords, affords};
pub use conclude::{Search, bound_by_plan, conclude};
pub use judge::{Decide, judge};
pub use search::{Next, Planned, Settings, Taken, next};
