//! Rows that several comparisons have: how sides of a kind are measured beside each other.

pub mod closed;
pub mod connections;
pub mod memory;
pub mod pair;
pub mod servers;
