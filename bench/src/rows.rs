//! Rows that several comparisons have: how sides of a kind are measured beside each other.

pub mod closed;
pub mod memory;
pub mod servers;
