//! The crate as its users see it: from arm data to a summary, and from a view to every output.

#![expect(clippy::unwrap_used, reason = "tests")]

mod across;
mod contract;
mod fixture;
mod junit;
mod pages;
mod same_against_same;
mod verdicts;
