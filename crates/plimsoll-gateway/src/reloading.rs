//! Reloading: what one reading of the configuration makes, and how the next takes its place.

pub(crate) mod controls;
pub(crate) mod generation;
pub(crate) mod preparation;
pub(crate) mod reload;
