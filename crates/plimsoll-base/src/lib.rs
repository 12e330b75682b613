//! Types that every Plimsoll crate shares: units, seeded randomness, histograms, outcomes and their reasons, counters, digests, memory to spare,
//! located documents and what a terminal may be shown.
//!
//! Pure by rule: nothing here does I/O, reads a clock or holds a lock. What a type means for one part of the
//! program (a plan, a stub, a route) is left to that part's crate.

pub mod counters;
pub mod digest;
pub mod document;
pub mod histogram;
pub mod ignored;
pub mod interval_log;
pub mod log;
pub mod outcome;
pub mod outcome_class;
pub mod random;
pub mod reason;
pub mod single_exchange;
pub mod spare;
pub mod tally;
pub mod time_kind;
pub mod units;
pub mod visible;
pub mod words;
