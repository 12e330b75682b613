//! Figures: statistics over rounds in which sides take turns, and the rows of the table that they become.

pub mod findings;
pub mod rounds;
pub mod row;
pub mod statistics;
pub mod thousands;
